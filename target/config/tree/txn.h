// SPDX-License-Identifier: BSD-2-Clause
// A change of the configuration: everything since the last end can be undone, in reverse order.
// Removed nodes are freed at the commit. Control thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct attr_row;
struct config;
struct group_row;
struct node;

enum txn_kind {
	TXN_ADDED,   // node was attached
	TXN_REMOVED, // node was detached from parent
	TXN_MEMORY,  // bytes at base were those at old
	TXN_APPLIED, // a live setting was changed; followed by the old text
	TXN_KEPT,    // node->kept was another object, referenced here
	TXN_TEXT,    // the string at base was old; both are malloc()ed or NULL
	TXN_CALL,    // undo or commit is called
};

// Called with the node of an entry.
typedef void txn_call_fn(struct config *c, struct node *n);

struct txn_entry {
	enum txn_kind kind;
	struct node *node, *parent;
	void *base;
	size_t size;
	void *old; // malloc()ed, except for TXN_KEPT
	const struct group_row *group;
	const struct attr_row *row;
	txn_call_fn *undo, *commit; // TXN_CALL
};

struct txn {
	struct txn_entry *entries;
	size_t count, room;
	int has_removed; // an object was deleted on purpose: the result may be empty
	bool is_touched;
	bool is_forced; // what sessions use may be taken from them
};

// Attaches n to parent and records it. -EEXIST, -ENOMEM.
int txn_attach(struct config *c, struct node *parent, struct node *n);
// Detaches n; detach its children first.
int txn_detach(struct config *c, struct node *n);
// Records size bytes at base before they change.
int txn_memory(struct config *c, void *base, size_t size);
// Records that they were those at old.
int txn_was(struct config *c, void *base, const void *old, size_t size);
// Records n's kept keys, which continue as a copy or empty.
int txn_kept(struct config *c, struct node *n, bool has_copy);
// Replaces a malloc()ed string or NULL with text (NULL: none), which it owns. -ENOMEM frees text.
int txn_text(struct config *c, char **at, char *text);
// Calls undo when the change is undone, commit at its end. NULL: nothing. -ENOMEM.
int txn_call(struct config *c, struct node *n, txn_call_fn *undo, txn_call_fn *commit);
// Copies size bytes from value to base, and records the change. 1: changed, 0: equal.
int txn_change(struct config *c, void *base, const void *value, size_t size);
// Records the old text of a live setting.
int txn_applied(struct config *c, struct node *n, const struct group_row *g,
		const struct attr_row *row, const char *old_text);

// Something has changed that is saved, but not undone.
void txn_touch(struct config *c);

// Changes after the mark can be undone separately.
struct txn_mark {
	size_t count;
	int has_removed;
	bool is_touched, is_forced;
};
struct txn_mark txn_mark(const struct config *c);
// Whether something has changed since.
bool txn_has_changed(const struct config *c, struct txn_mark mark);
void txn_undo_to(struct config *c, struct txn_mark mark);

void txn_undo(struct config *c);   // restores everything; frees new nodes
void txn_commit(struct config *c); // frees removed nodes
