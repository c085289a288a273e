// SPDX-License-Identifier: BSD-2-Clause
// What may come next in a line: candidates for the word that is being typed, and a hint of the
// values that follow. Everything comes from the schema's rows and from a source that answers for
// the tree. Pure functions but for the source.
#pragma once

#include <json-c/json.h>

#include "cli/cursor.h"

enum { CANDIDATES_MAX = 1000 };

// Slots may answer NULL: not known. What they answer is not trusted to have any shape.
struct complete_source {
	struct json_object *schema; // with the shell's own commands; NULL: nothing is known
	const char *cwd;
	void *arg;
	// For free(): the path of a bookmark.
	char *(*bookmark)(void *arg, const char *name);
	// For free(): the class of the node at an absolute path.
	char *(*class_of)(void *arg, const char *path);
	// For json_object_put(), arrays of {"text", "note"}: names of a node's children, of files
	// that begin with prefix, of bookmarks, and what the daemon says a parameter may be.
	struct json_object *(*children)(void *arg, const char *path);
	struct json_object *(*files)(void *arg, const char *prefix);
	struct json_object *(*bookmarks)(void *arg);
	struct json_object *(*values)(void *arg, const char *path, const char *command,
				      const char *parameter, const char *prefix);
};

// What a candidate is, which its color tells.
enum candidate_kind { KIND_OTHER, KIND_PATH, KIND_COMMAND, KIND_VALUE, KIND_KEYWORD };

struct candidate {
	char *text; // the whole word, unquoted
	char *note; // "": none
	char end;   // what stands behind it when it is chosen: ' ', or 0
	enum candidate_kind kind;
};

struct candidates {
	size_t start; // where the word begins that they stand for
	unsigned count;
	struct candidate *list;
};

// For the word at the end of text, which reaches to the cursor. End with candidates_done().
void complete(const struct complete_source *s, const char *text, struct candidates *ret);
void candidates_done(struct candidates *c);
// How many first bytes they have in common, whole characters of UTF-8.
size_t candidates_common(const struct candidates *c);

// What is to come behind text: "size [nullio=false] [wwn]". At most size bytes (2 or
// more), printable and in
// one line; returns its length.
size_t hint(const struct complete_source *s, const char *text, char *out, size_t size);

// The absolute path that a word names: of a bookmark, or from base on. For free(); NULL: none.
char *source_path(const struct complete_source *s, const char *base, const char *word);
// Where the words of a cursor's command are for: the path in it, or cwd; and its class. For free().
char *source_where(const struct complete_source *s, const struct cursor *c, char **ret_class);

// The row of the value that the cursor is in, NULL: none. *ret_rows: the settings that go on
// behind a command's parameters ("set GROUP name=value ..."), NULL: none.
struct json_object *row_at(const struct complete_source *s, const struct cursor *c,
			   const char *class, struct json_object **ret_rows);
