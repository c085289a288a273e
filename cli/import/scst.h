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
	const char *name, *path; // path: in the tree
	struct import_place at;
	struct json_object *disk; // NULL: omitted
	bool has_file, has_size;
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

// A line of a block; false: no counterpart, reported with why.
typedef bool scst_take(struct scst *s, char *value);
struct scst_row {
	const char *name;
	scst_take *take; // NULL: never
	const char *why; // NULL: ignored, since it is the default here
};

// import_scst_device.c
void scst_device_open(struct scst *s, char *name);
void scst_device_close(struct scst *s);
extern const struct scst_row scst_device_rows[];

// import_scst_target.c
int scst_target_open(struct scst *s, char *name, struct err *e);
void scst_target_close(struct scst *s);
void scst_target_done(struct scst *s); // frees open objects
void scst_group_open(struct scst *s, char *name);
void scst_lun_add(struct scst *s, char *value);
extern const struct scst_row scst_target_rows[], scst_group_rows[], scst_lun_rows[];
