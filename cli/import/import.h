// SPDX-License-Identifier: BSD-2-Clause
// Converts configuration files of other targets to documents in the form of the saved file;
// farblockd applies it. Everything without a counterpart yields a note. No globals, any thread;
// blocks if files are included.
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
	IMPORT_NAME_MAX = 127,	    // characters of the name of a disk
	IMPORT_MAPPED_MAX = 200000, // of all ACLs together
};

#define IMPORT_OWN "farblock" // key of a document with what only farblock has

// A position in a file. file is valid as long as the import.
struct import_place {
	const char *file;
	unsigned line;
};

// Freed when the import ends, and wiped: a text contains passwords, and NULs where it was split.
struct import_kept {
	char *text;
	size_t len;
};

struct import {
	struct json_object *doc;
	struct json_object *storage, *targets, *own; // of doc; own: objects of our section, by path
	struct json_object *notes;		     // array of strings
	struct json_object *disks;		     // name of a disk in the file -> its path here
	struct json_object *names;		     // names in use, with the number tried last
	struct json_object *iqns;		     // of the targets so far
	struct json_object *told;		     // the notes, to report each once
	struct import_place at;
	void *reader; // private to the kind
	bool may_include;
	bool is_malformed;	  // the line at `at` is not UTF-8
	size_t size;		  // bytes read so far
	unsigned files;		  // read so far
	unsigned nested;	  // open includes
	unsigned mapped;	  // LUNs of ACLs
	struct import_kept *kept; // included texts, and their names
	unsigned kept_count;
};

struct import_kind {
	const char *name, *help;
	// Adds the content of text to im. text is split in place, and must stay valid until the end
	// of the import.
	int (*read)(struct import *im, char *text, struct err *e);
};
extern const struct import_kind import_kind_tgt, import_kind_scst;
extern const struct import_kind *const import_kinds[]; // ends with NULL
// NULL: unknown kind.
const struct import_kind *import_kind_find(const char *name);

// Converts the text of a file, len bytes and a NUL, to a document. Adds notes, one per line of the
// file, to notes (an array). may_include: reads included files. NULL with -EINVAL and "FILE:LINE:
// ..." in e: not of this kind. For json_object_put(). text is destroyed.
struct json_object *import_text(const struct import_kind *kind, const char *file, char *text,
				size_t len, bool may_include, struct json_object *notes,
				struct err *e);

// ---- for the readers: words.c ----
// The next non-empty line of *rest, without its comment; NULL at the end. A \ at its end joins the
// next one. Sets im->at.
char *import_line(struct import *im, char **rest);
// Splits "name value" or "name = value" after the name; returns the value without surrounding
// blanks and double quotes, "" if absent.
char *import_value(char *line);
// The next word of *rest, NULL at the end.
char *import_word(char **rest);
// Removes blanks at the end.
void import_trim_end(char *text);
// A decimal number in 0..max; -1: not a valid number.
int import_number(const char *text, int max);
void import_note(struct import *im, struct import_place at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// -EINVAL with the position in front.
int import_fail(struct err *e, struct import_place at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// Reads the files of pattern (a path, a directory, *): each with read, with text as above.
int import_include(struct import *im, const char *pattern,
		   int (*read)(struct import *im, char *text, struct err *e), struct err *e);

// ---- disks: disk.c ----
// A disk being added to the document.
struct import_disk {
	struct import *im;
	const char *plugin;
	struct json_object *o; // in the document; NULL: none
	const char *path;      // in the tree
	bool is_readonly;      // its LUNs are
};
// A disk for the file's key; its name here is derived from wanted. dev NULL: none. Fills o and
// path.
void import_disk_add(struct import_disk *d, const char *key, const char *wanted, const char *dev);
// "/backstores/PLUGIN/NAME" of the disk with the file's key, or NULL.
const char *import_disk_path(struct import *im, const char *key);
bool import_disk_is(const struct import_disk *d, const char *plugin);

// A setting of disks in a file.
struct import_disk_row;
typedef bool import_disk_take(struct import_disk *d, const struct import_disk_row *row,
			      const char *value);
struct import_disk_row {
	const char *name;
	import_disk_take *take; // false: the value has no counterpart; NULL: it never has one
	const char *why;	// the note then; NULL: none, since it is the default here
	const char *arg;	// for take
	bool has_pscsi;		// pass-through devices have it too
};
void import_disk_setting(struct import_disk *d, const struct import_disk_row *row,
			 struct import_place at, const char *value);

// An INQUIRY text, arg: "vendor", "product" or "revision". False: too long.
import_disk_take import_inquiry;
import_disk_take import_block_size;
import_disk_take import_serial; // a unit serial number; false: not a UUID
import_disk_take import_removable;
// Whether a volatile write cache is used.
void import_cache(struct import_disk *d, bool is_on);

// ---- the document: document.c. It owns the objects ----
// The portal group of a new target; out gets the target's normalised name. -EINVAL: not a valid
// name, or that of another target.
int import_target(struct import *im, const char *fabric, const char *wwn, char out[224],
		  struct json_object **ret, struct err *e);
struct json_object *import_lun(struct json_object *tpg, int number, const char *path,
			       bool is_readonly);
void import_portal(struct json_object *tpg, const char *host, bool is_iser);
// An initiator's normalised name; false: not a valid name, with a note.
bool import_initiator(struct import *im, const char *fabric, const char *name, char out[224]);
struct json_object *import_acl(struct json_object *tpg, const char *initiator);
// False: more mapped LUNs than an import may have; it fails.
bool import_map(struct import *im, struct json_object *acl, int number, int lun, bool is_readonly);
void import_bool_field(struct json_object *o, const char *key, bool is_true);
void import_attribute(struct json_object *o, const char *name, int value);
// Whether name is a parameter of a portal group that a login negotiates.
bool import_is_parameter(const char *name);
void import_parameter(struct json_object *tpg, const char *name, const char *value);
// A setting that only farblock has, of the object at path, in a group ("attribute", "options").
void import_own(struct import *im, const char *path, const char *group, const char *name,
		const char *text);

// The accounts of both directions in a file: only the first of each is used.
struct import_users {
	const char *name[2], *password[2]; // 0: of the initiator, 1: of the target; NULL: none
};
enum { IMPORT_INCOMING, IMPORT_OUTGOING };
// "name password"; an error is a note. direction: "incoming" or "outgoing".
void import_user(struct import *im, struct import_users *u, const char *direction, char *value);
// PREFIX_userid, PREFIX_password and so on of o.
void import_put_users(struct json_object *o, const char *prefix, const struct import_users *u);
// The accounts of discovery, if any.
void import_discovery(struct import *im, const struct import_users *u);
