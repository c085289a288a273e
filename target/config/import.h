// SPDX-License-Identifier: BSD-2-Clause
// Configuration files of other targets as documents of the saved file's shape. Only reading: what a
// document does to the tree is restore.c's. What has no counterpart is a note, never passed over in
// silence. Private to target/config; no globals, any thread; blocks where files are included.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

enum {
	IMPORT_SIZE_MAX = 4 << 20, // bytes of all files together
	IMPORT_FILES_MAX = 256,
	IMPORT_NOTES_MAX = 1000,
	IMPORT_LUN_MAX = 16383,
	IMPORT_MAPPED_MAX = 200000, // of all ACLs together
};

// Where something stands. file lives as long as the import.
struct import_place {
	const char *file;
	unsigned line;
};

// Freed when the import ends, and wiped: a text has passwords in it, and NULs where it was cut.
struct import_kept {
	char *text;
	size_t len;
};

struct import {
	struct json_object *doc;
	struct json_object *storage, *targets, *own; // of doc; own: our section's objects, by path
	struct json_object *notes;		     // array of strings
	struct json_object *disks;		     // what the file calls a disk -> its path here
	struct json_object *names;		     // taken, with the number tried last
	struct json_object *iqns;		     // of the targets so far
	struct json_object *told;		     // the notes, to tell each once
	struct import_place at;
	void *reader; // the kind's own
	bool may_include;
	bool is_malformed;	  // the line at `at` is no UTF-8
	size_t size;		  // bytes read so far
	unsigned files;		  // read so far
	unsigned nested;	  // includes that are open
	unsigned mapped;	  // LUNs of ACLs
	struct import_kept *kept; // texts that were included, and their names
	unsigned kept_count;
};

struct import_kind {
	const char *name, *help;
	// Adds what text says to im. text is taken apart, and lives until the import is done.
	int (*read)(struct import *im, char *text, struct err *e);
};
extern const struct import_kind import_kind_tgt, import_kind_scst;
extern const struct import_kind *const import_kinds[]; // ends with NULL
// NULL: no such kind.
const struct import_kind *import_kind_find(const char *name);

// Makes a document of the text of one file; len bytes and a NUL. Notes, one a line of the file, are
// added to notes (an array). may_include: other files that it names are read. NULL with -EINVAL and
// "FILE:LINE: ..." in e: not of this kind. For json_object_put(). text is destroyed.
struct json_object *import_text(const struct import_kind *kind, const char *file, char *text,
				size_t len, bool may_include, struct json_object *notes,
				struct err *e);

// ---- for the readers: import_words.c ----
// The next line that says something, without its comment, from *rest; NULL at the end. A \ at its
// end joins the next one. Sets im->at.
char *import_line(struct import *im, char **rest);
// Cuts "name value" or "name = value" after the name; the value without blanks around it and
// without its double quotes, "" when there is none.
char *import_value(char *line);
// The next word of *rest, NULL at the end.
char *import_word(char **rest);
// A decimal number in 0..max; -1: it is none.
int import_number(const char *text, int max);
void import_note(struct import *im, struct import_place at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// -EINVAL with the place in front.
int import_fail(struct err *e, struct import_place at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// Reads the files that pattern names (a path, a folder, *): each by read, with text as above.
int import_include(struct import *im, const char *pattern,
		   int (*read)(struct import *im, char *text, struct err *e), struct err *e);

// ---- the document: import_doc.c. Objects belong to it ----
// A disk for what the file calls key; its name here is made of wanted. dev: NULL: it has none.
struct json_object *import_disk(struct import *im, const char *key, const char *wanted,
				const char *plugin, const char *dev);
// "/backstores/PLUGIN/NAME" of the disk that the file calls key, or NULL.
const char *import_disk_path(struct import *im, const char *key);
// The portal group of a new target, whose name goes to out as it is written here. -EINVAL: it is no
// name, or that of another target.
int import_target(struct import *im, const char *fabric, const char *wwn, char out[224],
		  struct json_object **ret, struct err *e);
struct json_object *import_lun(struct json_object *tpg, int number, const char *path,
			       bool is_readonly);
void import_portal(struct json_object *tpg, const char *host, bool is_iser);
// An initiator's name as it is written here; false: it is none, which is a note.
bool import_initiator(struct import *im, const char *fabric, const char *name, char out[224]);
struct json_object *import_acl(struct json_object *tpg, const char *initiator);
// False: more are mapped than an import may have, and it fails.
bool import_map(struct import *im, struct json_object *acl, int number, int lun, bool is_readonly);
void import_text_field(struct json_object *o, const char *key, const char *text);
void import_bool_field(struct json_object *o, const char *key, bool is_true);
void import_attribute(struct json_object *o, const char *name, int value);
void import_parameter(struct json_object *tpg, const char *name, const char *value);
// A setting that only farblock has: of the object at path, in a group ("attribute", "options").
void import_own(struct import *im, const char *path, const char *group, const char *name,
		const char *text);

// One account and the one for the other direction, as files have them: the first of each counts.
struct import_users {
	const char *name[2], *password[2]; // 0: the initiator's, 1: the target's; NULL: none
};
enum import_direction { IMPORT_INCOMING, IMPORT_OUTGOING };
// "name password"; what is wrong with it is a note.
void import_user(struct import *im, struct import_users *u, enum import_direction d, char *value);
// PREFIX_userid, PREFIX_password and so on of o.
void import_put_users(struct json_object *o, const char *prefix, const struct import_users *u);
// Discovery's accounts, unless there are none.
void import_discovery(struct import *im, const struct import_users *u);
// INQUIRY texts of the disk at path: "vendor", "product", "revision". False: longer than they can
// be.
bool import_inquiry(struct import *im, const char *path, const char *name, const char *text);
// A block length of the disk o; false: not one of those that can be.
bool import_block_size(struct json_object *o, const char *text);
// A unit serial number; false: only UUIDs can be had.
bool import_serial(struct json_object *o, const char *text);
// Whether a volatile write cache is used.
void import_cache(struct json_object *o, bool is_on);
