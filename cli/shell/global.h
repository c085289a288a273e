// SPDX-License-Identifier: BSD-2-Clause
// The group `global`, with preferences of the shell (preferences.h) and of farblockd: its rows.
#pragma once

#include <json-c/json.h>

#include "cli/shell/preferences.h"

#define GLOBAL_GROUP "global"

struct shell_command;

// The shell's rows in the daemon's form, one or all (name NULL), with p's values or without (NULL);
// an array for json_object_put(). NULL: no such name.
struct json_object *global_rows(const struct preferences *p, const char *name);
// Adds the shell's rows to the daemon's, an array, and sorts it by name.
void global_merge(struct json_object *rows, const struct preferences *p);
// Adds them and the shell's own commands to the daemon's schema.
void global_schema(struct json_object *schema, const struct shell_command *const *commands);
