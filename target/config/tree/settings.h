// SPDX-License-Identifier: BSD-2-Clause
// Groups of settings of a node: get and set by their rows. Control thread.
#pragma once

#include "target/config/tree/tree.h"

const struct group_row *group_find(const struct node_class *class, const char *name);
const struct attr_row *group_rows(const struct group_row *g);
// Another value, or values for all groups, replace what was kept of the saved file because the
// object had refused it. part: of the key, or NULL. -ENOMEM with text.
int settings_forget(struct config *c, struct node *n, const char *part, const char *key,
		    struct err *e);
int settings_forget_all(struct config *c, struct node *n, struct err *e);
// The key of a value in the saved file.
const char *group_key(const struct group_row *g, const struct attr_row *row, char out[80]);
// The struct that the rows describe, and the memory of its values.
void *group_base(const struct group_row *g, struct node *n);
char *group_memory(const struct group_row *g, struct node *n);
size_t group_get(const struct group_row *g, struct node *n, const struct attr_row *row, char *out,
		 size_t size);
int group_set(const struct group_row *g, struct node *n, const struct attr_row *row,
	      const char *text, struct err *e);
// A copy of that struct up to the end of the values, as the old ones of a change. NULL: no memory.
void *group_copy(const struct group_row *g, struct node *n);
void group_copy_free(const struct group_row *g, void *copy); // NULL is fine
// Applies a value that was set to the running object, and records its old text. -ENOMEM, or the
// object's error, with text: it has its old value.
int group_apply(struct config *c, const struct group_row *g, struct node *n,
		const struct attr_row *row, const char *old, struct err *e);
bool group_restarts(const struct attr_row *row); // whether it takes effect by group_row.restart
struct json_object *group_schema(const struct group_row *g);
command_fn config_get;
// Sets values (an object) of one group: all of them or none.
int config_set(struct config *c, struct node *n, const char *group, struct json_object *values,
	       struct reply *r, struct err *e);
