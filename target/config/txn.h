// SPDX-License-Identifier: BSD-2-Clause
// One change of the configuration: everything done since the last end can be undone, in
// reverse order. Nodes that were taken out live until the commit. Control thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct attr_row;
struct config;
struct group_row;
struct lun;
struct node;
struct storage;

enum txn_kind {
	TXN_ADDED,   // node was attached
	TXN_REMOVED, // node was detached from parent
	TXN_MEMORY,  // bytes at base held what old holds
	TXN_APPLIED, // a live setting was changed; old text is behind it
	TXN_KEPT,    // node->kept was another object, of which one reference is held
	TXN_TEXT,    // the string at base was old; both are malloc()ed or NULL
	TXN_LINKED,  // the LUN node led nowhere
	TXN_REOPEN,  // the storage object node opens again when the change is in force
};

struct txn_entry {
	enum txn_kind kind;
	struct node *node, *parent;
	void *base;
	size_t size;
	void *old; // malloc()ed, but for TXN_KEPT
	const struct group_row *group;
	const struct attr_row *row;
};

struct txn {
	struct txn_entry *entries;
	size_t count, room;
	int has_removed; // something was taken out on purpose: the result may be empty
};

// Attaches n under parent and remembers it. -EEXIST, -ENOMEM.
int txn_attach(struct config *c, struct node *parent, struct node *n);
// Detaches n (children go with it untouched: detach them first).
int txn_detach(struct config *c, struct node *n);
// Remembers size bytes at base before they change.
int txn_memory(struct config *c, void *base, size_t size);
// Remembers what n keeps for others. It goes on with a copy, or with nothing.
int txn_kept(struct config *c, struct node *n, bool has_copy);
// Puts text (NULL: none; taken over) where a malloc()ed string or NULL is. -ENOMEM frees it.
int txn_text(struct config *c, char **at, char *text);
// Lets a LUN without storage lead to s. -ENOMEM.
int txn_link(struct config *c, struct lun *l, struct storage *s);
// The storage object n is to be opened again with the commit.
int txn_reopen(struct config *c, struct node *n);
// Changes size bytes at base to what is at value, and remembers. 1: changed, 0: they were the same.
int txn_change(struct config *c, void *base, const void *value, size_t size);
// Remembers that the running object has to get its old text back.
int txn_applied(struct config *c, struct node *n, const struct group_row *g,
		const struct attr_row *row, const char *old_text);

// What is done after the mark can be undone alone.
struct txn_mark {
	size_t count;
	int has_removed;
};
struct txn_mark txn_mark(const struct config *c);
void txn_undo_to(struct config *c, struct txn_mark mark);

void txn_undo(struct config *c);   // everything is as before; new nodes are freed
void txn_commit(struct config *c); // removed nodes are freed
