// SPDX-License-Identifier: BSD-2-Clause
// The tree as a document in rtslib's form. Content that rtslib would refuse is in our own section
// at the top level, which rtslib ignores.
#include <string.h>

#include "target/config/file/saved.h"
#include "target/config/file/saved_file.h"

// The entries of every kind below n, such as the disks of every type or the targets of every
// fabric.
static void put_kinds(struct save *s, struct node *n, const char *list_key, struct json_object *doc)
{
	struct json_object *list = json_list(doc, list_key);
	list_each (struct node, kind, &n->children, link) {
		if (kind == &s->c->backstores)
			continue;
		list_each (struct node, entry, &kind->children, link)
			json_object_array_add(list, save_object(s, entry));
	}
}

// Fabrics with settings, or with unknown ones.
static struct json_object *fabric_list(struct save *s)
{
	struct json_object *list = json_object_new_array();
	list_each (struct node, n, &s->c->root.children, link) {
		if (!saved_is_fabric(n))
			continue;
		struct json_object *o = save_object(s, n);
		if (n->class->saved->is_set(n) || n->kept)
			json_object_array_add(list, o);
		else
			json_object_put(o);
	}
	return list;
}

static struct json_object *own_section(struct save *s)
{
	struct config *c = s->c;
	struct json_object *own = json_object_new_object();
	json_put_number(own, "version", SAVED_VERSION);
	if (c->saved->origin)
		json_object_object_add(own, "change", json_object_get(c->saved->origin));
	json_put_number(own, "generation", c->generation);
	save_group(s, c->root.class->groups, &c->root, json_part(own, SAVED_PREFS));
	if (!json_object_object_length(json_part(own, SAVED_PREFS)))
		json_object_object_del(own, SAVED_PREFS);
	json_object_object_add(own, "objects", json_object_get(s->objects));
	return own;
}

static struct json_object *document(struct config *c, bool has_texts)
{
	struct save s = { .c = c, .objects = json_object_new_object(), .has_texts = has_texts };
	struct json_object *doc = json_object_new_object();
	put_kinds(&s, &c->backstores, "storage_objects", doc);
	put_kinds(&s, &c->root, "targets", doc);
	json_object_object_add(doc, "fabric_modules", fabric_list(&s));
	json_object_object_add(doc, SAVED_SECTION, own_section(&s));
	save_merge(doc, c->root.kept);
	json_object_put(s.objects);
	save_done(&s);
	return doc;
}

struct json_object *save_document(struct config *c)
{
	return document(c, false);
}

char *save_text(struct config *c, size_t *ret_len)
{
	struct json_object *doc = document(c, true);
	char *text = json_write(doc, ret_len);
	json_object_put(doc);
	return text;
}
