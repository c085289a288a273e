// SPDX-License-Identifier: BSD-2-Clause
// Building the document of the saved file: shared by its parts. Private to save*.c. Returned
// objects belong to the caller (json_object_put()). Control thread.
#pragma once

#include <stdbool.h>

#include "target/config/frozen.h"
#include "target/config/model.h"

// The last text of a part that is the same in most objects.
struct memo {
	struct json_object *text; // NULL: none
	const struct backstore_type *type;
	struct lu_attr attr;
	struct alua_attr group;
};

struct save {
	struct config *c;
	struct json_object *doc;
	struct json_object *objects; // of our section: path -> object
	bool has_texts;		     // unchanged objects are returned as their text
	struct frozen_key key;
	struct memo attributes, alua;
};

// Depth in the document of objects whose texts are kept: the numerous ones.
enum { STORAGE_DEPTH = 2, OWN_DEPTH = 3, LUN_DEPTH = 6, MAPPED_DEPTH = 8 };

// ---- save_values.c ----
bool save_is_in(const char *const *list, const char *name); // list ends with NULL
void save_append(struct json_object *to, struct json_object *list);
// Adds unknown keys: missing ones unchanged, objects merged, arrays appended. kept may be NULL.
void save_merge(struct json_object *to, struct json_object *kept);
// The node's object in our section, created on demand; the section owns it.
struct json_object *save_own_of(struct save *s, const struct node *n);
struct json_object *save_own_part(struct save *s, const struct node *n, const char *part);
bool save_is_default(const struct attr_row *row, const char *text);
// The settings of a group; those known only to farblock go into our section. only: the complete
// list of rtslib's settings here, NULL: no such list.
struct json_object *save_values(struct save *s, const struct group_row *g, struct node *n,
				const char *const *only);
// PREFIX_userid, PREFIX_password and so on.
void save_put_auth(struct json_object *o, const char *prefix, const struct view_auth *v);
// Adds those unknown to rtslib to our section.
void save_put_own_auth(struct save *s, struct node *n, const char *group);

// ---- objects whose texts are kept: save_object.c ----
struct save_kind {
	int depth;
	struct json_object *(*make)(struct save *s, struct node *n);
	// Everything that make() reads, except the name, the class and kept.
	void (*key)(struct frozen_key *k, struct node *n);
};
// A new reference to the object, or to its text.
struct json_object *save_object(struct save *s, const struct save_kind *kind, struct node *n);

// ---- save_storage.c ----
struct json_object *save_storage(struct save *s, struct node *n);

// ---- save_target.c ----
struct json_object *save_target(struct save *s, struct target *t);
struct json_object *save_srpt_target(struct save *s, struct node *n);
