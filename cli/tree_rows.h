// SPDX-License-Identifier: BSD-2-Clause
// The JSON text of a tree as rows for tree_draw(), without an object for each node. Pure functions.
#pragma once

#include "core/err.h"

// Finds a member of the JSON object at text: its value, or NULL. Borrowed.
const char *json_text_member(const char *text, const char *name);

// Converts a node of tree.ls at json: {"name", "summary", "healthy", "serial", "children"}, each
// with the name first and the children last; other members are ignored. *ret: rows, for free().
// -EPROTO with text: not such a node; -ENOMEM.
int tree_rows_of(const char *json, char **ret, struct err *e);
