// SPDX-License-Identifier: BSD-2-Clause
// Targets in the saved file: portal groups, LUNs, ACLs, portals.
#include <string.h>

#include "target/config/save.h"
#include "target/config/saved.h"

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
	if (l->write_protect) // rtslib ignores unknown keys here
		json_object_object_add(o, "write_protect", json_object_new_boolean(1));
	save_merge(o, l->node.kept);
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

static const struct save_kind lun_kind = { LUN_DEPTH, lun_object, lun_key };

static struct json_object *mapped_object(struct save *s, struct node *n)
{
	struct mapped_lun *m = NODE_OF(struct mapped_lun, n);
	struct json_object *o = json_object_new_object();
	json_put_text(o, "alias", m->alias);
	json_object_object_add(o, "index", json_object_new_int64(m->number));
	json_object_object_add(o, "tpg_lun",
			       json_object_new_int64(m->lun ? m->lun->number : m->tpg_lun));
	json_object_object_add(o, "write_protect", json_object_new_boolean(m->is_write_protected));
	save_merge(o, m->node.kept);
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

static const struct save_kind mapped_kind = { MAPPED_DEPTH, mapped_object, mapped_key };

static struct json_object *acl_object(struct save *s, struct acl *a)
{
	struct json_object *o = json_object_new_object();
	struct json_object *mapped = json_object_new_array();
	json_put_text(o, "node_wwn", a->node.name);
	json_put_text(o, "tag", a->tag);
	if (a->node.class == &acl_class) {
		json_object_object_add(o, "attributes", save_values(s, acl_groups, &a->node, NULL));
		save_put_auth(o, "chap", &a->auth.auth);
		save_put_own_auth(s, &a->node, "auth");
	}
	list_for_each (i, &a->node.children)
		json_object_array_add(
			mapped, save_object(s, &mapped_kind, list_entry(i, struct node, link)));
	json_object_object_add(o, "mapped_luns", mapped);
	save_merge(o, a->node.kept);
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
	if (p->transports != PORTAL_ALL) // our own key, ignored by rtslib
		json_put_text(o, "transport", portal_transport_name(p->transports));
	json_object_put(save_values(s, portal_groups, &p->node, NULL)); // all of them are ours
	save_merge(o, p->node.kept);
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
		save_values(s, group_find(tpg->node.class, "attribute"), &tpg->node, NULL));
	if (params) // SRP has neither parameters nor authentication
		json_object_object_add(o, "parameters", save_values(s, params, &tpg->node, NULL));
	save_put_auth(o, "chap", &tpg->auth.auth);
	if (params)
		save_put_own_auth(s, &tpg->node, "auth");
	list_for_each (i, &tpg->luns.children)
		json_object_array_add(luns,
				      save_object(s, &lun_kind, list_entry(i, struct node, link)));
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
	json_object_object_add(save_own_of(s, &tpg->node), "relative_port",
			       json_object_new_int64(tpg->relative_port));
	return o;
}

// One node, but two objects in the file.
struct json_object *save_srpt_target(struct save *s, struct node *n)
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
				save_append(tpgs, value);
			else if (strcmp(key, SAVED_TARGET))
				json_object_object_add(rest, key, json_object_get(value));
		}
	}
	save_merge(tpg, rest);
	save_merge(o, json_field(n->kept, SAVED_TARGET));
	json_object_put(rest);
	return o;
}

struct json_object *save_target(struct save *s, struct target *t)
{
	struct json_object *o = json_object_new_object();
	struct json_object *tpgs = json_object_new_array();
	json_put_text(o, "fabric", "iscsi");
	json_put_text(o, "wwn", t->node.name);
	list_for_each (i, &t->node.children) {
		struct node *n = list_entry(i, struct node, link);
		struct json_object *tpg = tpg_object(s, NODE_OF(struct tpg, n));
		save_merge(tpg, n->kept);
		json_object_array_add(tpgs, tpg);
	}
	json_object_object_add(o, "tpgs", tpgs);
	save_merge(o, t->node.kept);
	return o;
}
