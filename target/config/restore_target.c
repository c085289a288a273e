// SPDX-License-Identifier: BSD-2-Clause
// targets of a saved file, with everything below them.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/restore.h"
#include "target/config/saved.h"

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
	int number = restore_number_field(o, "index", 65535, e);
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
		restore_complain(r, "LUN %d: no ALUA group '%s', the default one serves", number,
				 l->group);
	if (!s)
		restore_complain(r, "LUN %d: no storage object %.120s, the LUN is kept without it",
				 number, path ? path : "is named");
	if (number > LUN_MAX)
		restore_complain(r, "LUN %d: is above %d and not shown to initiators", number,
				 LUN_MAX);
	restore_keep_unknown(r, &l->node, o, s ? linked : known);
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
		return port < 0 ? port : err_set(e, -EINVAL, "'ip_address' or 'port' is missing");
	// iser=false is what targetcli writes for portals nobody thought about: not a refusal.
	const char *transport = json_text(o, "transport");
	unsigned mask = PORTAL_ALL;
	int code = transport ? portal_transport_parse(transport, &mask, e) : 0;
	if (!code)
		code = portal_new(r->c, &p, parent, host, (uint16_t)port, mask, r->options->is_dry,
				  e);
	if (code < 0)
		return code;
	p->is_iser = json_object_get_boolean(json_field(o, "iser"));
	p->is_offload = json_object_get_boolean(json_field(o, "offload"));
	restore_set_group(r, &p->node, "attribute", o, "attributes");
	restore_keep_unknown(r, &p->node, o, known);
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
	int code = mapped_lun_new(r->c, &m, a, (uint32_t)number, l ? NODE_OF(struct lun, l) : NULL,
				  json_object_get_boolean(json_field(o, "write_protect")), e);
	if (code < 0)
		return code;
	m->tpg_lun = (uint32_t)tpg_lun;
	if (alias)
		snprintf(m->alias, sizeof m->alias, "%s", alias);
	if (!l)
		restore_complain(r, "%s: mapped LUN %d: there is no LUN %d, kept", a->node.name,
				 number, tpg_lun);
	restore_keep_unknown(r, &m->node, o, known);
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
	if (a->node.class == &acl_class) {
		restore_set_group(r, &a->node, "attribute", o, "attributes");
		restore_set_auth(r, &a->node, &a->auth, o, "chap");
	}
	restore_each(r, &a->node, a, o, "mapped_luns", add_mapped);
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
	int code = tpg_new(r->c, &tpg, parent, (unsigned)tag, e);
	if (code < 0)
		return code;
	tpg->is_enabled = !enable || json_object_get_boolean(enable);
	int port = restore_number_field(restore_own_section(r, &tpg->node), "relative_port", 65535,
					NULL);
	if (port > 0)
		tpg_want_port(r->c, tpg, (uint16_t)port);
	restore_set_group(r, &tpg->node, "attribute", o, "attributes");
	restore_set_group(r, &tpg->node, "parameter", o, "parameters");
	restore_set_auth(r, &tpg->node, &tpg->auth, o, "chap");
	restore_each(r, &tpg->node, tpg, o, "luns", add_lun);
	restore_each(r, &tpg->node, tpg, o, "portals", add_portal);
	restore_each(r, &tpg->node, tpg, o, "node_acls", add_acl);
	restore_keep_unknown(r, &tpg->node, o, known);
	return 0;
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
		return err_set(e, -EINVAL, "tag: an SRP target has portal group 1 alone");
	t->tpg.is_enabled = !enable || json_object_get_boolean(enable);
	int port = restore_number_field(restore_own_section(r, &t->tpg.node), "relative_port",
					65535, NULL);
	if (port > 0)
		tpg_want_port(r->c, &t->tpg, (uint16_t)port);
	restore_set_group(r, &t->tpg.node, "attribute", o, "attributes");
	restore_each(r, &t->tpg.node, &t->tpg, o, "luns", add_lun);
	restore_each(r, &t->tpg.node, &t->tpg, o, "node_acls", add_acl);
	restore_keep_unknown(r, &t->tpg.node, o, known);
	return 0;
}

// The node is the portal group as well: what was kept of the target stands apart.
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
	if (r->options->is_running && node_child(&r->c->names, &r->c->srpt, name)) {
		restore_complain(r, "target with wwn %s exist, not restoring", name);
		return 0;
	}
	code = srpt_target_new(r->c, &t, name, e);
	if (code < 0)
		return code;
	restore_each(r, &t->tpg.node, t, o, "tpgs", add_srpt_tpg);
	keep_of_srpt_target(r, &t->tpg.node, o);
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
		restore_complain(r, "target %s: fabric '%s' is not served here, kept until it is",
				 wwn, fabric);
	return code;
}

int restore_target(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	static const char *const known[] = { "fabric", "wwn", "tpgs", NULL };
	const char *fabric = json_text(o, "fabric"), *wwn = json_text(o, "wwn");
	struct target *t;
	char name[224];
	if (!fabric || !wwn)
		return err_set(e, -EINVAL, "'fabric' or 'wwn' is missing");
	if (r->options->only_target && strcmp(r->options->only_target, wwn))
		return 0;
	if (!strcmp(fabric, "srpt"))
		return add_srpt_target(r, wwn, o, e);
	if (strcmp(fabric, "iscsi"))
		return add_foreign_target(r, fabric, wwn, o, e);
	int code = name_iscsi(wwn, false, name, e);
	if (code < 0)
		return code;
	if (r->options->is_running && node_child(&r->c->names, &r->c->iscsi, name)) {
		restore_complain(r, "target with wwn %s exist, not restoring", name);
		return 0;
	}
	code = target_new(r->c, &t, name, e);
	if (code < 0)
		return code;
	restore_each(r, &t->node, t, o, "tpgs", add_tpg);
	restore_keep_unknown(r, &t->node, o, known);
	return 0;
}
