// SPDX-License-Identifier: BSD-2-Clause
// Completion: candidates for the current word, and a hint of the values that follow, from the rows
// of the schema and from a source for the tree. Pure functions except for the source.
#pragma once

#include <json-c/json.h>

#include "cli/edit/cursor.h"

enum { CANDIDATES_MAX = 1000 };

// Slots may return NULL: unknown. Their results may have any shape.
struct complete_source {
	struct json_object *schema; // with the shell's own commands; NULL: unknown
	const char *cwd;
	void *arg;
	// For free(): the path of a bookmark.
	char *(*bookmark)(void *arg, const char *name);
	// For free(): the class of the node at an absolute path.
	char *(*class_of)(void *arg, const char *path);
	// For json_object_put(), arrays of {"text", "note"}: names of a node's children, of files
	// that begin with prefix, of bookmarks, and the daemon's candidates for a parameter.
	struct json_object *(*children)(void *arg, const char *path);
	struct json_object *(*files)(void *arg, const char *prefix);
	struct json_object *(*bookmarks)(void *arg);
	struct json_object *(*values)(void *arg, const char *path, const char *command,
				      const char *parameter, const char *prefix);
};

// The kind of a candidate, shown by its color.
enum candidate_kind { KIND_OTHER, KIND_PATH, KIND_COMMAND, KIND_VALUE, KIND_KEYWORD };

struct candidate {
	char *text; // the complete word, unquoted
	char *note; // "": none
	char end;   // appended after it: ' ', or 0
	enum candidate_kind kind;
};

struct candidates {
	size_t start; // start of the word that they replace
	unsigned count;
	struct candidate *list;
};

// Candidates for the word at the end of text, which ends at the cursor. End with candidates_done().
void complete(const struct complete_source *s, const char *text, struct candidates *ret);
void candidates_done(struct candidates *c);
// The length of their common prefix in bytes, whole characters of UTF-8.
size_t candidates_common(const struct candidates *c);

// The values that follow text: "size [nullio=false] [wwn]". At most size bytes (2 or more),
// printable, on one line; returns its length.
size_t hint(const struct complete_source *s, const char *text, char *out, size_t size);

// The path of a cursor's command: the one in it, or cwd; and its class. For free().
char *source_where(const struct complete_source *s, const struct cursor *c, char **ret_class);

// The row of the value at the cursor, NULL: none. *ret_rows: the settings that follow a command's
// parameters ("set GROUP name=value ..."), NULL: none.
struct json_object *row_at(const struct complete_source *s, const struct cursor *c,
			   const char *class, struct json_object **ret_rows);
