// SPDX-License-Identifier: BSD-2-Clause
// Which lines are kept for the next time: none that holds a secret.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#include "core/err.h"

// Whether a line as it was typed may be remembered. Not if it gives a secret a value other than
// "-", or may do so: it cannot be parsed and speaks of one. schema may be NULL.
bool history_may_keep(struct json_object *schema, const char *text);
// Adds a line to the file "history" of cli/state.h, unless it is the same as the last. 0 or a
// negative errno with text. Blocks.
int history_save(const char *text, struct err *e);
