// SPDX-License-Identifier: BSD-2-Clause
// The tree as a document of rtslib's shape. What rtslib would refuse stands in a section of
// our own at the top level, which rtslib ignores.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/frozen.h"
#include "target/config/model.h"
#include "target/config/saved.h"

// The text that the last object had for a part that most objects have alike.
struct memo {
	struct json_object *text; // NULL: none
	const struct backstore_type *type;
	struct lu_attr attr;
	struct alua_attr group;
};

struct save {
	struct config *c;
	struct json_object *doc;
	struct json_object *objects; // of our section: path -> object
	bool has_texts;		     // objects that are as they were come as their text
	struct frozen_key key;
	struct memo attributes, alua;
};

// How deep in the document the objects lie whose texts are kept: those of which there are many.
enum { STORAGE_DEPTH = 2, OWN_DEPTH = 3, LUN_DEPTH = 6, MAPPED_DEPTH = 8 };

// Attributes that older kernels do not know: written only when they say something.
static const char *const newer[] = { "emulate_rsoc", "submit_type", "netif_timeout", NULL };
// All that rtslib knows of a pass-through object.
static const char *const passthrough[] = { "alua_support", "emulate_pr", "pgr_support", NULL };

static bool is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

static void append(struct json_object *to, struct json_object *list)
{
	for (size_t i = 0; i < json_object_array_length(list); i++)
		json_object_array_add(to, json_object_get(json_object_array_get_idx(list, i)));
}

// Adds what was kept: missing keys as they are, objects merged, arrays appended.
static void merge(struct json_object *to, struct json_object *kept)
{
	if (!kept)
		return;
	json_object_object_foreach(kept, key, value)
	{
		struct json_object *there = json_field(to, key);
		if (!there)
			json_object_object_add(to, key, json_object_get(value));
		else if (json_object_is_type(there, json_type_object) &&
			 json_object_is_type(value, json_type_object))
			merge(there, value);
		else if (json_object_is_type(there, json_type_array) &&
			 json_object_is_type(value, json_type_array))
			append(there, value);
	}
}

// The node's object in our section, made when first needed.
static struct json_object *own_of(struct save *s, const struct node *n)
{
	char path[600];
	node_path(n, path, sizeof path);
	struct json_object *own = json_field(s->objects, path);
	if (!own) {
		own = json_object_new_object();
		json_object_object_add(s->objects, path, own);
	}
	return own;
}

static struct json_object *own_part(struct save *s, const struct node *n, const char *part)
{
	struct json_object *own = own_of(s, n), *o = json_field(own, part);
	if (!o) {
		o = json_object_new_object();
		json_object_object_add(own, part, o);
	}
	return o;
}

// ---- objects whose texts are kept ----

struct saved_kind {
	int depth;
	struct json_object *(*make)(struct save *s, struct node *n);
	// Everything that make() looks at, but for the name, the class and kept.
	void (*key)(struct frozen_key *k, struct node *n);
};

static struct json_object *reuse(struct save *s, const struct node *n)
{
	char path[600];
	if (n->frozen->own) {
		node_path(n, path, sizeof path);
		json_object_object_add(s->objects, path, json_object_get(n->frozen->own));
	}
	return json_object_get(n->frozen->value);
}

// A new reference to the object, or to its text.
static struct json_object *saved_object(struct save *s, const struct saved_kind *kind,
					struct node *n)
{
	char path[600];
	if (!s->has_texts)
		return kind->make(s, n);
	frozen_key_begin(&s->key);
	kind->key(&s->key, n);
	if (frozen_is(n->frozen, &s->key, n->kept))
		return reuse(s, n);
	frozen_free(n->frozen);
	config_work.texts++;
	struct json_object *o = kind->make(s, n);
	node_path(n, path, sizeof path);
	struct json_object *own = json_field(s->objects, path);
	n->frozen = frozen_new(&s->key, n->kept, o, kind->depth, own, OWN_DEPTH);
	if (!n->frozen)
		return o;
	json_object_put(o);
	return reuse(s, n);
}

static bool is_default(const struct attr_row *row, const char *text)
{
	return !strcmp(text, row->default_text ? row->default_text : "");
}

static struct json_object *values_of(struct save *s, const struct group_row *g, struct node *n,
				     const char *const *only)
{
	struct json_object *o = json_object_new_object();
	bool are_params = !strcmp(g->name, "parameter");
	for (const struct attr_row *row = group_rows(g); row->name; row++) {
		char text[1024];
		if (row->flags & ATTR_READONLY || (are_params && row->flags & ATTR_IGNORED))
			continue;
		group_get(g, n, row, text, sizeof text);
		bool is_own = row->flags & ATTR_OWN;
		bool is_silent = is_own || is_in(newer, row->name) ||
				 (only && !is_in(only, row->name)) ||
				 (are_params && !strcmp(row->name, "TargetAlias"));
		if (is_silent && is_default(row, text))
			continue;
		// An own setting, or one that rtslib does not have for this plugin.
		struct json_object *to =
			is_own || (only && !is_in(only, row->name)) ? own_part(s, n, g->name) : o;
		json_object_object_add(to, row->name,
				       are_params ? json_object_new_string(text)
						  : json_number_or_text(text));
	}
	return o;
}

static struct json_object *option_value(const struct storage *s, const struct bs_option *o,
					const char *text)
{
	uint64_t size;
	switch (o->type) {
	case BS_OPT_BOOL:
		return json_object_new_boolean(!strcasecmp(text, "true") || !strcmp(text, "1") ||
					       !strcasecmp(text, "yes") || !strcasecmp(text, "on"));
	case BS_OPT_SIZE:
		size = storage_size(s);
		return json_object_new_uint64(size);
	default:
		return json_object_new_string(text);
	}
}

// The options rtslib's constructor takes for a plugin; it refuses the object over any other.
static bool rtslib_takes(const char *plugin, const char *option)
{
	static const char *const taken[][5] = {
		{"block",	   "dev", "readonly", NULL },
		{ "fileio",	    "dev",	   "size",   "write_back", NULL },
		{ "ramdisk", "size",  "nullio",	       NULL },
		{ "pscsi",	   "dev",	  NULL},
	};
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		if (!strcmp(taken[i][0], plugin))
			return is_in(taken[i] + 1, option);
	return true; // a plugin rtslib does not have: all in one place
}

static struct json_object *alua_list(struct storage *s)
{
	struct json_object *list = json_object_new_array();
	list_for_each (i, &s->alua.children) {
		struct alua_node *g = NODE_OF(struct alua_node, list_entry(i, struct node, link));
		struct json_object *o = json_object_new_object();
		json_put_text(o, "name", g->node.name);
		for (const struct attr_row *row = alua_group_rows; row->name; row++) {
			char text[32];
			attr_get(row, &g->attr, text, sizeof text);
			// rtslib writes the group's number and otherwise what can be set.
			if (!(row->flags & ATTR_READONLY) || !strcmp(row->name, "tg_pt_gp_id"))
				json_object_object_add(o, row->name, json_number_or_text(text));
		}
		merge(o, g->node.kept);
		json_object_array_add(list, o);
	}
	return list;
}

// Keeps a text for objects that are alike; takes over made, returns what stands for it.
static struct json_object *memorize(struct memo *m, const struct storage *s,
				    struct json_object *made)
{
	json_object_put(m->text);
	m->text = json_frozen(made, STORAGE_DEPTH + 1);
	if (!m->text)
		return made;
	json_object_put(made);
	m->type = s->type;
	return json_object_get(m->text);
}

static struct json_object *saved_attributes(struct save *save, struct storage *s)
{
	struct memo *m = &save->attributes;
	bool is_plain = save->has_texts && !json_field(s->node.kept, "attributes");
	if (is_plain && m->text && m->type == s->type &&
	    !memcmp(&m->attr, &s->attr, sizeof m->attr))
		return json_object_get(m->text);
	char path[600];
	node_path(&s->node, path, sizeof path);
	struct json_object *o = values_of(save, storage_groups, &s->node,
					  s->type->is_passthrough ? passthrough : NULL);
	// What stands in our own section is no part of the text.
	if (!is_plain || json_field(json_field(save->objects, path), storage_groups[0].name))
		return o;
	m->attr = s->attr;
	return memorize(m, s, o);
}

// Nearly every object has the default group alone, which nobody has touched.
static struct json_object *saved_groups(struct save *save, struct storage *s)
{
	struct memo *m = &save->alua;
	const struct node *first = list_entry(s->alua.children.next, struct node, link);
	bool is_plain = save->has_texts && s->alua.child_count == 1 && !first->kept &&
			!json_field(s->node.kept, "alua_tpgs") &&
			!strcmp(first->name, ALUA_DEFAULT_GROUP);
	if (!is_plain)
		return alua_list(s);
	const struct alua_attr *attr = &NODE_OF(const struct alua_node, first)->attr;
	if (m->text && !memcmp(&m->group, attr, sizeof *attr))
		return json_object_get(m->text);
	m->group = *attr;
	return memorize(m, s, alua_list(s));
}

static struct json_object *storage_object(struct save *save, struct node *n)
{
	struct storage *s = NODE_OF(struct storage, n);
	struct json_object *o = json_object_new_object();
	const char *plugin = s->type->name;
	json_put_text(o, "name", s->node.name);
	json_put_text(o, "plugin", plugin);
	for (int i = 0; s->type->options[i].name; i++) {
		const struct bs_option *option = &s->type->options[i];
		const char *text = s->option[i];
		// A file that gave its own size has one now.
		if (!text && s->lu && !strcmp(option->name, "size"))
			text = "0";
		if (!text)
			continue;
		struct json_object *to = rtslib_takes(plugin, option->name)
						 ? o
						 : own_part(save, &s->node, "options");
		json_object_object_add(to, option->name, option_value(s, option, text));
	}
	// rtslib takes no wwn for pass-through objects.
	json_put_text(s->type->is_passthrough ? own_of(save, &s->node) : o, "wwn", s->wwn);
	json_object_object_add(o, "attributes", saved_attributes(save, s));
	json_object_object_add(o, "alua_tpgs", saved_groups(save, s));
	merge(o, s->node.kept);
	return o;
}

static void storage_key(struct frozen_key *k, struct node *n)
{
	struct storage *s = NODE_OF(struct storage, n);
	bool is_open = s->lu;
	uint64_t size = storage_size(s);
	frozen_key_add(k, &s->attr, sizeof s->attr);
	frozen_key_add(k, &is_open, sizeof is_open);
	frozen_key_add(k, &size, sizeof size);
	frozen_key_add_text(k, s->wwn);
	for (int i = 0; s->type->options[i].name; i++)
		frozen_key_add_text(k, s->option[i]);
	list_for_each (i, &s->alua.children) {
		struct alua_node *g = NODE_OF(struct alua_node, list_entry(i, struct node, link));
		frozen_key_add_text(k, g->node.name);
		frozen_key_add(k, &g->attr, sizeof g->attr);
		k->has_failed |= g->node.kept != NULL; // its address alone tells nothing
	}
}

static const struct saved_kind storage_kind = { STORAGE_DEPTH, storage_object, storage_key };

static void put_auth(struct json_object *o, const char *prefix, const struct view_auth *v)
{
	const struct {
		const char *name, *text;
	} rows[] = {
		{"userid",	    v->userid	      },
		{ "password",	      v->password	  },
		{ "mutual_userid",   v->mutual_userid  },
		{ "mutual_password", v->mutual_password}
	};
	for (int i = 0; i < 4; i++) {
		char key[64];
		snprintf(key, sizeof key, "%s_%s", prefix, rows[i].name);
		if (rows[i].text[0])
			json_put_text(o, key, rows[i].text);
	}
}

// What rtslib does not know of them.
static void put_own_auth(struct save *s, struct node *n, const char *group)
{
	const struct group_row *g = group_find(n->class, group);
	for (const struct attr_row *row = group_rows(g); row->name; row++) {
		char text[300];
		if (!(row->flags & ATTR_OWN))
			continue;
		group_get(g, n, row, text, sizeof text);
		if (*text)
			json_put_text(own_part(s, n, g->name), row->name, text);
	}
}

static struct json_object *lun_object(struct save *s, struct node *n)
{
	struct lun *l = NODE_OF(struct lun, n);
	struct json_object *o = json_object_new_object();
	char path[NAME_MAX_LEN + 80];
	json_put_text(o, "alias", l->alias);
	json_object_object_add(o, "index", json_object_new_int64(l->number));
	if (l->storage) {
		node_path(&l->storage->node, path, sizeof path);
		json_put_text(o, "storage_object", path);
	}
	json_put_text(o, "alua_tg_pt_gp_name", l->group);
	if (l->write_protect) // rtslib does not look at keys it does not know here
		json_object_object_add(o, "write_protect", json_object_new_boolean(1));
	merge(o, l->node.kept);
	return o;
}

static void lun_key(struct frozen_key *k, struct node *n)
{
	const struct lun *l = NODE_OF(const struct lun, n);
	frozen_key_add_text(k, l->alias);
	frozen_key_add(k, &l->number, sizeof l->number);
	frozen_key_add_text(k, l->group);
	frozen_key_add(k, &l->write_protect, sizeof l->write_protect);
	frozen_key_add_text(k, l->storage ? l->storage->type->name : NULL);
	frozen_key_add_text(k, l->storage ? l->storage->node.name : NULL);
}

static const struct saved_kind lun_kind = { LUN_DEPTH, lun_object, lun_key };

static struct json_object *mapped_object(struct save *s, struct node *n)
{
	struct mapped_lun *m = NODE_OF(struct mapped_lun, n);
	struct json_object *o = json_object_new_object();
	json_put_text(o, "alias", m->alias);
	json_object_object_add(o, "index", json_object_new_int64(m->number));
	json_object_object_add(o, "tpg_lun",
			       json_object_new_int64(m->lun ? m->lun->number : m->tpg_lun));
	json_object_object_add(o, "write_protect", json_object_new_boolean(m->is_write_protected));
	merge(o, m->node.kept);
	return o;
}

static void mapped_key(struct frozen_key *k, struct node *n)
{
	const struct mapped_lun *m = NODE_OF(const struct mapped_lun, n);
	uint32_t lun = m->lun ? m->lun->number : m->tpg_lun;
	frozen_key_add_text(k, m->alias);
	frozen_key_add(k, &m->number, sizeof m->number);
	frozen_key_add(k, &lun, sizeof lun);
	frozen_key_add(k, &m->is_write_protected, sizeof m->is_write_protected);
}

static const struct saved_kind mapped_kind = { MAPPED_DEPTH, mapped_object, mapped_key };

static struct json_object *acl_object(struct save *s, struct acl *a)
{
	struct json_object *o = json_object_new_object();
	struct json_object *mapped = json_object_new_array();
	json_put_text(o, "node_wwn", a->node.name);
	json_put_text(o, "tag", a->tag);
	if (a->node.class == &acl_class) {
		json_object_object_add(o, "attributes", values_of(s, acl_groups, &a->node, NULL));
		put_auth(o, "chap", &a->auth.auth);
		put_own_auth(s, &a->node, "auth");
	}
	list_for_each (i, &a->node.children)
		json_object_array_add(
			mapped, saved_object(s, &mapped_kind, list_entry(i, struct node, link)));
	json_object_object_add(o, "mapped_luns", mapped);
	merge(o, a->node.kept);
	return o;
}

static struct json_object *portal_object(struct save *s, struct portal_node *p)
{
	struct json_object *o = json_object_new_object();
	char host[TCP_ADDR_TEXT];
	uint16_t port;
	portal_split(p, host, &port);
	json_put_text(o, "ip_address", host);
	json_object_object_add(o, "port", json_object_new_int64(port));
	json_object_object_add(o, "iser", json_object_new_boolean(p->is_iser));
	json_object_object_add(o, "offload", json_object_new_boolean(p->is_offload));
	if (p->transports != PORTAL_ALL) // a key of ours; rtslib passes over it
		json_put_text(o, "transport", portal_transport_name(p->transports));
	json_object_put(values_of(s, portal_groups, &p->node, NULL)); // all of them are ours
	merge(o, p->node.kept);
	return o;
}

static struct json_object *tpg_object(struct save *s, struct tpg *tpg)
{
	struct json_object *o = json_object_new_object();
	struct json_object *luns = json_object_new_array();
	struct json_object *acls = json_object_new_array();
	struct json_object *portals = json_object_new_array();
	const struct group_row *params = group_find(tpg->node.class, "parameter");
	json_object_object_add(o, "tag", json_object_new_int64(tpg->tag));
	json_object_object_add(o, "enable", json_object_new_boolean((int)tpg->is_enabled));
	json_object_object_add(
		o, "attributes",
		values_of(s, group_find(tpg->node.class, "attribute"), &tpg->node, NULL));
	if (params) // SRP has none, and nobody to prove anything
		json_object_object_add(o, "parameters", values_of(s, params, &tpg->node, NULL));
	put_auth(o, "chap", &tpg->auth.auth);
	if (params)
		put_own_auth(s, &tpg->node, "auth");
	list_for_each (i, &tpg->luns.children)
		json_object_array_add(luns,
				      saved_object(s, &lun_kind, list_entry(i, struct node, link)));
	list_for_each (i, &tpg->acls.children)
		json_object_array_add(
			acls, acl_object(s, NODE_OF(struct acl, list_entry(i, struct node, link))));
	list_for_each (i, &tpg->portals.children)
		json_object_array_add(portals,
				      portal_object(s, NODE_OF(struct portal_node,
							       list_entry(i, struct node, link))));
	json_object_object_add(o, "luns", luns);
	json_object_object_add(o, "node_acls", acls);
	json_object_object_add(o, "portals", portals);
	json_object_object_add(own_of(s, &tpg->node), "relative_port",
			       json_object_new_int64(tpg->relative_port));
	return o;
}

// One node, but two objects in the file.
static struct json_object *srpt_target_object(struct save *s, struct node *n)
{
	struct json_object *o = json_object_new_object(), *rest = json_object_new_object();
	struct json_object *tpgs = json_object_new_array();
	struct json_object *tpg = tpg_object(s, NODE_OF(struct tpg, n));
	json_put_text(o, "fabric", "srpt");
	json_put_text(o, "wwn", n->name);
	json_object_array_add(tpgs, tpg);
	json_object_object_add(o, "tpgs", tpgs);
	if (n->kept) {
		json_object_object_foreach(n->kept, key, value)
		{
			if (!strcmp(key, "tpgs"))
				append(tpgs, value);
			else if (strcmp(key, SAVED_TARGET))
				json_object_object_add(rest, key, json_object_get(value));
		}
	}
	merge(tpg, rest);
	merge(o, json_field(n->kept, SAVED_TARGET));
	json_object_put(rest);
	return o;
}

static struct json_object *target_object(struct save *s, struct target *t)
{
	struct json_object *o = json_object_new_object();
	struct json_object *tpgs = json_object_new_array();
	json_put_text(o, "fabric", "iscsi");
	json_put_text(o, "wwn", t->node.name);
	list_for_each (i, &t->node.children) {
		struct node *n = list_entry(i, struct node, link);
		struct json_object *tpg = tpg_object(s, NODE_OF(struct tpg, n));
		merge(tpg, n->kept);
		json_object_array_add(tpgs, tpg);
	}
	json_object_object_add(o, "tpgs", tpgs);
	merge(o, t->node.kept);
	return o;
}

// Once, before key and text: initiators change states meanwhile, and both have to tell the same.
static void pull_groups(struct storage *s)
{
	list_for_each (i, &s->alua.children)
		alua_pull(NODE_OF(struct alua_node, list_entry(i, struct node, link)));
}

static struct json_object *saved_storage(struct save *s, struct node *n)
{
	if (n->class != &storage_class)
		return json_object_get(n->kept);
	pull_groups(NODE_OF(struct storage, n));
	return saved_object(s, &storage_kind, n);
}

static struct json_object *storage_list(struct save *s)
{
	struct json_object *list = json_object_new_array();
	list_for_each (i, &s->c->backstores.children) {
		struct node *type = list_entry(i, struct node, link);
		list_for_each (j, &type->children)
			json_object_array_add(list,
					      saved_storage(s, list_entry(j, struct node, link)));
	}
	return list;
}

static struct json_object *target_list(struct save *s)
{
	struct json_object *list = json_object_new_array();
	list_for_each (i, &s->c->iscsi.children) {
		struct node *n = list_entry(i, struct node, link);
		json_object_array_add(list, target_object(s, NODE_OF(struct target, n)));
	}
	list_for_each (i, &s->c->srpt.children)
		json_object_array_add(list,
				      srpt_target_object(s, list_entry(i, struct node, link)));
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
		put_auth(o, "discovery", &d->auth);
		put_own_auth(s, &c->iscsi, "discovery_auth");
		merge(o, c->iscsi.kept);
		json_object_array_add(list, o);
	}
	return list;
}

// Only what somebody has changed.
static struct json_object *changed_prefs(struct config *c)
{
	struct json_object *o = NULL;
	for (const struct attr_row *row = pref_rows; row->name; row++) {
		char text[8];
		attr_get(row, &c->prefs, text, sizeof text);
		if (is_default(row, text))
			continue;
		if (!o)
			o = json_object_new_object();
		json_object_object_add(o, row->name, json_object_new_boolean(*text == '1'));
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
	json_object_object_add(own, "generation", json_object_new_uint64(c->generation));
	struct json_object *prefs = changed_prefs(c);
	if (prefs)
		json_object_object_add(own, SAVED_PREFS, prefs);
	json_object_object_add(own, "objects", s.objects);
	json_object_object_add(s.doc, SAVED_SECTION, own);
	merge(s.doc, c->root.kept);
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
