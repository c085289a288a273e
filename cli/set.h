// SPDX-License-Identifier: BSD-2-Clause
// The group `global`, with preferences of the shell (preferences.h) and of farblockd.
#pragma once

#include "cli/shell.h"

// Whether the line sets values of the group: then the daemon cannot run it unchanged.
bool global_is_set(const struct line *l);
// Runs it: sends the daemon's part, then applies and saves the rest. If a value is invalid, nothing
// changes. 0 or a negative errno with text. Blocks.
int global_set(struct shell *s, const char *path, const struct line *l, struct err *e);

// The shell's rows in the daemon's form, one or all (name NULL), with p's values or without (NULL);
// an array for json_object_put(). NULL: no such name.
struct json_object *global_rows(const struct preferences *p, const char *name);
// Adds the shell's rows to the daemon's, an array, and sorts it by name.
void global_merge(struct json_object *rows, const struct preferences *p);
// Adds them and the shell's own commands to the daemon's schema.
void global_schema(struct json_object *schema);
