// SPDX-License-Identifier: BSD-2-Clause
// The lines kept in the history: none with a secret.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#include "core/err.h"

struct shell_command;

// Whether a typed line may be stored. Not if it sets a secret to a value other than "-", or might
// do so: it cannot be parsed and mentions a secret. schema may be NULL. commands: of
// the shell itself.
bool history_may_keep(struct json_object *schema, const struct shell_command *const *commands,
		      const char *text);
// Adds a line to the file "history" of cli/shell/state.h, unless it is the same as the last. 0 or a
// negative errno with text. Blocks.
int history_save(const char *text, struct err *e);
