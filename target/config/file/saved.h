// SPDX-License-Identifier: BSD-2-Clause
// The saved file: how the objects of each class stand in it, in the form of rtslib. Writing,
// reading, comparing and naming objects is generic code over these descriptions and the rows of the
// class. Private to target/config; control thread.
#pragma once

#include "target/config/tree/frozen.h"
#include "target/config/tree/tree.h"

#define SAVED_SECTION "farblock" // top-level key of ours; rtslib ignores it
#define SAVED_TARGET  "target"	 // in kept keys of an SRP target: those of the target itself
#define SAVED_PREFS   "global"	 // in it: the preferences that differ from their defaults
enum { SAVED_VERSION = 1, SAVED_NAME_SIZE = 300, SAVED_PATH_SIZE = 1200, SAVED_LISTS = 3 };
extern const char *const saved_lists[SAVED_LISTS]; // of the document

struct restore;
struct restore_options;

// Reads entry o of a list of n, whose entries are of this class.
typedef int restore_entry_fn(struct restore *r, struct node *n, const struct node_class *class,
			     struct json_object *o, struct err *e);

// An object is an entry of a list in the object of the node above. Slots may be NULL, with the
// effect in brackets.
struct saved_class {
	const char *list;    // key of the list
	const char *above;   // path above the entries of a list of the document itself [""]
	bool is_list_ours;   // other programs do not write it: absent, the entries stay
	const char *folder;  // name of the node between the one above and the entries [none]
	const char *id[2];   // keys that name the entry; id[1] [none]
	const char *prefix;  // of the node's name, before id[0] ["": id[0] is not a number]
	const char *between; // separates id[0] and id[1]: of the node's name, or, if it is "/", of
			     // the last two names of its path
	int depth;	     // of the entry in the document if its text is kept [0: it is not]
	bool is_alike;	     // most entries are equal: not each has a text of its own
	bool is_numbered;    // its last id is a number
	const char *entries; // its fields and lists are in the only entry of this list
	const struct group_row *fields; // rows beside the groups of the class; ends with SAVED_NOT
	const struct node_class *const *lists; // of the entries in it, in the order of reading
	const struct node_class *targets;      // of a fabric: the class of its children
	const char *const *ignored;	       // keys of rtslib without a meaning here
	const char *unknown; // what an unknown key of the node above is called in messages, if
			     // those of its entries are reported as its own ["key", of the node]
	// Whether the settings of a fabric are to be saved.
	bool (*is_set)(const struct node *n);
	// Adds what the text of an entry depends on beside rows and ids. [nothing]
	void (*key)(struct frozen_key *k, struct node *n);
	// An entry of a list of the document itself: finds its class and node. [NULL]
	restore_entry_fn *entry;
	// Whether the entry of a document that is applied is possible, before anything changes.
	// notes: NULL, or an array for lines. 0, or a negative errno with text. [it is]
	int (*check)(struct config *c, struct json_object *o, const struct restore_options *options,
		     struct json_object *notes, struct err *e);
	// The name of the node for entry o below n. 0, 1: the entry is handled, or a negative errno
	// with text. [id[0] is a number in 0..65535, after prefix]
	int (*name)(struct restore *r, struct node *n, struct json_object *o,
		    char out[SAVED_NAME_SIZE], struct err *e);
	// Whether o describes this node; if not, it is removed, and another one created. [it does]
	bool (*is_same)(struct restore *r, const struct node *n, struct json_object *o);
	// Creates the node within the transaction.
	int (*make)(struct restore *r, struct node *n, const char *name, struct json_object *o,
		    struct node **ret, struct err *e);
	// After rows and lists were read: links to other objects, complaints. [nothing]
	int (*filled)(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		      struct err *e);
};

// ---- saved.c: names ----
// The class of the entries of a list, the first of several; NULL: no such list.
const struct node_class *saved_class_of(const struct config *c, const char *list);
// Whether the node is a fabric, with an entry of fabric_modules.
bool saved_is_fabric(const struct node *n);
// The keys of an entry as text, "" for an absent id[1].
void saved_ids(const struct node *n, char ids[2][SAVED_NAME_SIZE]);
// The path of the node for entry o of a list in the object of the node at path, "": no name. path
// of an entry of the document itself: "".
void saved_path(const struct saved_class *k, const char *path, struct json_object *o,
		char out[SAVED_PATH_SIZE]);
// The node between n and its children of a class; NULL: it has none.
struct node *saved_folder(struct config *c, struct node *n, const struct saved_class *k);
// For each group of a class that is saved, its fields first.
#define saved_each_group(g, class)                                                                 \
	for (const struct group_row *g = saved_next_group(class, NULL); g;                         \
	     g = saved_next_group(class, g))
const struct group_row *saved_next_group(const struct node_class *class, const struct group_row *g);
const struct attr_row *saved_rows(const struct group_row *g, const struct node *n);
bool saved_is_own(const struct group_row *g, const struct node *n, const struct attr_row *row);
bool saved_is_secret(const struct config *c, const char *key); // of any class

// ---- save_object.c ----
struct save {
	struct config *c;
	struct json_object *objects; // of our section: path -> object
	bool has_texts;		     // unchanged objects are returned as their text
	struct frozen_key key, inner;
	struct save_memo {
		const void *of; // the group or class
		struct frozen_key key;
		struct json_object *text;
	} memos[2];
};
// The entry of a node, a new reference: for a node without a description what was kept of it.
struct json_object *save_object(struct save *s, struct node *n);
void save_done(struct save *s);
// The values of a group into to, where it is not NULL, and into our section.
void save_group(struct save *s, const struct group_row *g, struct node *n, struct json_object *to);
// Adds unknown keys: missing ones unchanged, objects merged, arrays appended. kept may be NULL.
void save_merge(struct json_object *to, struct json_object *kept);
