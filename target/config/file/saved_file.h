// SPDX-License-Identifier: BSD-2-Clause
// The saved file as a whole: when it is replaced, copies of it, and its origin. Private to
// target/config; control thread; blocks.
#pragma once

#include <time.h>

#include "target/config/tree/tree.h"

// What saved_file.c knows of the file and of the next generation.
struct config_saved {
	uint64_t inode; // the file when we last read or wrote it
	struct timespec mtime;
	bool skips_backup;	      // of the change that is being saved
	bool has_replaced_edit;	      // an edited file was replaced, not reported yet
	struct json_object *commands; // texts, since the last save
	unsigned more;		      // number of dropped ones
	struct json_object *origin;   // of the saved file
};

bool model_is_empty(const struct config *c);

struct json_object *save_document(struct config *c);
char *save_text(struct config *c, size_t *ret_len); // the same as text, for free(); NULL: no memory
// Replaces the saved file.
int config_save(struct config *c, bool may_be_empty, struct err *e);
// -EPERM: the configuration is empty, the file is not.
int config_refuse_empty(const char *file, struct err *e);
bool document_has_objects(struct json_object *doc);
void config_note_file(struct config *c); // accepts the current file as ours
// Reports once, to the next client with a change, that the saved file had been edited.
void config_tell_replaced(struct config *c, struct reply *r);

// ---- save_part.c ----
// The configuration, including secrets, as a file for the client: the parameter savefile.
int config_copy(struct config *c, const struct args *a, struct reply *r, struct err *e);
// One storage object, and the targets that export it, put into the content of that file.
int config_copy_part(struct config *c, struct node *storage, const struct args *a, struct reply *r,
		     struct err *e);

// ---- change.c: the commands since the last save, the origin of a generation ----
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

// ---- audit.c ----
// A command as text, without values of settings.
void audit_text(char *out, size_t size, const char *path, const struct command_row *row,
		struct json_object *positional, struct json_object *named);
// Logs who has run a command that changes the configuration.
void audit_change(const struct config *c, const char *path, const struct command_row *row,
		  struct json_object *positional, struct json_object *named);
