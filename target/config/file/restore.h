// SPDX-License-Identifier: BSD-2-Clause
// Reading a document of the saved file into the tree: shared by the generic code and the hooks of
// the classes. Private to target/config; control thread.
#pragma once

#include "target/config/file/saved.h"

struct restore_options {
	const char *only_target, *only_storage; // NULL: everything; storage_is_meant()
	bool is_dry;				// read only: opens no storage, no listeners
	bool is_running;			// keeps and reports existing objects
	bool is_apply;	   // ... changes them to match the document, deletes others
	bool is_undo;	   // ... which was saved here before
	bool may_be_empty; // ... and was the whole configuration then
	bool is_forced;	   // data of RAM disks may be lost (plan_run())
	// An object, or NULL: the entries and values that are kept without effect. Each key says
	// where and what, whatever else the document has; its value is the line for the user.
	struct json_object *invalid;
};
// Adds the content of the document, within the transaction. Appends error lines to errors (an
// array); the return code is for fatal errors.
int restore_document(struct config *c, struct json_object *doc, const struct restore_options *o,
		     struct json_object *errors, struct err *e);

// Whether the document can be applied, before anything changes (is_apply): -EBUSY with text if it
// gives an open disk in a file or device another size, which cannot change. At an undo the disk,
// also one in memory unless is_forced, keeps its size: a line is added to notes, unless NULL.
int restore_check(struct config *c, struct json_object *doc, const struct restore_options *o,
		  struct json_object *notes, struct err *e);

struct restore {
	struct config *c;
	const struct restore_options *options;
	struct json_object *errors;
	struct json_object *objects; // our section
	bool has_no_memory;	     // an entry was not read for lack of it
	bool is_exact; // it exists: farblock saved the file, and absent values are defaults
	struct json_object *told; // unknown keys that were reported, by what they are called
	struct map serials;	  // of storage objects -> the first one with it
	struct map leaving;	  // files and devices of open storage that this change removes
	size_t leaving_seen;	  // entries of the transaction already checked for that
};

// ---- restore_values.c ----
// Adds an error line.
void restore_complain(struct restore *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
// Adds the line for an entry or a value of n that is kept without effect.
void restore_complain_invalid(struct restore *r, const struct node *n, const char *key,
			      const char *value, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
// Reports an unknown key, once for all objects. what: "key" or a group's name.
void restore_tell_unknown(struct restore *r, const char *what, const char *key, const char *where);
// Keeps a value, or an entry of a list, to be saved again with the node.
void restore_keep(struct node *n, const char *key, struct json_object *value);
void restore_keep_entry(struct node *n, const char *key, struct json_object *entry);
// Keeps every key of o that the description of the node's class does not contain.
void restore_keep_unknown(struct restore *r, struct node *n, struct json_object *o);
// The node's object in our section of the file, or NULL.
struct json_object *restore_own_section(struct restore *r, const struct node *n);
// Sets the values of a group from the node's object and from our section. is_old: the node existed.
void restore_group(struct restore *r, struct node *n, const struct group_row *g,
		   struct json_object *o, bool is_old);
// A number in 0..max; else -EINVAL.
int restore_number_field(struct json_object *o, const char *key, int max, struct err *e);

// ---- restore_object.c ----
// Reads the list o[class->saved->list]: creates, changes or, in an applied document, removes nodes
// below n. What cannot be read is kept.
int restore_list(struct restore *r, struct node *n, const struct node_class *class,
		 struct json_object *o, struct err *e);
// One entry of such a list; parent is the node above the list's folder.
restore_entry_fn restore_entry;
// Calls fn for every entry of the list o[key], which belongs to n.
void restore_each(struct restore *r, struct node *n, struct json_object *o, const char *key,
		  restore_entry_fn *fn, const struct node_class *class);
// Whether n has such a child and this restore does not change existing objects.
bool restore_leaves(const struct restore *r, const struct node *n, const char *name);
// The same for a target, with a line for the user.
bool restore_leaves_target(struct restore *r, const struct node *n, const char *name);
// Removes the children of n that the document does not contain, if it is applied.
int restore_sweep(struct restore *r, struct node *n, struct err *e);
// Keeps an object that is not supported. 1: added; 0: an equal one exists.
int restore_foreign(struct restore *r, struct node *parent, const struct node_class *class,
		    const char *name, struct json_object *o, struct err *e);
