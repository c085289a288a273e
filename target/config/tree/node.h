// SPDX-License-Identifier: BSD-2-Clause
// Nodes of the configuration tree. Every object of the model begins with one; its class defines its
// operations. Control thread.
#pragma once

#include <stdbool.h>

#include "core/list.h"
#include "target/config/tree/map.h"

struct config;
struct frozen;
struct json_object;
struct node_class;

struct node {
	const struct node_class *class;
	struct node *parent; // NULL for the root and while detached
	char *name;
	struct list link; // in parent->children, in the order of creation
	struct list children;
	unsigned child_count;
	bool is_fixed;		  // exists as long as its parent
	bool is_named;		  // by the document being applied: restore_object.c
	unsigned numbers_taken;	  // lowest number that may be free as a suffix of a child's name
	struct json_object *kept; // unknown keys of the saved file
	struct frozen *frozen;	  // its text in the saved file: save.c
};

// Fills a zeroed node; name is copied. -ENOMEM.
int node_init(struct node *n, const struct node_class *class, const char *name);
// Frees the name, the unknown keys and the text. The node is detached and has no children.
void node_done(struct node *n);

// Attaches a detached node to parent. -EEXIST: the name is in use; -ENOMEM.
int node_attach(struct map *names, struct node *parent, struct node *n);
void node_detach(struct map *names, struct node *n);

struct node *node_child(const struct map *names, const struct node *parent, const char *name);
// "/", "/iscsi/iqn...", with or without a slash at the end; NULL: no such node.
struct node *node_at(const struct map *names, struct node *root, const char *path);
// The same in a configuration (tree.c).
struct node *config_node(struct config *c, const char *path);
// The absolute path, at most size bytes; returns its length.
size_t node_path(const struct node *n, char *out, size_t size);
// " (PATH has it)", for the error of a command at the node above.
void node_hint(const struct node *n, char *out, size_t size);

// The children sorted for display, trailing numbers by value (lun2 before lun10). For free(); NULL:
// no children, or no memory.
struct node **node_sorted(const struct node *n);

// "lun12" with prefix "lun" -> 12, also "12"; -1: neither, or above max.
int number_of(const char *text, const char *prefix, int max);
