// SPDX-License-Identifier: BSD-2-Clause
// The undo list of a change.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/tree/tree.h"

static int append(struct config *c, struct txn_entry entry)
{
	struct txn *t = &c->txn;
	if (t->count == t->room) {
		size_t room = t->room ? t->room * 2 : 16;
		struct txn_entry *grown = realloc(t->entries, room * sizeof *grown);
		if (!grown)
			return -ENOMEM;
		t->entries = grown;
		t->room = room;
	}
	t->entries[t->count++] = entry;
	return 0;
}

// With a copy of the bytes at before as the old value.
static int append_copy(struct config *c, struct txn_entry entry, const void *before, size_t size)
{
	entry.old = malloc(size);
	if (!entry.old || append(c, entry) < 0) {
		free(entry.old);
		return -ENOMEM;
	}
	memcpy(entry.old, before, size);
	return 0;
}

static int attach(struct config *c, struct node *parent, struct node *n)
{
	int r = node_attach(&c->names, parent, n);
	if (!r && n->class->attached)
		n->class->attached(c, n, true);
	return r;
}

static void detach(struct config *c, struct node *n)
{
	if (n->class->attached)
		n->class->attached(c, n, false);
	node_detach(&c->names, n);
}

int txn_attach(struct config *c, struct node *parent, struct node *n)
{
	if (append(c, (struct txn_entry){ .kind = TXN_ADDED, .node = n }) < 0)
		return -ENOMEM;
	int r = attach(c, parent, n);
	if (r < 0)
		c->txn.count--;
	else if (c->created.in == parent && !c->created.node)
		c->created.node = n;
	return r;
}

int txn_detach(struct config *c, struct node *n)
{
	const struct txn_entry entry = { .kind = TXN_REMOVED, .node = n, .parent = n->parent };
	if (append(c, entry) < 0)
		return -ENOMEM;
	detach(c, n);
	c->txn.has_removed = 1;
	return 0;
}

int txn_was(struct config *c, void *base, const void *before, size_t size)
{
	const struct txn_entry entry = { .kind = TXN_MEMORY, .base = base, .size = size };
	return append_copy(c, entry, before, size);
}

int txn_memory(struct config *c, void *base, size_t size)
{
	return txn_was(c, base, base, size);
}

int txn_change(struct config *c, void *base, const void *value, size_t size)
{
	if (!memcmp(base, value, size))
		return 0;
	int r = txn_memory(c, base, size);
	if (r < 0)
		return r;
	memcpy(base, value, size);
	return 1;
}

int txn_text(struct config *c, char **at, char *text)
{
	if (append(c, (struct txn_entry){ .kind = TXN_TEXT, .base = at, .old = *at }) < 0) {
		free(text);
		return -ENOMEM;
	}
	*at = text;
	return 0;
}

int txn_call(struct config *c, struct node *n, txn_call_fn *undo, txn_call_fn *commit)
{
	return append(c, (struct txn_entry){
				 .kind = TXN_CALL, .node = n, .undo = undo, .commit = commit });
}

int txn_kept(struct config *c, struct node *n, bool has_copy)
{
	struct json_object *copy = NULL;
	if (n->kept && has_copy && json_object_deep_copy(n->kept, &copy, NULL) < 0)
		return -ENOMEM;
	if (append(c, (struct txn_entry){ .kind = TXN_KEPT, .node = n, .old = n->kept }) < 0) {
		json_object_put(copy);
		return -ENOMEM;
	}
	n->kept = copy;
	return 0;
}

int txn_applied(struct config *c, struct node *n, const struct group_row *g,
		const struct attr_row *row, const char *old_text)
{
	const struct txn_entry entry = { .kind = TXN_APPLIED, .node = n, .group = g, .row = row };
	return append_copy(c, entry, old_text, strlen(old_text) + 1);
}

static void reset(struct txn *t)
{
	free(t->entries);
	*t = (struct txn){ 0 };
}

// It may hold credentials.
static void wipe(struct txn_entry *entry)
{
	if (entry->kind == TXN_MEMORY)
		explicit_bzero(entry->old, entry->size);
	free(entry->old);
}

static void undo_one(struct config *c, struct txn_entry *entry)
{
	switch (entry->kind) {
	case TXN_ADDED:
		detach(c, entry->node);
		break;
	case TXN_REMOVED:
		// Its slot in the table still exists: this cannot fail.
		attach(c, entry->parent, entry->node);
		break;
	case TXN_MEMORY:
		memcpy(entry->base, entry->old, entry->size);
		break;
	case TXN_APPLIED:
		entry->group->apply(c, entry->node, entry->row, entry->old, NULL);
		break;
	case TXN_KEPT:
		json_object_put(entry->node->kept);
		entry->node->kept = entry->old;
		return;
	case TXN_TEXT:
		free(*(char **)entry->base);
		*(char **)entry->base = entry->old;
		return;
	case TXN_CALL:
		if (entry->undo)
			entry->undo(c, entry->node);
		return;
	}
	wipe(entry);
}

struct txn_mark txn_mark(const struct config *c)
{
	return (struct txn_mark){ c->txn.count, c->txn.has_removed, c->txn.is_touched,
				  c->txn.is_forced };
}

void txn_touch(struct config *c)
{
	c->txn.is_touched = true;
}

bool txn_has_changed(const struct config *c, struct txn_mark mark)
{
	return c->txn.count > mark.count || (c->txn.is_touched && !mark.is_touched);
}

void txn_undo_to(struct config *c, struct txn_mark mark)
{
	struct txn *t = &c->txn;
	for (size_t i = t->count; i-- > mark.count;)
		undo_one(c, &t->entries[i]);
	for (size_t i = t->count; i-- > mark.count;)
		if (t->entries[i].kind == TXN_ADDED && t->entries[i].node->class->free)
			t->entries[i].node->class->free(c, t->entries[i].node);
	t->count = mark.count;
	t->has_removed = mark.has_removed;
	t->is_touched = mark.is_touched;
	t->is_forced = mark.is_forced;
}

void txn_undo(struct config *c)
{
	txn_undo_to(c, (struct txn_mark){ 0 });
	reset(&c->txn);
}

void txn_commit(struct config *c)
{
	struct txn t = c->txn;
	c->txn = (struct txn){ 0 };
	for (size_t i = 0; i < t.count; i++)
		if (t.entries[i].commit)
			t.entries[i].commit(c, t.entries[i].node);
	for (size_t i = 0; i < t.count; i++) {
		struct txn_entry *entry = &t.entries[i];
		if (entry->kind == TXN_REMOVED && entry->node->class->free)
			entry->node->class->free(c, entry->node);
		if (entry->kind == TXN_KEPT)
			json_object_put(entry->old);
		else
			wipe(entry);
	}
	reset(&t);
}
