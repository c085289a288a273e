// SPDX-License-Identifier: BSD-2-Clause
// targets of a saved file, with everything below them.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/restore.h"
#include "target/config/saved.h"

// The LUN with this number, if its storage is s; else removes it.
static int find_lun(struct restore *r, struct tpg *tpg, int number, const struct storage *s,
		    struct lun **ret, struct err *e)
{
	char name[16];
	snprintf(name, sizeof name, "lun%d", number);
	*ret = NULL;
	struct node *n = r->options->is_apply ? node_child(&r->c->names, &tpg->luns, name) : NULL;
	if (n && NODE_OF(struct lun, n)->storage != s)
		return model_remove(r->c, n, e);
	if (n)
		*ret = NODE_OF(struct lun, n);
	return 0;
}

// Changes a text in an array of that size.
static int change_text(struct config *c, char *at, size_t size, const char *text)
{
	char whole[ALUA_NAME_MAX] = { 0 };
	if (!strcmp(at, text))
		return 0;
	snprintf(whole, size, "%s", text);
	return txn_change(c, at, whole, size);
}

static int fill_lun(struct restore *r, struct lun *l, struct json_object *o, const char *alias,
		    const char *group)
{
	struct config *c = r->c;
	uint32_t protect = (uint32_t)json_object_get_boolean(json_field(o, "write_protect"));
	int changed = alias ? change_text(c, l->alias, sizeof l->alias, alias) : 0;
	int moved = change_text(c, l->group, sizeof l->group,
				group && *group ? group : ALUA_DEFAULT_GROUP);
	int protected = txn_change(c, &l->write_protect, &protect, sizeof protect);
	if (changed < 0 || moved < 0 || protected < 0)
		return -ENOMEM;
	if (moved || protected)
		model_dirty(c, &l->node);
	return 0;
}

// It is not in the applied document, so it is removed after all of it is read.
static bool goes(const struct restore *r, const struct storage *s)
{
	return r->options->is_apply && !r->options->only_target && !s->node.is_named;
}

static int add_lun(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "index",	       "alias",
					     "write_protect",  "alua_tg_pt_gp_name",
					     "storage_object", NULL };
	struct tpg *tpg = parent;
	const char *path = json_text(o, "storage_object"), *alias = json_text(o, "alias");
	const char *group = json_text(o, "alua_tg_pt_gp_name");
	struct lun *l;
	int number = restore_number_field(o, "index", 65535, e);
	if (number < 0)
		return number;
	struct storage *s = path ? storage_find(r->c, path) : NULL;
	if (s && goes(r, s))
		s = NULL;
	int code = find_lun(r, tpg, number, s, &l, e);
	bool is_old = l;
	if (!code && !l)
		code = lun_new(r->c, &l, tpg, (uint32_t)number, s, e);
	if (!code)
		code = fill_lun(r, l, o, alias, group);
	if (code < 0)
		return code;
	restore_named(r, &l->node, is_old);
	if (s && !node_child(&r->c->names, &s->alua, l->group) && !s->type->is_passthrough)
		restore_complain(r, "LUN %d: no ALUA group '%s', using the default group", number,
				 l->group);
	if (!s && path)
		restore_keep(&l->node, "storage_object", json_field(o, "storage_object"));
	if (!s)
		restore_complain(r, "LUN %d: no storage object %.120s, LUN kept without it", number,
				 path ? path : "named");
	if (number > LUN_MAX)
		restore_complain(r, "LUN %d: above %d, not shown to initiators", number, LUN_MAX);
	restore_keep_unknown(r, &l->node, o, known);
	return 0;
}

static int add_portal(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "ip_address", "port",	 "iser", "offload",
					     "transport",  "attributes", NULL };
	const char *host = json_text(o, "ip_address");
	struct portal_node *p;
	int port = restore_number_field(o, "port", 65535, e);
	if (port < 1 || !host)
		return port < 0 ? port : err_set(e, -EINVAL, "missing 'ip_address' or 'port'");
	// targetcli writes iser=false for all portals by default: it does not disable iSER.
	const char *transport = json_text(o, "transport");
	unsigned mask = PORTAL_ALL;
	int code = transport ? portal_transport_parse(transport, &mask, e) : 0;
	p = r->options->is_apply ? portal_find(r->c, parent, host, (uint16_t)port) : NULL;
	bool is_old = p, is_iser = json_object_get_boolean(json_field(o, "iser"));
	bool is_offload = json_object_get_boolean(json_field(o, "offload"));
	if (!code && !p)
		code = portal_new(r->c, &p, parent, host, (uint16_t)port, mask, r->options->is_dry,
				  e);
	if (code < 0)
		return code;
	int changed = txn_change(r->c, &p->is_iser, &is_iser, sizeof is_iser);
	int offered = txn_change(r->c, &p->transports, &mask, sizeof mask);
	if (changed < 0 || offered < 0 ||
	    txn_change(r->c, &p->is_offload, &is_offload, sizeof is_offload) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	if (offered)
		model_dirty(r->c, &p->node);
	restore_named(r, &p->node, is_old);
	restore_set_group(r, &p->node, "attribute", o, "attributes");
	restore_keep_unknown(r, &p->node, o, known);
	return 0;
}

// The mapped LUN with this number, if it leads to that LUN; else removes it.
static int find_mapped(struct restore *r, struct acl *a, int number, const struct lun *l,
		       uint32_t tpg_lun, struct mapped_lun **ret, struct err *e)
{
	char name[24];
	snprintf(name, sizeof name, "mapped_lun%d", number);
	*ret = NULL;
	struct node *n = r->options->is_apply ? node_child(&r->c->names, &a->node, name) : NULL;
	struct mapped_lun *m = n ? NODE_OF(struct mapped_lun, n) : NULL;
	if (m && (m->lun != l || m->tpg_lun != tpg_lun))
		return model_remove(r->c, n, e);
	*ret = m;
	return 0;
}

static int add_mapped(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "index", "tpg_lun", "write_protect", "alias", NULL };
	struct acl *a = parent;
	struct mapped_lun *m;
	char name[16];
	const char *alias = json_text(o, "alias");
	int number = restore_number_field(o, "index", 65535, e);
	int tpg_lun = number < 0 ? number : restore_number_field(o, "tpg_lun", 65535, e);
	if (tpg_lun < 0)
		return tpg_lun;
	snprintf(name, sizeof name, "lun%d", tpg_lun);
	struct node *l = node_child(&r->c->names, &tpg_of(&a->node)->luns, name);
	struct lun *lun = l ? NODE_OF(struct lun, l) : NULL;
	bool is_protected = json_object_get_boolean(json_field(o, "write_protect"));
	int code = find_mapped(r, a, number, lun, (uint32_t)tpg_lun, &m, e);
	bool is_old = m;
	if (!code && !m)
		code = mapped_lun_new(r->c, &m, a, (uint32_t)number, lun, is_protected, e);
	if (code < 0)
		return code;
	m->tpg_lun = (uint32_t)tpg_lun;
	int changed = txn_change(r->c, &m->is_write_protected, &is_protected, sizeof is_protected);
	if (changed < 0 || (alias && change_text(r->c, m->alias, sizeof m->alias, alias) < 0))
		return err_set(e, -ENOMEM, "out of memory");
	if (changed)
		model_dirty(r->c, &m->node);
	restore_named(r, &m->node, is_old);
	if (!l)
		restore_complain(r, "%s: mapped LUN %d: no LUN %d, kept", a->node.name, number,
				 tpg_lun);
	restore_keep_unknown(r, &m->node, o, known);
	return 0;
}

static int fill_tag(struct restore *r, struct acl *a, const char *tag)
{
	if ((!tag && !a->tag) || (tag && a->tag && !strcmp(tag, a->tag)))
		return 0;
	char *copy = tag ? strdup(tag) : NULL;
	return tag && !copy ? -ENOMEM : txn_text(r->c, &a->tag, copy);
}

// Credentials absent from the document are unset.
static void fill_auth(struct restore *r, struct node *n, struct auth_group *a,
		      struct json_object *o)
{
	struct auth_group fresh = { .enable = a->enable };
	restore_set_auth(r, n, &fresh, o, "chap");
	int changed = txn_change(r->c, a, &fresh, sizeof fresh);
	if (changed < 0)
		restore_complain(r, "%s: out of memory", n->name);
	if (changed)
		model_dirty(r->c, n);
	explicit_bzero(&fresh, sizeof fresh);
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
		return err_set(e, -EINVAL, "missing 'node_wwn'");
	char full[224];
	struct tpg *tpg = parent;
	int code = tpg->node.class == &srpt_target_class ? name_srpt_initiator(name, full, e)
							 : name_iscsi(name, false, full, e);
	struct node *there =
		code || !r->options->is_apply ? NULL : node_child(&r->c->names, &tpg->acls, full);
	a = there ? NODE_OF(struct acl, there) : NULL;
	if (!code && !a)
		code = acl_new(r->c, &a, parent, name, e);
	if (!code)
		code = fill_tag(r, a, tag && *tag ? tag : NULL);
	if (code < 0)
		return code;
	restore_named(r, &a->node, there != NULL);
	if (a->node.class == &acl_class) {
		restore_set_group(r, &a->node, "attribute", o, "attributes");
		fill_auth(r, &a->node, &a->auth, o);
	}
	restore_each(r, &a->node, a, o, "mapped_luns", add_mapped);
	code = restore_sweep(r, &a->node, e);
	if (code < 0)
		return code;
	restore_keep_unknown(r, &a->node, o, known);
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
	int tag = restore_number_field(o, "tag", 65535, e);
	if (tag < 0)
		return tag;
	char node_name[16];
	struct target *t = parent;
	snprintf(node_name, sizeof node_name, "tpg%d", tag);
	struct node *there =
		r->options->is_apply ? node_child(&r->c->names, &t->node, node_name) : NULL;
	tpg = there ? NODE_OF(struct tpg, there) : NULL;
	int code = tpg ? 0 : tpg_new(r->c, &tpg, parent, (unsigned)tag, e);
	if (code < 0)
		return code;
	restore_named(r, &tpg->node, there != NULL);
	uint32_t is_enabled = !enable || json_object_get_boolean(enable);
	code = txn_change(r->c, &tpg->is_enabled, &is_enabled, sizeof is_enabled);
	if (code < 0)
		return err_set(e, code, "out of memory");
	if (code)
		model_dirty(r->c, &tpg->node);
	int port = restore_number_field(restore_own_section(r, &tpg->node), "relative_port", 65535,
					NULL);
	if (port > 0 && !there)
		tpg_want_port(r->c, tpg, (uint16_t)port);
	restore_set_group(r, &tpg->node, "attribute", o, "attributes");
	restore_set_group(r, &tpg->node, "parameter", o, "parameters");
	fill_auth(r, &tpg->node, &tpg->auth, o);
	restore_each(r, &tpg->node, tpg, o, "luns", add_lun);
	code = restore_sweep(r, &tpg->luns, e);
	restore_each(r, &tpg->node, tpg, o, "portals", add_portal);
	code = code ? code : restore_sweep(r, &tpg->portals, e);
	restore_each(r, &tpg->node, tpg, o, "node_acls", add_acl);
	code = code ? code : restore_sweep(r, &tpg->acls, e);
	restore_keep_unknown(r, &tpg->node, o, known);
	return code;
}

static int add_srpt_tpg(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "tag",  "enable",	"attributes", "parameters",
					     "luns", "portals", "node_acls",  NULL };
	struct srpt_target *t = parent;
	struct json_object *enable = json_field(o, "enable");
	int tag = restore_number_field(o, "tag", 65535, e);
	if (tag < 0)
		return tag;
	if (tag != 1)
		return err_set(e, -EINVAL, "tag: an SRP target has only portal group 1");
	uint32_t is_enabled = !enable || json_object_get_boolean(enable);
	int code = txn_change(r->c, &t->tpg.is_enabled, &is_enabled, sizeof is_enabled);
	if (code < 0)
		return err_set(e, code, "out of memory");
	int port = restore_number_field(restore_own_section(r, &t->tpg.node), "relative_port",
					65535, NULL);
	if (port > 0)
		tpg_want_port(r->c, &t->tpg, (uint16_t)port);
	restore_set_group(r, &t->tpg.node, "attribute", o, "attributes");
	restore_each(r, &t->tpg.node, &t->tpg, o, "luns", add_lun);
	code = restore_sweep(r, &t->tpg.luns, e);
	restore_each(r, &t->tpg.node, &t->tpg, o, "node_acls", add_acl);
	code = code < 0 ? code : restore_sweep(r, &t->tpg.acls, e);
	restore_keep_unknown(r, &t->tpg.node, o, known);
	return code;
}

// The node is also the portal group: kept keys of the target are separate.
static void keep_of_srpt_target(struct restore *r, struct node *n, struct json_object *o)
{
	struct json_object *rest = json_object_new_object();
	json_object_object_foreach(o, key, value)
	{
		if (!strcmp(key, "fabric") || !strcmp(key, "wwn") || !strcmp(key, "tpgs"))
			continue;
		restore_tell_unknown(r, "key", key, n->name);
		json_object_object_add(rest, key, json_object_get(value));
	}
	if (json_object_object_length(rest))
		restore_keep(n, SAVED_TARGET, rest);
	json_object_put(rest);
}

static int add_srpt_target(struct restore *r, const char *wwn, struct json_object *o, struct err *e)
{
	struct srpt_target *t;
	char name[224];
	int code = name_srpt_target(wwn, name, e);
	if (code < 0)
		return code;
	struct node *there = node_child(&r->c->names, &r->c->srpt, name);
	if (r->options->is_running && !r->options->is_apply && there) {
		restore_complain(r, "target with wwn %s exist, not restoring", name);
		return 0;
	}
	if (there && r->options->is_apply)
		t = container_of(there, struct srpt_target, tpg.node);
	else
		code = srpt_target_new(r->c, &t, name, e);
	if (code < 0)
		return code;
	restore_named(r, &t->tpg.node, there && r->options->is_apply);
	restore_each(r, &t->tpg.node, t, o, "tpgs", add_srpt_tpg);
	keep_of_srpt_target(r, &t->tpg.node, o);
	return 0;
}

static int add_foreign_target(struct restore *r, const char *fabric, const char *wwn,
			      struct json_object *o, struct err *e)
{
	if (!*fabric || strchr(fabric, '/') || !*wwn || strchr(wwn, '/') || strlen(fabric) > 63 ||
	    strlen(wwn) > 223)
		return err_set(e, -EINVAL, "invalid 'fabric' or 'wwn'");
	struct node *n = fabric_of(r->c, fabric, e);
	if (!n)
		return err_set(e, -EINVAL, "'fabric' cannot be '%s'", fabric);
	int code = restore_meet_foreign(r, n, wwn, o, e);
	if (code)
		return code < 0 ? code : 0;
	code = restore_add_foreign(r, n, &foreign_class, wwn, o, e);
	if (!code)
		restore_complain(r, "target %s: fabric '%s' is not supported, kept", wwn, fabric);
	return code;
}

int restore_target(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "fabric", "wwn", "tpgs", NULL };
	const char *fabric = json_text(o, "fabric"), *wwn = json_text(o, "wwn");
	struct target *t;
	char name[224];
	if (!fabric || !wwn)
		return err_set(e, -EINVAL, "missing 'fabric' or 'wwn'");
	if (r->options->only_target && strcmp(r->options->only_target, wwn))
		return 0;
	if (!strcmp(fabric, "srpt"))
		return add_srpt_target(r, wwn, o, e);
	if (strcmp(fabric, "iscsi"))
		return add_foreign_target(r, fabric, wwn, o, e);
	int code = name_iscsi(wwn, false, name, e);
	if (code < 0)
		return code;
	struct node *there = node_child(&r->c->names, &r->c->iscsi, name);
	if (r->options->is_running && !r->options->is_apply && there) {
		restore_complain(r, "target with wwn %s exist, not restoring", name);
		return 0;
	}
	t = there && r->options->is_apply ? NODE_OF(struct target, there) : NULL;
	bool is_old = t;
	code = t ? 0 : target_new(r->c, &t, name, e);
	if (code < 0)
		return code;
	restore_named(r, &t->node, is_old);
	restore_each(r, &t->node, t, o, "tpgs", add_tpg);
	code = restore_sweep(r, &t->node, e);
	restore_keep_unknown(r, &t->node, o, known);
	return code;
}
