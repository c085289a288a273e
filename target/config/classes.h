// SPDX-License-Identifier: BSD-2-Clause
// The classes of the tree, and the commands of every node. Control thread.
#pragma once

#include "target/config/tree/tree.h"

extern const struct node_class *const node_classes[]; // all of them, ends with NULL
extern const struct node_class root_class;
extern const struct command_row every_node_commands[];

// ---- preferences.c ----
extern const struct group_row root_groups[];
extern const struct attr_row pref_rows[];

// ---- root.c ----
void config_drop_all(struct config *c); // deletes everything; the saved file stays
