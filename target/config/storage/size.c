// SPDX-License-Identifier: BSD-2-Clause
// Sizes in a document that is applied: a disk in a file or device keeps its size when its object
// is recreated, so another size is refused before anything changes. Control thread.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target/config/file/restore.h"
#include "target/config/storage/storage.h"
#include "target/scsi/lu.h"

static bool has_size(const struct backstore_type *type)
{
	for (const struct bs_option *o = type->options; o->name; o++)
		if (o->type == BS_OPT_SIZE)
			return true;
	return false;
}

// The open disk on the file or device of a document's object, of the same type, or NULL.
static const struct storage *open_disk(struct config *c, const char *plugin, const char *dev)
{
	const struct storage *s = storage_at(c, dev);
	const struct storage_type *st = plugin ? storage_type_of(c, plugin) : NULL;
	return s && s->lu && st && s->type == st->type && has_size(s->type) ? s : NULL;
}

// Like storage, ignores bytes that are less than a block. 0: no size.
static uint64_t size_in(const struct storage *s, struct json_object *o)
{
	const char *text = json_scalar(json_field(o, "size"));
	uint64_t size = 0;
	if (!text || parse_size(text, &size, NULL) < 0)
		return 0;
	return size - size % lu_backstore(s->lu)->limits.block_size;
}

// A disk in memory that a document describes, or NULL: it has no path, but a serial number.
static const struct storage *same_memory(struct config *c, const char *plugin,
					 struct json_object *o)
{
	const char *name = json_text(o, "name"), *wwn = json_text(o, "wwn");
	struct storage_type *st = plugin && name ? storage_type_of(c, plugin) : NULL;
	struct node *n = st ? node_child(&c->names, &st->node, name) : NULL;
	const struct storage *s = n ? NODE_OF(const struct storage, n) : NULL;
	bool is_same = s && s->lu && !storage_get_option(s, "dev") && has_size(s->type) && wwn &&
		       !strcasecmp(wwn, s->wwn);
	return is_same ? s : NULL;
}

// Undo leaves the size of a disk, and says so.
int storage_check_size(struct config *c, struct json_object *o, const struct restore_options *how,
		       struct json_object *notes, struct err *e)
{
	const char *plugin = json_text(o, "plugin"), *name = json_text(o, "name");
	const struct storage *s = open_disk(c, plugin, json_text(o, "dev"));
	if (!s && how->is_undo && !how->is_forced) // others recreate it
		s = same_memory(c, plugin, o);
	uint64_t wanted = s ? size_in(s, o) : 0, size = s ? storage_size(s) : 0;
	struct err why = { 0 };
	if (how->only_target || !name || !wanted || wanted == size ||
	    !storage_is_meant(how->only_storage, plugin, name))
		return 0;
	int code = err_set(&why, -EBUSY,
			   "%s %s: size: cannot %s from %" PRIu64 " to %" PRIu64 " bytes%s", plugin,
			   name, wanted < size ? "shrink" : "grow", size, wanted,
			   wanted < size ? "" : " (run resize)");
	if (how->is_undo && notes) {
		json_add_text(notes, why.text);
		return 0;
	}
	if (e)
		*e = why;
	return code;
}

void restore_true_size(struct restore *r, struct storage *s, const struct storage *leaving)
{
	const char *dev = storage_get_option(s, "dev"), *text = storage_get_option(s, "size");
	const struct storage *now = leaving ? leaving : open_disk(r->c, s->type->name, dev);
	char size[24];
	if (!r->options->is_running || !dev || !text || !now || !now->lu || now->type != s->type)
		return;
	snprintf(size, sizeof size, "%" PRIu64, storage_size(now));
	if (storage_set_option(s, "size", size, NULL) < 0)
		restore_complain(r, "%s: out of memory", s->node.name);
}
