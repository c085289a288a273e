// SPDX-License-Identifier: BSD-2-Clause
// Files of the user named in commands of the daemon, which opens only its own: the shell reads them
// for it, and writes those of its answers, with its user's rights. Blocks.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/shell/grammar.h"

// A command was refused since the daemon needs the content of a file (wanted: -EREMOTE with the
// part of the call): puts it into the parameters of tree.run, after the absolute path if the name
// is relative. 0: send them again; a negative errno with text: the file cannot be read, or is
// damaged
// (-EINVAL with line and column).
int files_send(struct json_object *params, const struct err *wanted, struct err *e);
// A file's absolute path, since the daemon has another working directory. For free(); NULL: no
// memory.
char *files_whole_path(const char *file);
// Writes the file of an answer (0600, replaced as a whole), if it has one, and removes it from the
// answer. 0 or a negative errno with text; -EPROTO: the line does not name it.
int files_write(const struct line *l, struct json_object *answer, struct err *e);
