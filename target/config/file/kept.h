// SPDX-License-Identifier: BSD-2-Clause
// Objects of a saved file that this program does not support. Control thread.
#pragma once

#include "target/config/tree/tree.h"

extern const struct node_class fabric_class, foreign_class, foreign_storage_class;

// A new node for a target or storage object of an unsupported kind, kept is its content. NULL with
// text.
struct node *foreign_new(struct config *c, struct node *parent, const struct node_class *class,
			 const char *name, struct json_object *kept, struct err *e);
// The node of such a fabric or type of storage, created on demand. NULL with text.
struct node *kept_kind(struct config *c, struct node *parent, const char *name, struct err *e);
