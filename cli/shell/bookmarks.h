// SPDX-License-Identifier: BSD-2-Clause
// Names for paths, in the file "bookmarks" of cli/shell/state.h: "name path" lines. Blocks.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#include "core/err.h"

// The path of a bookmark, for free(); NULL: no such name.
char *bookmark_path(const char *name);
// Sets a bookmark, or deletes it (path NULL). 0 or a negative errno with text; -ENOENT: no such
// name.
int bookmark_set(const char *name, const char *path, struct err *e);
int bookmark_missing(const char *name, struct err *e); // -ENOENT with text
#define BOOKMARK_LAST "last"
// Sets @last to the object created last; keeps: for later shells, too.
void bookmark_last(const char *path, bool keeps);
// All of them as an array of {"text": "@name", "note": path}, for json_object_put().
struct json_object *bookmarks_json(void);
