// SPDX-License-Identifier: BSD-2-Clause
// The commands since the last save: the origin of a generation of the saved file. Private to
// target/config; control thread.
#pragma once

#include "target/config/model.h"

// Records a command that is about to run, without the values of settings.
void change_add(struct config *c, const char *path, const struct command_row *row,
		struct json_object *positional, struct json_object *named);
// The number of recorded commands; drops those after the mark.
unsigned change_mark(const struct config *c);
void change_back_to(struct config *c, unsigned mark);
// A command has returned code: drops the saved commands, or, if it is_joined with others and saved
// with them, only those that failed since the mark.
void change_end(struct config *c, unsigned mark, int code, bool is_joined);

// The recorded commands and the client, in the form of the saved file. For json_object_put().
struct json_object *change_json(const struct config *c);
// Marks a change that replaced a file edited by another program; whether it did.
void change_mark_edit(struct json_object *change);
bool change_replaced_edit(struct json_object *change);
// Adds "change" and "by" for users. change: from change_json(), untrusted, or NULL.
void change_tell(struct json_object *change, struct json_object *to);
