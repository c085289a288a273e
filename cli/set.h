// SPDX-License-Identifier: BSD-2-Clause
// The group `global`, where preferences of the shell (preferences.h) stand beside farblockd's.
#pragma once

#include "cli/shell.h"

// Whether the line sets something of it: then it is not for the daemon to run as it is.
bool global_is_set(const struct line *l);
// Runs it: what is the daemon's goes there, then the rest holds at once and is kept. One value that
// does not fit, and nothing has changed. 0 or a negative errno with text. Blocks.
int global_set(struct shell *s, const char *path, const struct line *l, struct err *e);

// The shell's rows in the daemon's shape, those of it or all (name NULL), with p's values or
// without (NULL); an array for json_object_put(). NULL: the shell has none called name.
struct json_object *global_rows(const struct preferences *p, const char *name);
// Puts the shell's rows among the daemon's, an array that is by name afterwards.
void global_merge(struct json_object *rows, const struct preferences *p);
// Puts them, and the shell's own commands, into the daemon's schema.
void global_schema(struct json_object *schema);
