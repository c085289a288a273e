// SPDX-License-Identifier: BSD-2-Clause
// The commands since the last save: what a generation of the saved file came from. Private to
// target/config; control thread.
#pragma once

#include "target/config/model.h"

// Notes a command that is about to run; values of settings are left out.
void change_add(struct config *c, const char *path, const struct command_row *row,
		struct json_object *positional, struct json_object *named);
// How many are noted; and forgetting those behind the mark.
unsigned change_mark(const struct config *c);
void change_back_to(struct config *c, unsigned mark);
// A command has returned code, and is saved unless others will be with it: forgets those that are
// saved, or, since the mark, that have failed.
void change_end(struct config *c, unsigned mark, int code);

// What is noted and who asks, as the saved file has it. For json_object_put().
struct json_object *change_json(const struct config *c);
// Adds "change" and "by" for users. change: as change_json() made it, or anything, or NULL.
void change_tell(struct json_object *change, struct json_object *to);
