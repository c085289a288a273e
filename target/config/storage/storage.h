// SPDX-License-Identifier: BSD-2-Clause
// Storage objects: /backstores/TYPE/NAME. Private to target/config; control thread.
#pragma once

#include "backstores/backstore.h"
#include "target/config/file/saved.h"
#include "target/scsi/alua/alua.h"
#include "target/scsi/lu_attr.h"

enum { STORAGE_OPTIONS_MAX = 12 };

// /backstores/TYPE
struct storage_type {
	struct node node;
	const struct backstore_type *type;
	char class_name[40];
	const struct node_class *objects;		  // the class of its children
	struct node_class class;			  // built from the type's option rows
	struct command_row commands[3];			  // create, delete
	struct param_row params[STORAGE_OPTIONS_MAX + 4]; // name, options, wwn, inspect, the end
	struct attr_row options[STORAGE_OPTIONS_MAX + 1]; // in the saved file
};

// /backstores/TYPE/NAME
struct storage {
	struct node node;
	struct node alua; // its children are struct alua_node; none with a pass-through type
	const struct backstore_type *type; // NULL: a plugin that does not exist here
	char *option[STORAGE_OPTIONS_MAX]; // text per row of type->options, NULL default
	char wwn[40];			   // unit serial
	struct lu_attr attr;
	struct lu *lu;	   // NULL: waiting
	struct lu *absent; // stands in for it while it waits; NULL: for no memory, or pass-through
	char reason[240];  // why it is waiting
	struct config *config;
	struct list waiting_link; // in config_storage.waiting while there is no lu
	struct list luns;	  // struct lun, storage_link
	unsigned lun_count;
	bool accepts_data; // when it is created: of its device
	bool is_busy;	   // in use elsewhere: waits until it is free
	bool is_reset;	   // since it was opened: initiators learn of it at the next open
	uint64_t disk;	   // of lu_set_disk(), when it was last opened
	uint64_t reset_to; // the number that the file of the last reset would have; it keeps disk
	enum bs_path path; // what look.c saw last
};

struct alua_node {
	struct node node;
	struct alua_attr attr; // as configured, without changes by initiators
	unsigned transitions;  // requested, not yet in force
};

struct lun {
	struct node node; // "lunN"
	uint32_t number;
	char alias[11];
	char group[ALUA_NAME_MAX]; // ALUA group of the path
	uint16_t relative_port;	   // as set at the logical unit; 0: not yet
	struct {
		const struct lu *lu; // NULL: none yet
		uint16_t port, group;
	} told;			 // the relative port of its path, and the port's ALUA group
	struct storage *storage; // NULL: broken, kept has the path
	uint32_t write_protect;	 // of all initiators
	struct list storage_link;
	struct list mapped; // struct mapped_lun, lun_link
};

enum { OWN_FILES = 11 }; // rows of own_files.c

struct file_id {
	dev_t dev;
	ino_t ino;
	bool is_there;
};

// Storage objects.
struct config_storage {
	struct config *config;
	struct storage_type *types;
	unsigned type_count;
	struct map paths;    // ("dev", path) -> struct storage, for block and fileio
	struct list waiting; // struct storage
	struct {
		bool are_known;
		struct file_id file[OWN_FILES], folder[OWN_FILES];
	} own; // the daemon's own files
	struct timer retry;
	uint64_t retry_usec; // its current delay
	struct timer look;   // look.c
	unsigned resizes;    // since the start
	unsigned closing;
	void (*quiet)(void *arg);
	void *quiet_arg;
};

extern const struct node_class backstores_class, storage_class, alua_class, alua_group_class;
extern const struct group_row storage_groups[];

int storage_types_new(struct config *c, struct err *e);
void storage_types_free(struct config *c);

// Every storage object of a supported type.
#define storage_each(s, c)                                                                         \
	for (unsigned s##_type = 0; s##_type < (c)->storage->type_count; s##_type++)               \
		list_each (struct storage, s, &(c)->storage->types[s##_type].node.children,        \
			   node.link)

// Of commands that create a storage object for a device.
#define PARAM_INSPECT                                                                              \
	{                                                                                          \
		"inspect", PARAM_BOOL, false, "true",                                              \
			"false: accept a device with a filesystem, partition table or signature",  \
			NULL                                                                       \
	}

// ---- object.c ----
struct storage_type *storage_type_of(struct config *c, const char *name);
int storage_new(struct config *c, struct storage **ret, const struct backstore_type *type,
		const char *name, struct err *e);
struct storage *storage_find(struct config *c, const char *path); // /backstores/T/N, T/N
// The first storage object on a file or device; NULL: none, or dev is NULL.
struct storage *storage_at(const struct config *c, const char *dev);
// Whether the user's text refers to this storage object: its name or path. NULL: any.
bool storage_is_meant(const char *wanted, const char *plugin, const char *name);

// ---- storage.c: the life of a storage object ----
// Retries all waiting objects now, portals among them.
void retry_waiting(struct config *c);
// Opens it; is_new: a new object, so the file may be created. On failure it waits with the reason,
// and the code is returned with the text.
int storage_open(struct storage *s, bool is_new, struct err *e);
// Adds it to those that are retried.
void storage_wait(struct storage *s, const struct err *why);
// Releases the logical unit; it closes when the last session has released it too.
void storage_release(struct storage *s);
// Reopens it at the commit. -ENOMEM.
int storage_restart(struct config *c, struct node *n);
// Reopens it soon, with the reason for waiting until then; a waiting one is retried.
void storage_reopen(struct storage *s, const char *why);
// -EINVAL with text: a file of it is, or would become, one of the daemon's own.
int storage_refuse_own_files(struct storage *s, struct err *e);
void storage_free(struct config *c, struct node *n);
// Options by name. get returns NULL if it is not set.
int storage_set_option(struct storage *s, const char *name, const char *text, struct err *e);
const char *storage_get_option(const struct storage *s, const char *name);
uint64_t storage_size(const struct storage *s);
// What initiators see of it: its logical unit, or what stands in for it; NULL: nothing.
static inline struct lu *storage_unit(const struct storage *s)
{
	return s->lu ? s->lu : s->absent;
}
// Whether closing it loses data: a RAM disk that was written. lost_data.c; examines its memory.
bool storage_loses_data(const struct storage *s);
void storage_look_init(struct config *c); // starts to check open storage every ten seconds
// Busy files are retried soonest: a file held by a killed predecessor is free as soon as the kernel
// has cleaned up.
enum { STORAGE_BUSY_USEC = 20000, STORAGE_RETRY_USEC = 1000000 };

// ---- saved.c ----
extern const struct saved_class storage_saved;
void storage_saved_options(struct storage_type *st); // fills its rows

// ---- size.c ----
int storage_check_size(struct config *c, struct json_object *o, const struct restore_options *how,
		       struct json_object *notes, struct err *e);
// Gives the new object the size of the disk in use on its file or device: leaving, which this
// restore removes, or one in the tree. It is opened at the commit, after the save.
void restore_true_size(struct restore *r, struct storage *s, const struct storage *leaving);

// ---- reset.c ----
command_fn storage_reset;

// ---- own_files.c ----
// -EINVAL with text: dev is, or would become, one of the daemon's own files, under any name.
// Usually two system calls; blocks on the file system.
int own_files_refuse(struct config *c, const char *dev, struct err *e);
// The files may have changed: call before opening disks.
void own_files_forget(struct config *c);

// ---- attr.c ----
const char *storage_no_effect(const struct node *n, const struct attr_row *row);

// ---- alua.c ----
int alua_new(struct config *c, struct alua_node **ret, struct storage *s, const char *name,
	     uint32_t id, struct err *e);
int alua_check_name(const struct storage *s, const char *name, uint32_t id, struct err *e);
void alua_push(struct storage *s); // every group, to the logical unit that just opened
