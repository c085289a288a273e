// SPDX-License-Identifier: BSD-2-Clause
// Data lost by a change: a RAM disk that is deleted, recreated or reopened is empty. Control
// thread; examines the disks' memory.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/storage/lost_data.h"
#include "target/config/storage/storage.h"
#include "target/scsi/lu.h"

// The storage object that the entry of the transaction closes, or NULL.
static const struct storage *closed_by(const struct txn_entry *entry)
{
	bool is_closing = entry->kind == TXN_REMOVED || entry->commit; // reopens
	if (!is_closing || entry->node->class != &storage_class)
		return NULL;
	return NODE_OF(const struct storage, entry->node);
}

// Whether it, or another one with its name, exists afterwards.
static bool is_there(struct config *c, const struct storage *s)
{
	struct storage_type *st = storage_type_of(c, s->type->name);
	return node_child(&c->names, &st->node, s->node.name) != NULL;
}

unsigned lost_data(struct config *c, struct txn_mark since, struct json_object *lines,
		   const char **ret_first)
{
	unsigned count = 0;
	for (size_t i = since.count; i < c->txn.count; i++) {
		const struct storage *s = closed_by(&c->txn.entries[i]);
		char text[NAME_MAX_LEN + 80];
		if (!s || !storage_loses_data(s))
			continue;
		if (!count++)
			*ret_first = s->node.name;
		snprintf(text, sizeof text, "%s %s will be %s; its data will be lost",
			 s->type->name, s->node.name, is_there(c, s) ? "recreated" : "deleted");
		json_add_text(lines, text);
	}
	return count;
}

static bool has_memory(const struct storage *s)
{
	return s->lu && lu_backstore(s->lu)->limits.is_volatile;
}

// Whether one of its kind and name is taken out since the mark: lost_data() has it.
static bool is_replaced(struct config *c, struct txn_mark since, const struct storage *s)
{
	for (size_t i = since.count; c->txn.has_removed && i < c->txn.count; i++) {
		const struct storage *other = closed_by(&c->txn.entries[i]);
		if (other && other->type == s->type && !strcmp(other->node.name, s->node.name))
			return true;
	}
	return false;
}

void lost_before(struct config *c, struct txn_mark since, struct json_object *lines)
{
	for (size_t i = since.count; i < c->txn.count; i++) {
		const struct txn_entry *entry = &c->txn.entries[i];
		char text[NAME_MAX_LEN + 80];
		if (entry->kind != TXN_ADDED || entry->node->class != &storage_class)
			continue;
		const struct storage *s = NODE_OF(const struct storage, entry->node);
		if (!has_memory(s) || is_replaced(c, since, s))
			continue;
		snprintf(text, sizeof text, "%s %s is empty: its data was lost when it was deleted",
			 s->type->name, s->node.name);
		json_add_text(lines, text);
	}
}

int lost_data_refuse(unsigned count, const char *first, const char *what, struct err *e)
{
	char more[32] = "";
	if (!count)
		return 0;
	if (count > 1)
		snprintf(more, sizeof more, " and %u more", count - 1);
	return err_set(e, -EBUSY, "%.100s: the data of RAM disk %.60s%s would be lost (force=true)",
		       what, first, more);
}
