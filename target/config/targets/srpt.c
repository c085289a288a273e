// SPDX-License-Identifier: BSD-2-Clause
// /srpt: SRP targets. A target has one portal group, so both are one node; initiators need an ACL.
// The names are those of T10 SRP annex B as the kernel's target and rtslib write them. Control
// thread.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/targets/acl.h"
#include "target/config/targets/lun.h"
#include "target/config/targets/portal.h"
#include "target/config/targets/srpt.h"
#include "target/config/tree/in_use.h"
#include "target/config/tree/names.h"
#include "target/fabric/sessions.h"

// NULL: a program without it has no /srpt.
static const struct fabric_ops *srpt_fabric(void)
{
	return fabric_find("srpt");
}

static int normal_name(const char *in, bool is_new, char out[224], struct err *e)
{
	return srpt_fabric()->name_target(in, is_new, out, e);
}

// ---- /srpt ----

static const struct tpg_kind srpt_kind = {
	.acl_class = &srpt_acl_class,
	.portals_class = &srpt_portals_class,
	.portal_class = &srpt_portal_class,
	.fabric = srpt_fabric,
};

static int new_target(struct config *c, struct node **ret, const char *name, struct err *e)
{
	char taken[280];
	snprintf(taken, sizeof taken, "target %s already exists", name);
	int r = tpg_add(c, ret, &c->targets->srpt.node, &srpt_target_class, &srpt_kind, name, 1,
			taken, e);
	if (!r)
		NODE_OF(struct tpg, *ret)->is_enabled = 1;
	return r;
}

static int add_default_portal(struct config *c, struct tpg *tpg, struct reply *r, struct err *e)
{
	struct portal_node *p;
	if (!c->prefs.auto_add_default_portal)
		return 0;
	int code = srpt_default_portal(c, tpg, false, &p, e);
	if (code < 0)
		return code;
	reply_say(r, "Global pref auto_add_default_portal=true");
	reply_say(r, "Created default portal listening on all IPs (0.0.0.0), port %u.",
		  srpt_fabric()->port);
	if (portal_waits(p))
		reply_say(r, "Warning: portal waiting: %s", portal_waits(p));
	return 0;
}

static int create(struct config *c, struct node *n, const struct args *a, struct reply *r,
		  struct err *e)
{
	char made_up[224], name[224];
	struct node *t;
	const char *wwn = arg(a, "wwn");
	if (!wwn)
		name_new_srp_port(made_up);
	int code = normal_name(wwn ? wwn : made_up, true, name, e);
	if (!code)
		code = new_target(c, &t, name, e);
	if (code < 0)
		return code;
	if (!wwn)
		reply_say(r, "Generated the port identifier, since wwn was not given.");
	reply_say(r, "Created target %s.", name);
	return add_default_portal(c, NODE_OF(struct tpg, t), r, e);
}

static int normal_target(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE],
			 struct err *e)
{
	return normal_name(arg(a, "wwn"), false, out, e);
}

// ---- a target ----

static void summarize_target(struct config *c, const struct node *n, struct summary *ret)
{
	const struct tpg *tpg = NODE_OF(const struct tpg, n);
	const char *text = !tpg->is_enabled	       ? "disabled"
			   : !tpg->portals.child_count ? "no-gen-acls, no portals"
						       : "no-gen-acls";
	snprintf(ret->text, sizeof ret->text, "%s", text);
	ret->is_broken = strcmp(text, "no-gen-acls");
	ret->is_healthy = !ret->is_broken;
}

static void info_target(struct config *c, const struct node *n, struct json_object *ret)
{
	const struct tpg *tpg = NODE_OF(const struct tpg, n);
	json_put_text(ret, "wwn", n->name);
	tpg_info(tpg, ret);
	json_put_number(ret, "sessions", sessions_count(n->name, -1, NULL));
	struct json_object *attach = json_list(ret, "attach");
	struct node **portals = node_sorted(&tpg->portals);
	for (unsigned i = 0; portals && i < tpg->portals.child_count; i++)
		srpt_put_attach(n, portals[i], attach);
	free(portals);
}

static void target_attached(struct config *c, struct node *n, bool is_attached)
{
	c->targets->is_view_dirty = true;
	tpg_attached(c, n, is_attached);
}

static void target_changed(struct config *c, struct node *n)
{
	published_changed(c, &NODE_OF(struct tpg, n)->published);
}

// ---- the saved file ----

static int saved_name(struct restore *r, struct node *n, struct json_object *o,
		      char out[SAVED_NAME_SIZE], struct err *e)
{
	int code = normal_name(json_text(o, "wwn"), false, out, e);
	return code ? code : restore_leaves_target(r, n, out);
}

static int make_saved(struct restore *r, struct node *n, const char *name, struct json_object *o,
		      struct node **ret, struct err *e)
{
	return new_target(r->c, ret, name, e);
}

// The same node is given as an existing one, since its target was read before it.
static int filled(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		  struct err *e)
{
	struct tpg *tpg = NODE_OF(struct tpg, n);
	const char *list = srpt_portal_class.saved->list;
	struct portal_node *p;
	int code = tpg_keep_port(r, n, o, false, e);
	bool wants = !json_has(o, list, NULL) && r->c->prefs.auto_add_default_portal;
	if (json_count(json_field(o, "portals")))
		restore_complain(r, "%s: 'portals' of an SRP target, ignored (use '%s')", n->name,
				 list);
	if (code || !wants || tpg->portals.child_count)
		return code;
	return srpt_default_portal(r->c, tpg, r->options->is_dry, &p, e);
}

// ---- rows ----

// clang-format off
static const struct command_row commands[] = {
	{ "create", PARAMS(
		{ "wwn", PARAM_SRP_PORT, false, NULL,
		  "port identifier: ib. and 32 hex digits, or a GUID (default: generated)" }),
	  "Create a target and, by default, a portal.", false, create },
	{ "delete", PARAMS(
		{ "wwn", PARAM_CHILD, true, NULL, "target name" },
		PARAM_FORCE),
	  "Delete a target and end its sessions.", false, delete_child },
	{ 0 },
};
static const struct command_row target_commands[] = {
	{ "enable", NULL, "Allow logins.", false, tpg_enable },
	{ "disable", NULL, "Refuse logins and end the sessions.", false, tpg_disable },
	{ 0 },
};
static struct group_row target_groups[] = {
	{ .name = "attribute", .form = SAVED_NUMBERS, .part = "attributes",
	  .rows = VALUES({ 0 }), .at = offsetof(struct tpg, own) },
	{ 0 },
};
static struct group_row acl_groups[] = {
	ACL_ATTRIBUTE_GROUP,
	{ .name = "parameter", .rows = VALUES({ 0 }), .at = offsetof(struct acl, own),
	  .get = negotiated_get },
	{ 0 },
};
// clang-format on

void srpt_rows_use(void)
{
	const struct fabric_ops *fabric = srpt_fabric();
	if (!fabric)
		return;
	target_groups[0].rows = fabric->group.rows;
	target_groups[0].size = fabric->group.size;
	static struct attr_row acl_rows[ACL_ROWS_MAX];
	acl_attributes_use(&acl_groups[0], acl_rows, fabric);
	acl_groups[1].rows = fabric->negotiated_rows;
	srpt_portal_rows_use(fabric);
}

static const struct node_class *const lists[] = { &lun_class, &srpt_acl_class, &srpt_portal_class,
						  NULL };
static const char *const ignored[] = { "tag", "parameters", "portals", NULL };
static const struct saved_class target_saved = {
	.list = "targets",
	.id = {"fabric", "wwn"},
	.between = "/",
	.entries = "tpgs",
	.fields = tpg_fields,
	.lists = lists,
	.ignored = ignored,
	.name = saved_name,
	.make = make_saved,
	.filled = filled,
};

static const struct saved_class fabric_saved = { .targets = &srpt_target_class };

const struct node_class srpt_class = {
	.name = "srpt",
	.help = "SRP targets",
	.saved = &fabric_saved,
	.commands = commands,
	.child = {"No target %s", "Deleted Target %s.", .normal = normal_target},
	.counts = "Targets",
};
const struct node_class srpt_target_class = {
	.name = "srpt_target",
	.help = "An SRP target",
	.is_target = true,
	.is_group = true,
	.saved = &target_saved,
	.commands = target_commands,
	.groups = target_groups,
	.summary = summarize_target,
	.info = info_target,
	.attached = target_attached,
	.changed = target_changed,
	.is_used = place_is,
	.free = tpg_free,
};
const struct node_class srpt_acl_class = {
	.name = "srpt_acl",
	.help = "One SRP initiator and the LUNs it sees",
	.saved = &acl_saved,
	.is_used = place_is,
	.commands = acl_commands,
	.child = ACL_CHILD,
	.groups = acl_groups,
	.summary = acl_summary,
	.info = acl_info,
	.free = acl_free,
};
