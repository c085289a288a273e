// SPDX-License-Identifier: BSD-2-Clause
// State of reading an scst.conf of SCST [scst.conf(5), scstadmin 3.x]. Private to import_scst*.c.
#pragma once

#include "cli/import/import.h"

enum scst_block {
	SCST_TOP,
	SCST_HANDLER,
	SCST_DEVICE,
	SCST_DRIVER,
	SCST_TARGET,
	SCST_GROUP,
	SCST_LUN,
	SCST_OTHER, // ignored; reported as a whole
	SCST_BLOCKS,
};

enum { SCST_DEPTH_MAX = 16 };

struct scst_device {
	const char *name;
	struct import_place at;
	struct import_disk disk; // without an object: omitted
};

// The LUNs of an initiator or group are an object: number -> {path, write_protect}.
struct scst_target {
	char name[224];
	struct import_place at;
	struct json_object *tpg;
	struct json_object *by_path; // disk -> its LUN object
	struct json_object *numbers; // in use
	int next_free;
	struct json_object *common;   // LUNs outside of groups
	struct json_object *groups;   // array of {name, luns, initiators}
	struct json_object *everyone; // the one for initiators *
	struct json_object *acls;     // initiator -> its group
	struct json_object *portals;  // addresses
	struct import_users users;
	bool has_portal_rule, has_any_portal, has_enabled, is_enabled;
};

struct scst {
	struct import *im;
	enum scst_block stack[SCST_DEPTH_MAX];
	unsigned depth;
	struct import_place opened[SCST_DEPTH_MAX];
	const char *plugin; // of the open HANDLER; NULL: its devices are not supported
	const char *handler;
	const char *fabric; // of the open TARGET_DRIVER
	struct scst_device device;
	struct scst_target target;
	struct json_object *group; // of target.groups, with an open block
	struct json_object *seen;  // the LUN with an open block, as in common; NULL: omitted
	struct import_users discovery;
};

// A line of a block.
struct scst_row {
	const char *name;
	// False: no counterpart; NULL: never.
	bool (*take)(struct scst *s, const struct scst_row *row, char *value);
	const char *why; // the note then; NULL: ignored, since it is the default here
	const char *arg; // for take
};

// These open a block and return its kind, or a negative code with text.
typedef int scst_open(struct scst *s, char *name, struct err *e);

// scst_device.c
scst_open scst_device_open;
void scst_device_close(struct scst *s);
extern const struct import_disk_row scst_device_rows[];

// scst_target.c
scst_open scst_target_open, scst_group_open, scst_lun_open;
void scst_target_close(struct scst *s);
void scst_target_done(struct scst *s);					 // frees open objects
bool scst_user(struct scst *s, const struct scst_row *row, char *value); // arg: its direction
extern const struct scst_row scst_target_rows[], scst_group_rows[], scst_lun_rows[];
