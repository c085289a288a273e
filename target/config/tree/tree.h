// SPDX-License-Identifier: BSD-2-Clause
// The tree of the configuration: its nodes with their classes, and changes of it within a
// transaction. Private to target/config; control thread.
#pragma once

#include <json-c/json.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/json/json.h"
#include "core/log.h"
#include "core/worker.h"
#include "target/config/tree/class.h"
#include "target/config/tree/node.h"
#include "target/config/tree/txn.h"

enum { NAME_MAX_LEN = 127 }; // of a storage object

// targetcli's global preferences that concern the daemon: automatic steps of create, and the number
// of backups.
struct prefs {
	uint32_t auto_add_default_portal, auto_add_mapped_luns, auto_enable_tpgt;
	uint32_t export_backstore_name_as_model, max_backup_files;
};

// Counts of operations since the start of the process, for tests of the work of a change: a clock
// would measure the machine.
extern struct config_work {
	unsigned long names; // numbers that number_free() tried
	unsigned long texts; // objects whose text for the saved file was built
	unsigned long ports; // ALUA ports set at logical units
} config_work;

struct config_change;
struct config_saved;
struct config_storage;
struct config_targets;

struct config {
	struct worker *control;
	struct prefs prefs;
	char *file, *state_dir, *socket;
	const struct command_row *every_node;	 // commands of every node
	const struct node_class *const *classes; // all, ends with NULL
	struct map names;			 // (parent, name) -> struct node
	struct node root, backstores;
	struct txn txn;
	struct config_client caller;
	struct {
		const struct node *in;	 // node of the running create, NULL: none
		const struct node *node; // the first node that it has attached
	} created;
	uint64_t generation;
	bool is_shutting_down;
	struct config_saved *saved;	// file/saved_file.h
	struct config_storage *storage; // storage/storage.h
	struct config_targets *targets; // targets/targets.h
	struct config_change *change;	// change/commit.h
};

#define NODE_OF(type, n) container_of((n), type, node)

// A new zeroed object of this size, which begins with its node. NULL with text: no memory.
void *tree_new(size_t size, const struct node_class *class, const char *name, struct err *e);
// Adds a new node to parent, or frees it. taken: the message if its name is in use. -EEXIST,
// -ENOMEM.
int tree_add(struct config *c, struct node *parent, struct node *n, struct err *e,
	     const char *taken, ...) __attribute__((format(printf, 5, 6)));
// Removes a node with everything below it and everything that uses it.
int tree_remove(struct config *c, struct node *n, struct err *e);
int tree_remove_children(struct config *c, struct node *n, struct err *e);
// Calls fn, until it fails, for the nodes whose children are entries of a document: fabrics, then
// types of storage. It may remove its node.
int tree_each_kind(struct config *c, int (*fn)(struct config *c, struct node *kind, void *arg),
		   void *arg);
// A new node of a saved file or of create exists: tells all classes. -ENOMEM with text.
int tree_appeared(struct config *c, struct node *n, struct reply *r, struct err *e);
// The summary of a node, by its class or by the number of its children.
void tree_summary(struct config *c, const struct node *n, struct summary *ret);
// A class's free for objects that are only a node and plain fields.
void tree_free(struct config *c, struct node *n);
// Calls changed of the nearest class that has it, from n upwards.
void tree_changed(struct config *c, struct node *n);
