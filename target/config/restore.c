// SPDX-License-Identifier: BSD-2-Clause
// From a document of rtslib's shape to the tree. Nothing in it is lost: what is not
// understood, not served here, or wrong, is kept where it was and saved again; only the user
// is told. Objects that cannot be opened wait.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/model.h"
#include "target/config/saved.h"

struct restore {
	struct config *c;
	const struct restore_options *options;
	struct json_object *errors;
	struct json_object *objects; // our section
	struct map told;	     // unknown keys that were reported
	struct json_object *told_keys;
};

typedef int (*entry_fn)(struct restore *r, void *parent, struct json_object *entry, struct err *e);

static void complain(struct restore *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void complain(struct restore *r, const char *fmt, ...)
{
	char line[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	json_object_array_add(r->errors, json_object_new_string(line));
}

// Keeps kept[key] = value, or appends when it is an array of leftovers.
static void keep(struct node *n, const char *key, struct json_object *value)
{
	if (!n->kept)
		n->kept = json_object_new_object();
	json_object_object_add(n->kept, key, json_object_get(value));
}

static void keep_in(struct node *n, const char *part, const char *key, struct json_object *value)
{
	if (!n->kept)
		n->kept = json_object_new_object();
	struct json_object *o = json_field(n->kept, part);
	if (!json_object_is_type(o, json_type_object)) {
		o = json_object_new_object();
		json_object_object_add(n->kept, part, o);
	}
	json_object_object_add(o, key, json_object_get(value));
}

static void keep_entry(struct node *n, const char *key, struct json_object *entry)
{
	if (!n->kept)
		n->kept = json_object_new_object();
	struct json_object *list = json_field(n->kept, key);
	if (!json_object_is_type(list, json_type_array)) {
		list = json_object_new_array();
		json_object_object_add(n->kept, key, list);
	}
	json_object_array_add(list, json_object_get(entry));
}

// Each key once, however many objects have it.
static void tell_unknown(struct restore *r, const char *what, const char *key, const char *where)
{
	// Known to rtslib, meaningless here, and kept: nothing to tell.
	static const char *const quiet[] = { "aio", "write_back", "exclusive", "exists",
					     "buffered_mode" };
	for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++)
		if (!strcmp(key, quiet[i]))
			return;
	if (map_get(&r->told, what, key))
		return;
	struct json_object *copy = json_object_new_string(key);
	json_object_array_add(r->told_keys, copy);
	map_put(&r->told, what, json_object_get_string(copy), copy);
	complain(r, "%s: unknown %s '%.60s', kept", where, what, key);
}

// Every key of o that is not in known is kept in the node.
static void keep_unknown(struct restore *r, struct node *n, struct json_object *o,
			 const char *const *known)
{
	json_object_object_foreach(o, key, value)
	{
		bool is_known = false;
		for (const char *const *k = known; *k; k++)
			is_known |= !strcmp(*k, key);
		if (is_known)
			continue;
		tell_unknown(r, "key", key, n->name);
		keep(n, key, value);
	}
}

static struct json_object *own_section(struct restore *r, const struct node *n)
{
	char path[600];
	node_path(n, path, sizeof path);
	return json_field(r->objects, path);
}

static void set_values(struct restore *r, const struct group_row *g, struct node *n,
		       struct json_object *values, const char *part)
{
	if (!json_object_is_type(values, json_type_object))
		return;
	json_object_object_foreach(values, key, value)
	{
		const struct attr_row *row = attr_find(g->rows(n), key);
		const char *text = json_scalar(value);
		struct err e = { 0 };
		bool is_readonly = row && row->flags & ATTR_READONLY;
		if (row && !is_readonly && text && !group_set(g, n, row, text, &e))
			continue;
		if (is_readonly)
			; // ours to say, theirs to keep
		else if (!row)
			tell_unknown(r, g->name, key, n->name);
		else
			complain(r, "%s: %s, kept without effect", n->name,
				 text ? e.text : "a value that is no scalar");
		if (part)
			keep_in(n, part, key, value);
	}
}

static void set_group(struct restore *r, struct node *n, const char *name, struct json_object *o,
		      const char *part)
{
	const struct group_row *g = group_find(n->class, name);
	set_values(r, g, n, json_field(o, part), part);
	set_values(r, g, n, json_field(own_section(r, n), name), NULL);
}

static void set_auth(struct restore *r, const struct node *n, struct auth_group *a,
		     struct json_object *o, const char *prefix)
{
	for (const struct attr_row *row = auth_rows; row->name; row++) {
		char key[64];
		struct err e = { 0 };
		snprintf(key, sizeof key, "%s_%s", prefix, row->name);
		const char *text = json_text(o, key);
		if (text && attr_set(row, a, text, &e) < 0)
			complain(r, "%s: %s", n->name, e.text);
	}
}

static void each(struct restore *r, struct node *n, void *parent, struct json_object *o,
		 const char *key, entry_fn fn)
{
	struct json_object *list = json_field(o, key);
	if (!list)
		return;
	if (!json_object_is_type(list, json_type_array)) {
		complain(r, "%s: '%s' is no array, ignored", n->name, key);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);
		struct err e = { 0 };
		int code = json_object_is_type(entry, json_type_object)
				   ? fn(r, parent, entry, &e)
				   : err_set(&e, -EINVAL, "is no object");
		if (code < 0) {
			complain(r, "%s: %s[%zu]: %s, kept without effect", n->name, key, i,
				 e.text);
			keep_entry(n, key, entry);
		}
	}
}

static int number_field(struct json_object *o, const char *key, int max, struct err *e)
{
	struct json_object *v = json_field(o, key);
	const char *text = json_scalar(v);
	int n = text ? number_of(text, "", max) : -1;
	if (!v)
		return err_set(e, -EINVAL, "'%s' is missing", key);
	return n < 0 ? err_set(e, -EINVAL, "'%s' is no number in 0..%d", key, max) : n;
}

// ---- storage objects ----

static bool is_option(const struct storage *s, const char *key)
{
	for (const struct bs_option *o = s->type->options; o->name; o++)
		if (!strcmp(o->name, key))
			return true;
	return false;
}

static void set_options(struct restore *r, struct storage *s, struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object))
		return;
	json_object_object_foreach(o, key, value)
	{
		const char *text = json_scalar(value);
		struct err e = { 0 };
		if (!is_option(s, key) || (text && !*text))
			continue;
		if (!text)
			complain(r, "%s: %s is no scalar", s->node.name, key);
		else if (storage_set_option(s, key, text, &e) < 0)
			complain(r, "%s: %s", s->node.name, e.text);
	}
}

static void keep_storage_keys(struct restore *r, struct storage *s, struct json_object *o)
{
	static const char *const known[] = { "name",	   "plugin",	"wwn",
					     "attributes", "alua_tpgs", NULL };
	const char *all[STORAGE_OPTIONS_MAX + 8];
	size_t n = 0;
	for (const char *const *k = known; *k; k++)
		all[n++] = *k;
	for (const struct bs_option *option = s->type->options; option->name; option++)
		all[n++] = option->name;
	all[n] = NULL;
	keep_unknown(r, &s->node, o, all);
}

static int add_foreign_storage(struct restore *r, const char *plugin, const char *name,
			       struct json_object *o, struct err *e)
{
	struct config *c = r->c;
	struct node *n = node_child(&c->names, &c->backstores, plugin);
	if (strchr(plugin, '/') || !*plugin || name_check_storage(name, e) < 0)
		return err_set(e, -EINVAL, "'%.40s/%.80s' is no name", plugin, name);
	if (!n) {
		int code = foreign_new(c, &c->backstores, &fabric_class, plugin, NULL, e);
		if (code < 0)
			return code;
		n = node_child(&c->names, &c->backstores, plugin);
	}
	complain(r, "storage object %s: plugin '%s' is not served here, kept", name, plugin);
	return foreign_new(c, n, &foreign_storage_class, name, o, e);
}

static int add_alua_group(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	struct storage *s = parent;
	const char *name = json_text(o, "name");
	struct alua_node *g;
	struct node *there;
	if (!name)
		return err_set(e, -EINVAL, "'name' is missing");
	there = node_child(&r->c->names, &s->alua, name);
	if (there) {
		g = NODE_OF(struct alua_node, there);
	} else {
		int id = number_field(o, "tg_pt_gp_id", 65535, e);
		int code = id < 0 ? id : alua_check_name(s, name, (uint32_t)id, e);
		if (!code)
			code = alua_new(r->c, &g, s, name, (uint32_t)id, e);
		if (code < 0)
			return code;
	}
	json_object_object_foreach(o, key, value)
	{
		const struct attr_row *row = attr_find(alua_group_rows, key);
		const char *text = json_scalar(value);
		struct err why = { 0 };
		if (!strcmp(key, "name") || (row && row->flags & ATTR_READONLY))
			continue;
		if (row && text && !attr_set(row, &g->attr, text, &why))
			continue;
		if (row)
			complain(r, "%s: %s: %s", s->node.name, name, why.text);
		else
			tell_unknown(r, "alua key", key, s->node.name);
		keep(&g->node, key, value);
	}
	return 0;
}

static int add_storage(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	const char *plugin = json_text(o, "plugin"), *name = json_text(o, "name");
	struct storage *s;
	if (!plugin || !name)
		return err_set(e, -EINVAL, "'plugin' or 'name' is missing");
	if (r->options->only_storage && strcmp(r->options->only_storage, name))
		return 0;
	struct storage_type *st = storage_type_of(r->c, plugin);
	if (!st)
		return add_foreign_storage(r, plugin, name, o, e);
	if (r->options->is_running && node_child(&r->c->names, &st->node, name)) {
		complain(r, "storageobject '%s:%s' exist not restoring", plugin, name);
		return 0;
	}
	int code = storage_new(r->c, &s, st->type, name, e);
	if (code < 0)
		return code;
	struct json_object *own = own_section(r, &s->node);
	const char *wwn = json_text(o, "wwn") ? json_text(o, "wwn") : json_text(own, "wwn");
	struct err why = { 0 };
	if (wwn && !name_check_wwn(wwn, &why))
		snprintf(s->wwn, sizeof s->wwn, "%s", wwn);
	else if (wwn)
		complain(r, "%s: %s; a new one was made up", name, why.text);
	set_options(r, s, o);
	set_options(r, s, json_field(own, "options"));
	set_group(r, &s->node, "attribute", o, "attributes");
	if (!s->type->is_passthrough)
		each(r, &s->node, s, o, "alua_tpgs", add_alua_group);
	else if (json_object_is_type(json_field(o, "alua_tpgs"), json_type_array))
		keep(&s->node, "alua_tpgs", json_field(o, "alua_tpgs"));
	keep_storage_keys(r, s, o);
	storage_class.attached(r->c, &s->node, true); // its device path is known now
	if (!r->options->is_dry && storage_open(s, false, &why) < 0)
		complain(r, "storage object %s/%s waits: %s", st->node.name, name, why.text);
	return 0;
}

// ---- targets ----

static int add_lun(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "index", "alias", "write_protect",
					     "alua_tg_pt_gp_name", NULL };
	static const char *const linked[] = { "index",		"alias",
					      "write_protect",	"alua_tg_pt_gp_name",
					      "storage_object", NULL };
	struct tpg *tpg = parent;
	const char *path = json_text(o, "storage_object"), *alias = json_text(o, "alias");
	const char *group = json_text(o, "alua_tg_pt_gp_name");
	struct lun *l;
	int number = number_field(o, "index", 65535, e);
	if (number < 0)
		return number;
	struct storage *s = path ? storage_find(r->c, path) : NULL;
	int code = lun_new(r->c, &l, tpg, (uint32_t)number, s, e);
	if (code < 0)
		return code;
	if (alias)
		snprintf(l->alias, sizeof l->alias, "%s", alias);
	l->write_protect = (uint32_t)json_object_get_boolean(json_field(o, "write_protect"));
	if (group && *group)
		snprintf(l->group, sizeof l->group, "%s", group);
	if (s && !node_child(&r->c->names, &s->alua, l->group) && !s->type->is_passthrough)
		complain(r, "LUN %d: no ALUA group '%s', the default one serves", number, l->group);
	if (!s)
		complain(r, "LUN %d: no storage object %.120s, the LUN is kept without it", number,
			 path ? path : "is named");
	if (number > LUN_MAX)
		complain(r, "LUN %d: is above %d and not shown to initiators", number, LUN_MAX);
	keep_unknown(r, &l->node, o, s ? linked : known);
	return 0;
}

static int add_portal(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "ip_address", "port", "iser", "offload", NULL };
	const char *host = json_text(o, "ip_address");
	struct portal_node *p;
	int port = number_field(o, "port", 65535, e);
	if (port < 1 || !host)
		return port < 0 ? port : err_set(e, -EINVAL, "'ip_address' or 'port' is missing");
	int code = portal_new(r->c, &p, parent, host, (uint16_t)port, r->options->is_dry, e);
	if (code < 0)
		return code;
	p->is_iser = json_object_get_boolean(json_field(o, "iser"));
	p->is_offload = json_object_get_boolean(json_field(o, "offload"));
	keep_unknown(r, &p->node, o, known);
	return 0;
}

static int add_mapped(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "index", "tpg_lun", "write_protect", "alias", NULL };
	struct acl *a = parent;
	struct mapped_lun *m;
	char name[16];
	const char *alias = json_text(o, "alias");
	int number = number_field(o, "index", 65535, e);
	int tpg_lun = number < 0 ? number : number_field(o, "tpg_lun", 65535, e);
	if (tpg_lun < 0)
		return tpg_lun;
	snprintf(name, sizeof name, "lun%d", tpg_lun);
	struct node *l = node_child(&r->c->names, &tpg_of(&a->node)->luns, name);
	int code = mapped_lun_new(r->c, &m, a, (uint32_t)number, l ? NODE_OF(struct lun, l) : NULL,
				  json_object_get_boolean(json_field(o, "write_protect")), e);
	if (code < 0)
		return code;
	m->tpg_lun = (uint32_t)tpg_lun;
	if (alias)
		snprintf(m->alias, sizeof m->alias, "%s", alias);
	if (!l)
		complain(r, "%s: mapped LUN %d: there is no LUN %d, kept", a->node.name, number,
			 tpg_lun);
	keep_unknown(r, &m->node, o, known);
	return 0;
}

static int add_acl(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = {
		"node_wwn",	 "attributes",	       "mapped_luns",	       "tag", "chap_userid",
		"chap_password", "chap_mutual_userid", "chap_mutual_password", NULL
	};
	const char *name = json_text(o, "node_wwn"), *tag = json_text(o, "tag");
	struct acl *a;
	if (!name)
		return err_set(e, -EINVAL, "'node_wwn' is missing");
	int code = acl_new(r->c, &a, parent, name, e);
	if (code < 0)
		return code;
	a->tag = tag && *tag ? strdup(tag) : NULL;
	set_group(r, &a->node, "attribute", o, "attributes");
	set_auth(r, &a->node, &a->auth, o, "chap");
	each(r, &a->node, a, o, "mapped_luns", add_mapped);
	keep_unknown(r, &a->node, o, known);
	return 0;
}

static int add_tpg(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "tag",
					     "enable",
					     "attributes",
					     "parameters",
					     "luns",
					     "portals",
					     "node_acls",
					     "chap_userid",
					     "chap_password",
					     "chap_mutual_userid",
					     "chap_mutual_password",
					     NULL };
	struct json_object *enable = json_field(o, "enable");
	struct tpg *tpg;
	int tag = number_field(o, "tag", 65535, e);
	if (tag < 0)
		return tag;
	int code = tpg_new(r->c, &tpg, parent, (unsigned)tag, e);
	if (code < 0)
		return code;
	tpg->is_enabled = !enable || json_object_get_boolean(enable);
	int port = number_field(own_section(r, &tpg->node), "relative_port", 65535, NULL);
	if (port > 0)
		tpg_want_port(r->c, tpg, (uint16_t)port);
	set_group(r, &tpg->node, "attribute", o, "attributes");
	set_group(r, &tpg->node, "parameter", o, "parameters");
	set_auth(r, &tpg->node, &tpg->auth, o, "chap");
	each(r, &tpg->node, tpg, o, "luns", add_lun);
	each(r, &tpg->node, tpg, o, "portals", add_portal);
	each(r, &tpg->node, tpg, o, "node_acls", add_acl);
	keep_unknown(r, &tpg->node, o, known);
	return 0;
}

static int add_foreign_target(struct restore *r, const char *fabric, const char *wwn,
			      struct json_object *o, struct err *e)
{
	if (!*fabric || strchr(fabric, '/') || !*wwn || strchr(wwn, '/') || strlen(fabric) > 63 ||
	    strlen(wwn) > 223)
		return err_set(e, -EINVAL, "'fabric' or 'wwn' is no name");
	struct node *n = fabric_of(r->c, fabric, e);
	if (!n)
		return err_set(e, -EINVAL, "'fabric' cannot be '%s'", fabric);
	int code = foreign_new(r->c, n, &foreign_class, wwn, o, e);
	if (!code)
		complain(r, "target %s: fabric '%s' is not served here, kept until it is", wwn,
			 fabric);
	return code;
}

static int add_target(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "fabric", "wwn", "tpgs", NULL };
	const char *fabric = json_text(o, "fabric"), *wwn = json_text(o, "wwn");
	struct target *t;
	char name[224];
	if (!fabric || !wwn)
		return err_set(e, -EINVAL, "'fabric' or 'wwn' is missing");
	if (r->options->only_target && strcmp(r->options->only_target, wwn))
		return 0;
	if (strcmp(fabric, "iscsi"))
		return add_foreign_target(r, fabric, wwn, o, e);
	int code = name_iscsi(wwn, false, name, e);
	if (code < 0)
		return code;
	if (r->options->is_running && node_child(&r->c->names, &r->c->iscsi, name)) {
		complain(r, "target with wwn %s exist, not restoring", name);
		return 0;
	}
	code = target_new(r->c, &t, name, e);
	if (code < 0)
		return code;
	each(r, &t->node, t, o, "tpgs", add_tpg);
	keep_unknown(r, &t->node, o, known);
	return 0;
}

static int add_fabric(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "name",
					     "discovery_enable_auth",
					     "discovery_userid",
					     "discovery_password",
					     "discovery_mutual_userid",
					     "discovery_mutual_password",
					     NULL };
	struct config *c = r->c;
	const char *name = json_text(o, "name");
	if (!name)
		return err_set(e, -EINVAL, "'name' is missing");
	if (strcmp(name, "iscsi")) {
		keep_entry(&c->root, "fabric_modules", o);
		return 0;
	}
	int code = txn_memory(c, &c->discovery, sizeof c->discovery);
	if (code < 0)
		return err_set(e, code, "out of memory");
	c->discovery.enable =
		(uint32_t)json_object_get_boolean(json_field(o, "discovery_enable_auth"));
	set_auth(r, &c->iscsi, &c->discovery, o, "discovery");
	c->is_view_dirty = true;
	keep_unknown(r, &c->iscsi, o, known);
	return 0;
}

int restore_document(struct config *c, struct json_object *doc, const struct restore_options *o,
		     struct json_object *errors, struct err *e)
{
	static const char *const known[] = { "storage_objects", "targets", "fabric_modules",
					     SAVED_SECTION, NULL };
	struct restore r = { .c = c, .options = o, .errors = errors };
	bool is_partial = o->only_target || o->only_storage;
	if (!json_object_is_type(doc, json_type_object))
		return err_set(e, -EINVAL, "is no object with storage_objects and targets");
	for (int i = 0; i < 3; i++)
		if (json_field(doc, known[i]) &&
		    !json_object_is_type(json_field(doc, known[i]), json_type_array))
			return err_set(e, -EINVAL, "'%s' is no array", known[i]);
	struct json_object *own = json_field(doc, SAVED_SECTION);
	r.objects = json_field(own, "objects");
	r.told_keys = json_object_new_array();
	if (!is_partial)
		each(&r, &c->root, NULL, doc, "fabric_modules", add_fabric);
	if (!o->only_target)
		each(&r, &c->root, NULL, doc, "storage_objects", add_storage);
	if (!o->only_storage)
		each(&r, &c->root, NULL, doc, "targets", add_target);
	if (!is_partial) {
		keep_unknown(&r, &c->root, doc, known);
		if (json_field(own, "generation"))
			c->generation = json_object_get_uint64(json_field(own, "generation"));
	}
	map_done(&r.told);
	json_object_put(r.told_keys);
	return 0;
}
