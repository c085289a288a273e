// SPDX-License-Identifier: BSD-2-Clause
// A targets.conf of tgt [targets.conf(5), tgt-admin(8) 1.0.85] as it is read: one target at a time,
// since what stands anywhere in it holds for all of its disks. Private to import_tgt*.c.
#pragma once

#include "target/config/import.h"

// Settings of disks, which may stand in their target too.
enum tgt_setting {
	TGT_BS_TYPE, // decides what the disk becomes
	TGT_DEVICE_TYPE,
	TGT_LUN,
	TGT_READONLY,
	TGT_WRITE_CACHE,
	TGT_BSOFLAGS,
	TGT_BLOCK_SIZE,
	TGT_VENDOR,
	TGT_PRODUCT,
	TGT_REVISION,
	TGT_SERIAL,
	TGT_ID,
	TGT_REMOVABLE,
	TGT_ONLINE,
	TGT_IN_USE,
	TGT_BSOPTS,
	TGT_SENSE_FORMAT,
	TGT_PATH,
	TGT_MODE_PAGE,
	TGT_PARAMS,
	TGT_LBPPBE,
	TGT_LA_LBA,
	TGT_XFER_GRAN,
	TGT_XFER_LEN,
	TGT_SETTINGS,
};

struct tgt_value {
	const char *text; // NULL: not given
	struct import_place at;
};

struct tgt_disk {
	const char *path;
	struct import_place at;
	bool is_direct;
	int lun; // -1: the next that is free
	struct tgt_value set[TGT_SETTINGS];
};

enum { TGT_ADDRESSES_SIZE = 500 };

struct tgt_target {
	char name[224];
	struct import_place at;
	struct json_object *tpg;
	struct tgt_disk *disks;
	size_t disk_count, disk_room;
	struct tgt_value set[TGT_SETTINGS];
	struct import_users users;
	struct json_object *initiators;	    // names
	char addresses[TGT_ADDRESSES_SIZE]; // with commas
	bool has_address_rule, has_name_rule, has_driver, is_iser;
};

// The setting of that name; TGT_SETTINGS: there is none.
enum tgt_setting tgt_setting_find(const char *name);
// The target's disks, with its LUNs, into the document. Sorts t->disks.
void tgt_put_disks(struct import *im, struct tgt_target *t);
