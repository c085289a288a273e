// SPDX-License-Identifier: BSD-2-Clause
// State of reading a targets.conf of tgt [targets.conf(5), tgt-admin(8) 1.0.85]: one target at a
// time, since a setting anywhere in it applies to all of its disks. Private to tgt*.c.
#pragma once

#include "cli/import/import.h"

// Settings of disks, which may also be in their target: the rows of tgt_disks.c, of which these are
// used by name.
enum tgt_setting {
	TGT_BS_TYPE, // determines the type of the disk
	TGT_DEVICE_TYPE,
	TGT_LUN,
	TGT_READONLY,
	TGT_WRITE_CACHE,
	TGT_SETTINGS = 24,
};

struct tgt_value {
	const char *text; // NULL: not given
	struct import_place at;
};

struct tgt_disk {
	const char *path;
	struct import_place at;
	bool is_direct;
	int lun; // -1: the next free number
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

// The index of the setting with this name; TGT_SETTINGS: none.
unsigned tgt_setting_find(const char *name);
// Adds the target's disks and LUNs to the document. Sorts t->disks.
void tgt_put_disks(struct import *im, struct tgt_target *t);
