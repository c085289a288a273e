// SPDX-License-Identifier: BSD-2-Clause
// Look-ups in the daemon's schema with the shell's own commands (shell_schema()). Content of
// unexpected form is ignored. Pure functions; results are borrowed from the schema.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

// The rows of a command at a node of this class: of the shell, the class, or every node.
struct json_object *schema_command(struct json_object *schema, const char *class,
				   const char *command);
// Calls fn for every command of a node of this class, in the order of `help`.
void schema_commands(struct json_object *schema, const char *class,
		     void (*fn)(struct json_object *command, void *arg), void *arg);

// The rows of a group of settings, as an array; those of every node too.
struct json_object *schema_group(struct json_object *schema, const char *class, const char *group);
// Calls fn for every group of a node of this class.
void schema_groups(struct json_object *schema, const char *class,
		   void (*fn)(const char *group, struct json_object *rows, void *arg), void *arg);

// Of settings with the flag "needs_restart".
#define NEEDS_RESTART_TEXT "Takes effect at the next login, or when the disk is opened again."

// The row with this name or alias in an array of parameters or settings; NULL: none.
struct json_object *row_find(struct json_object *rows, const char *name);

// Whether a group has a secret setting with this or a similar name: a typing error must not reveal
// the secret. schema may be NULL: then any name that looks like a password counts.
bool schema_is_secret(struct json_object *schema, const char *name);
