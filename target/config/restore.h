// SPDX-License-Identifier: BSD-2-Clause
// Reading a document of the saved file into the tree: shared by the generic code and the hooks of
// the classes. Private to target/config; control thread.
#pragma once

#include "target/config/saved.h"

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

// ---- restore_values.c ----
// Adds an error line.
void restore_complain(struct restore *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
// Reports an unknown key, once for all objects. what: a literal, "key" or a group's name.
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
int restore_entry(struct restore *r, struct node *parent, const struct node_class *class,
		  struct json_object *o, struct err *e);
// Calls fn for every entry of the list o[key], which belongs to n.
void restore_each(struct restore *r, struct node *n, struct json_object *o, const char *key,
		  int (*fn)(struct restore *r, struct node *n, const struct node_class *class,
			    struct json_object *entry, struct err *e),
		  const struct node_class *class);
// Whether n has such a child and this restore does not change existing objects.
bool restore_leaves(const struct restore *r, const struct node *n, const char *name);
// The same for a target, with a line for the user.
bool restore_leaves_target(struct restore *r, const struct node *n, const char *name);
// Removes the children of n that the document does not contain, if it is applied.
int restore_sweep(struct restore *r, struct node *n, struct err *e);
// Keeps an object that is not supported. 1: added; 0: an equal one exists.
int restore_foreign(struct restore *r, struct node *parent, const struct node_class *class,
		    const char *name, struct json_object *o, struct err *e);

// ---- restore_size.c ----
int storage_check_size(struct config *c, struct json_object *o, const struct restore_options *how,
		       struct json_object *notes, struct err *e);
// Gives the new object the size of the disk in use on its file or device: leaving, which this
// restore removes, or one in the tree. It is opened at the commit, after the save.
void restore_true_size(struct restore *r, struct storage *s, const struct storage *leaving);

// ---- classes ----
// Gives a new portal group the relative port of the document.
int tpg_keep_port(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		  struct err *e);
