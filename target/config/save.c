// SPDX-License-Identifier: BSD-2-Clause
// The tree as a document in rtslib's form. Content that rtslib would refuse is in our own section
// at the top level, which rtslib ignores.
#include "target/config/save.h"
#include "target/config/saved.h"

static struct json_object *storage_list(struct save *s)
{
	struct json_object *list = json_object_new_array();
	list_for_each (i, &s->c->backstores.children) {
		struct node *type = list_entry(i, struct node, link);
		list_for_each (j, &type->children)
			json_object_array_add(list,
					      save_storage(s, list_entry(j, struct node, link)));
	}
	return list;
}

static struct json_object *target_list(struct save *s)
{
	struct json_object *list = json_object_new_array();
	list_for_each (i, &s->c->iscsi.children) {
		struct node *n = list_entry(i, struct node, link);
		json_object_array_add(list, save_target(s, NODE_OF(struct target, n)));
	}
	list_for_each (i, &s->c->srpt.children)
		json_object_array_add(list, save_srpt_target(s, list_entry(i, struct node, link)));
	list_for_each (i, &s->c->root.children) {
		struct node *fabric = list_entry(i, struct node, link);
		if (fabric->class != &fabric_class)
			continue;
		list_for_each (j, &fabric->children)
			json_object_array_add(
				list, json_object_get(list_entry(j, struct node, link)->kept));
	}
	return list;
}

static struct json_object *fabric_list(struct save *s, struct config *c)
{
	struct json_object *list = json_object_new_array();
	const struct auth_group *d = &c->discovery;
	if (d->enable || d->auth.userid[0] || d->auth.mutual_userid[0] || c->iscsi.kept) {
		struct json_object *o = json_object_new_object();
		json_put_text(o, "name", "iscsi");
		json_object_object_add(o, "discovery_enable_auth",
				       json_object_new_boolean((int)d->enable));
		save_put_auth(o, "discovery", &d->auth);
		save_put_own_auth(s, &c->iscsi, "discovery_auth");
		save_merge(o, c->iscsi.kept);
		json_object_array_add(list, o);
	}
	return list;
}

// Only changed values.
static struct json_object *changed_prefs(struct config *c)
{
	struct json_object *o = NULL;
	for (const struct attr_row *row = pref_rows; row->name; row++) {
		char text[16];
		attr_get(row, &c->prefs, text, sizeof text);
		if (save_is_default(row, text))
			continue;
		if (!o)
			o = json_object_new_object();
		json_object_object_add(o, row->name,
				       row->type == ATTR_BOOL
					       ? json_object_new_boolean(*text == '1')
					       : json_object_new_int64(atoll(text)));
	}
	return o;
}

static struct json_object *document(struct config *c, bool has_texts)
{
	struct save s = {
		.c = c,
		.doc = json_object_new_object(),
		.objects = json_object_new_object(),
		.has_texts = has_texts,
	};
	struct json_object *own = json_object_new_object();
	json_object_object_add(s.doc, "storage_objects", storage_list(&s));
	json_object_object_add(s.doc, "targets", target_list(&s));
	json_object_object_add(s.doc, "fabric_modules", fabric_list(&s, c));
	json_object_object_add(own, "version", json_object_new_int64(SAVED_VERSION));
	if (c->change.saved)
		json_object_object_add(own, "change", json_object_get(c->change.saved));
	json_object_object_add(own, "generation", json_object_new_uint64(c->generation));
	struct json_object *prefs = changed_prefs(c);
	if (prefs)
		json_object_object_add(own, SAVED_PREFS, prefs);
	json_object_object_add(own, "objects", s.objects);
	json_object_object_add(s.doc, SAVED_SECTION, own);
	save_merge(s.doc, c->root.kept);
	frozen_key_done(&s.key);
	json_object_put(s.attributes.text);
	json_object_put(s.alua.text);
	return s.doc;
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
