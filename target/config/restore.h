// SPDX-License-Identifier: BSD-2-Clause
// Shared by the readers of all objects of a saved file. Private to restore*.c; control thread.
#pragma once

#include "target/config/model.h"

struct restore {
	struct config *c;
	const struct restore_options *options;
	struct json_object *errors;
	struct json_object *objects; // our section
	bool is_exact;	 // it exists: farblock saved the file, and absent values are defaults
	struct map told; // unknown keys that were reported
	struct json_object *told_keys;
	struct map serials;  // of storage objects -> the first one with it
	struct map leaving;  // files and devices of open storage that this change removes
	size_t leaving_seen; // entries of the transaction already checked for that
};

// Creates the object of entry below parent. On failure entry is kept in its place.
typedef int (*restore_entry)(struct restore *r, void *parent, struct json_object *entry,
			     struct err *e);

// Adds an error line.
void restore_complain(struct restore *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
// Reports an unknown key, once for all objects. what: a literal, "key" or a group's name.
void restore_tell_unknown(struct restore *r, const char *what, const char *key, const char *where);

// Keeps a value, or an entry of a list, to be saved again with the node.
void restore_keep(struct node *n, const char *key, struct json_object *value);
void restore_keep_entry(struct node *n, const char *key, struct json_object *entry);
// Keeps every key of o that is not in known (ends with NULL).
void restore_keep_unknown(struct restore *r, struct node *n, struct json_object *o,
			  const char *const *known);

// The node's object in our section of the file, or NULL.
struct json_object *restore_own_section(struct restore *r, const struct node *n);
// Sets a group's values from o[part] and from our section.
void restore_set_group(struct restore *r, struct node *n, const char *name, struct json_object *o,
		       const char *part);
// Credentials from PREFIX_userid, PREFIX_password and so on, those of ours from our section.
void restore_set_auth(struct restore *r, const struct node *n, struct auth_group *a,
		      struct json_object *o, const char *prefix);
// Calls fn for every entry of the list o[key].
void restore_each(struct restore *r, struct node *n, void *parent, struct json_object *o,
		  const char *key, restore_entry fn);
// A number in 0..max; else -EINVAL.
int restore_number_field(struct json_object *o, const char *key, int max, struct err *e);

// ---- restore_fill.c: changes an existing object to match the document ---- Marks the node as part
// of the document. is_old: it was in the tree before.
void restore_named(struct restore *r, struct node *n, bool is_old);
// Removes the children of n that the document does not contain, if it is applied.
int restore_sweep(struct restore *r, struct node *n, struct err *e);
// A copy of a group's memory, for restore_refill_end(). NULL: nothing to compare with.
void *restore_refill(struct restore *r, const struct group_row *g, struct node *n);
// Applies the differences from before to the running object, checks the result, marks the target.
void restore_refill_end(struct restore *r, const struct group_row *g, struct node *n, void *before);

// An object that is only kept: 1: an equal one exists; 0: add it.
int restore_meet_foreign(struct restore *r, struct node *parent, const char *name,
			 struct json_object *o, struct err *e);
int restore_add_foreign(struct restore *r, struct node *parent, const struct node_class *class,
			const char *name, struct json_object *o, struct err *e);

// ---- restore_size.c ----
// Gives the new object the size of the disk in use on its file or device: leaving, which this
// restore removes, or one in the tree. It is opened at the commit, after the save.
void restore_true_size(struct restore *r, struct storage *s, const struct storage *leaving);

// restore_storage.c, restore_target.c
int restore_storage(struct restore *r, void *parent, struct json_object *o, struct err *e);
int restore_target(struct restore *r, void *parent, struct json_object *o, struct err *e);
