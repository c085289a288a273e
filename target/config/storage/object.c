// SPDX-License-Identifier: BSD-2-Clause
// Creates and finds storage objects.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/file/kept.h"
#include "target/config/storage/storage.h"
#include "target/config/tree/names.h"

struct storage_type *storage_type_of(struct config *c, const char *name)
{
	// Other spellings in old saved files.
	static const char *const alias[][2] = {
		{"iblock",  "block"  },
		       { "rd_mcp", "ramdisk"}
	};
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(name, alias[i][0]))
			name = alias[i][1];
	for (unsigned i = 0; i < c->storage->type_count; i++)
		if (!strcmp(c->storage->types[i].node.name, name))
			return &c->storage->types[i];
	return NULL;
}

static int add_alua(struct config *c, struct storage *s, struct err *e)
{
	struct alua_node *g;
	if (txn_attach(c, &s->node, &s->alua) < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", s->node.name);
	return alua_new(c, &g, s, ALUA_DEFAULT_GROUP, 0, e);
}

int storage_new(struct config *c, struct storage **ret, const struct backstore_type *type,
		const char *name, struct err *e)
{
	struct storage_type *st = storage_type_of(c, type->name);
	int r = name_check_storage(name, e);
	if (r < 0)
		return r;
	struct storage *s = tree_new(sizeof *s, st->objects, name, e);
	if (!s)
		return -ENOMEM;
	if (node_init(&s->alua, &alua_class, "alua") < 0) {
		tree_free(c, &s->node);
		return err_set(e, -ENOMEM, "%s: out of memory", name);
	}
	s->type = type;
	s->config = c;
	list_init(&s->luns);
	list_init(&s->waiting_link);
	attr_defaults(lu_attr_rows, &s->attr);
	name_new_uuid(s->wwn);
	snprintf(s->reason, sizeof s->reason, "not opened yet");
	r = tree_add(c, &st->node, &s->node, e, "storage object %s/%s already exists", type->name,
		     name);
	if (!r && !type->is_passthrough)
		r = add_alua(c, s, e);
	if (!r)
		*ret = s;
	return r;
}

struct storage *storage_find(struct config *c, const char *path)
{
	char full[400];
	if (*path != '/') {
		snprintf(full, sizeof full, "/backstores/%s", path);
		path = full;
	}
	struct node *n = node_at(&c->names, &c->root, path);
	bool is_storage = n && n->parent && n->parent->parent == &c->backstores &&
			  n->class != &foreign_storage_class;
	return is_storage ? NODE_OF(struct storage, n) : NULL;
}

struct storage *storage_at(const struct config *c, const char *dev)
{
	return dev ? map_get(&c->storage->paths, &c->storage->paths, dev) : NULL;
}

// "rd0", "ramdisk/rd0", "ramdisk:rd0", "/backstores/ramdisk/rd0"
bool storage_is_meant(const char *wanted, const char *plugin, const char *name)
{
	static const char top[] = "/backstores/";
	if (!wanted || !strcmp(wanted, name))
		return true;
	if (!strncmp(wanted, top, strlen(top)))
		wanted += strlen(top);
	size_t n = strlen(plugin);
	return !strncmp(wanted, plugin, n) && strchr("/:", wanted[n]) && wanted[n] &&
	       !strcmp(wanted + n + 1, name);
}
