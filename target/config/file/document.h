// SPDX-License-Identifier: BSD-2-Clause
// Documents in the form of the saved file: read, compared. Private to target/config; control
// thread; blocks.
#pragma once

#include <limits.h>

#include "target/config/tree/tree.h"

// Reads a saved file. -ENOENT, -EINVAL with line and column.
int document_read(const char *file, struct json_object **ret, struct err *e);
// The file of a command: c->file for NULL and for every path to it.
const char *config_named_file(const struct config *c, const char *path);
// Whether a path leads to the saved file or one of its generations. ret: the file to open.
bool document_is_own(const struct config *c, const char *path, char ret[PATH_MAX]);
// The document of a parameter, for json_object_put(): that of the saved file if the parameter is
// absent, the client's, or one that the daemon has saved. -ENOENT; -EINVAL with line and column;
// -EREMOTE with the part of the call: it is a file of the client's user, whose content the client
// must send.
int document_get(const struct config *c, const struct args *a, const char *name,
		 struct json_object **ret, struct err *e);
// That -EREMOTE; format: what the file is for the client, "json" or a kind of import.
int document_want(const struct args *a, const char *name, const char *format, struct err *e);

// Adds the differences between two documents to lines (an array), one line per object or setting:
// "+ PATH", "- PATH", "  PATH: setting: old -> new". Secrets are masked.
void diff_documents(const struct config *c, struct json_object *from, struct json_object *to,
		    struct json_object *lines);
