// SPDX-License-Identifier: BSD-2-Clause
// /iscsi, its targets and their portal groups: commands, summaries, groups.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/targets/acl.h"
#include "target/config/targets/credentials.h"
#include "target/config/targets/portal.h"
#include "target/config/tree/in_use.h"
#include "target/config/tree/names.h"
#include "target/fabric/fabric.h"
#include "target/fabric/sessions.h"

static const struct fabric_ops *fabric(void)
{
	return fabric_find("iscsi");
}

static int normal_name(const char *in, bool is_new, char out[224], struct err *e)
{
	return fabric()->name_target(in, is_new, out, e);
}

static const struct tpg_kind iscsi_kind = {
	.acl_class = &acl_class,
	.portals_class = &portals_class,
	.portal_class = &portal_class,
	.fabric = fabric,
};

static int target_new(struct config *c, struct node **ret, const char *name, struct err *e)
{
	struct target *t = tree_new(sizeof *t, &target_class, name, e);
	if (!t)
		return -ENOMEM;
	published_init(&t->published, &t->node);
	*ret = &t->node;
	return tree_add(c, &c->targets->iscsi.node, &t->node, e, "target %s already exists", name);
}

static int tpg_new(struct config *c, struct node **ret, struct node *target, unsigned tag,
		   struct err *e)
{
	char name[16], taken[64];
	snprintf(name, sizeof name, "tpg%u", tag);
	snprintf(taken, sizeof taken, "TPG %u already exists", tag);
	return tpg_add(c, ret, target, &tpg_class, &iscsi_kind, name, tag, taken, e);
}

// ---- /iscsi ----

static bool has_default_portal(const struct config *c, const struct node *target)
{
	list_each (const struct tpg, tpg, &target->children, node.link)
		if (node_child(&c->names, &tpg->portals, "0.0.0.0:3260"))
			return true;
	return false;
}

static int make_tpg(struct config *c, struct node *target, unsigned tag, struct reply *r,
		    struct err *e)
{
	struct portal_node *p;
	struct node *made;
	bool is_taken = has_default_portal(c, target);
	int code = tpg_new(c, &made, target, tag, e);
	if (code < 0)
		return code;
	struct tpg *tpg = NODE_OF(struct tpg, made);
	tpg->is_enabled = c->prefs.auto_enable_tpgt;
	reply_say(r, "Created TPG %u.", tag);
	if (!c->prefs.auto_add_default_portal)
		return 0;
	if (is_taken) {
		reply_say(r, "Default portal not created, TPGs within a target cannot share "
			     "ip:port.");
		return 0;
	}
	code = portal_new(c, &p, tpg, "0.0.0.0", 3260, fabric()->transports->mask, false, e);
	if (code < 0)
		return code;
	reply_say(r, "Global pref auto_add_default_portal=true");
	reply_say(r, "Created default portal listening on all IPs (0.0.0.0), port 3260.");
	if (portal_waits(p))
		reply_say(r, "Warning: portal waiting: %s", portal_waits(p));
	return 0;
}

static int create_target(struct config *c, struct node *n, const struct args *a, struct reply *r,
			 struct err *e)
{
	char made_up[224], name[224];
	const char *wwn = arg(a, "wwn");
	struct node *t;
	if (!wwn)
		name_new_iqn(made_up);
	int code = normal_name(wwn ? wwn : made_up, true, name, e);
	if (!code)
		code = target_new(c, &t, name, e);
	if (code)
		return code;
	reply_say(r, "Created target %s.", name);
	return make_tpg(c, t, 1, r, e);
}

static int normal_target(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE],
			 struct err *e)
{
	return normal_name(arg(a, "wwn"), false, out, e);
}

static const char *discovery_warning(const struct auth_group *d)
{
	return d->enable && credentials_of(d) < CREDENTIALS_ONE_WAY
		       ? "discovery requires CHAP, but has no userid and password: it is refused"
		       : NULL;
}

static void summarize_iscsi(struct config *c, const struct node *n, struct summary *ret)
{
	static const char *const words[] = { "", "disc auth, no credentials, ", "1-way disc auth, ",
					     "mutual disc auth, " };
	const struct auth_group *d = &NODE_OF(const struct fabric_node, n)->discovery;
	int kind = !d->enable ? 0 : discovery_warning(d) ? 1 : d->auth.mutual_userid[0] ? 3 : 2;
	ret->warning = discovery_warning(d);
	ret->is_broken = ret->warning;
	snprintf(ret->text, sizeof ret->text, "%sTargets: %u", words[kind], n->child_count);
}

// ---- /iscsi/WWN ----

static int parse_tag(const char *text, struct err *e)
{
	int tag = number_of(text, "tpg", 65535);
	if (tag < 0)
		return err_set(e, -EINVAL, "Tag argument must be a number. ('%.20s'; 0..65535)",
			       text);
	return tag;
}

static int create_tpg(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	const char *text = arg(a, "tag");
	int tag = text ? parse_tag(text, e) : 1;
	if (tag < 0)
		return tag;
	for (char name[16]; !text && tag < 65535; tag++) {
		snprintf(name, sizeof name, "tpg%d", tag);
		if (!node_child(&c->names, n, name))
			break;
	}
	return make_tpg(c, n, (unsigned)tag, r, e);
}

static int normal_tag(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE],
		      struct err *e)
{
	int tag = parse_tag(arg(a, "tag"), e);
	snprintf(out, CHILD_NAME_SIZE, "%d", tag);
	return tag < 0 ? tag : 0;
}

static void info_target(struct config *c, const struct node *n, struct json_object *ret)
{
	json_put_text(ret, "wwn", n->name);
	json_put_number(ret, "sessions", sessions_count(n->name, -1, NULL));
}

static void target_attached(struct config *c, struct node *n, bool is_attached)
{
	c->targets->is_view_dirty = true;
}

static void target_changed(struct config *c, struct node *n)
{
	published_changed(c, &NODE_OF(struct target, n)->published);
}

static void discovery_changed(struct config *c, struct node *n)
{
	c->targets->is_view_dirty = true;
}

static void free_target(struct config *c, struct node *n)
{
	struct target *t = NODE_OF(struct target, n);
	published_done(&t->published);
	node_done(n);
	free(t);
}

// ---- tpgN ----

static void summarize_tpg(struct config *c, const struct node *n, struct summary *ret)
{
	const struct tpg *tpg = NODE_OF(const struct tpg, n);
	const struct view_auth *v = &tpg->auth.auth;
	const struct fabric_access access = tpg_access(tpg);
	const char *auth = "no-auth";
	if (!tpg->is_enabled) {
		snprintf(ret->text, sizeof ret->text, "disabled");
		ret->is_broken = true;
		return;
	}
	ret->warning = tpg_warning(tpg);
	ret->is_broken = ret->warning;
	ret->is_healthy = !ret->is_broken;
	if (access.needs_credentials && !access.is_open)
		auth = "auth per-acl";
	else if (access.needs_credentials)
		auth = v->mutual_userid[0] ? "tpg-auth, mutual auth"
		       : v->userid[0]	   ? "tpg-auth, 1-way auth"
					   : "tpg-auth, no credentials";
	snprintf(ret->text, sizeof ret->text, "%s, %s", access.is_open ? "gen-acls" : "no-gen-acls",
		 auth);
}

static void info_tpg(struct config *c, const struct node *n, struct json_object *ret)
{
	const struct tpg *tpg = NODE_OF(const struct tpg, n);
	tpg_info(tpg, ret);
	json_put_number(ret, "sessions", sessions_count(n->parent->name, tpg->tag, NULL));
}

// ---- the saved file ----

static int make_saved_tpg(struct restore *r, struct node *n, const char *name,
			  struct json_object *o, struct node **ret, struct err *e)
{
	return tpg_new(r->c, ret, n, (unsigned)number_of(name, "tpg", 65535), e);
}

static int make_saved_target(struct restore *r, struct node *n, const char *name,
			     struct json_object *o, struct node **ret, struct err *e)
{
	return target_new(r->c, ret, name, e);
}

static int saved_target_name(struct restore *r, struct node *n, struct json_object *o,
			     char out[SAVED_NAME_SIZE], struct err *e)
{
	int code = normal_name(json_text(o, "wwn"), false, out, e);
	return code ? code : restore_leaves_target(r, n, out);
}

static bool has_discovery_auth(const struct node *n)
{
	const struct auth_group *d = &NODE_OF(const struct fabric_node, n)->discovery;
	return d->enable || d->auth.userid[0] || d->auth.mutual_userid[0];
}

// ---- rows ----

// clang-format off
static const struct command_row iscsi_commands[] = {
	{ "create", PARAMS(
		{ "wwn", PARAM_STRING, false, NULL, "target name (default: generated)" }),
	  "Create a target with portal group 1 and, by default, a portal.", false, create_target },
	{ "delete", PARAMS(
		{ "wwn", PARAM_CHILD, true, NULL, "target name" },
		PARAM_FORCE),
	  "Delete a target and end its sessions.", false, delete_child },
	{ 0 },
};
static const struct command_row target_commands[] = {
	{ "create", PARAMS(
		{ "tag", PARAM_STRING, false, NULL, "5 or tpg5 (default: the next free tag)" }),
	  "Create a target portal group.", false, create_tpg },
	{ "delete", PARAMS(
		{ "tag", PARAM_CHILD, true, NULL, "5 or tpg5" },
		PARAM_FORCE),
	  "Delete a target portal group and end its sessions.", false, delete_child },
	{ 0 },
};
static const struct command_row tpg_commands[] = {
	{ "enable", NULL, "Allow logins.", false, tpg_enable },
	{ "disable", NULL, "Refuse logins and end the sessions.", false, tpg_disable },
	{ 0 },
};
// clang-format on

static int check_discovery(struct config *c, struct node *n, struct err *e)
{
	return auth_check(&NODE_OF(const struct fabric_node, n)->discovery, e);
}

// enable=1 may come first: refused, it would leave discovery open where the next lines succeed.
static void warn_discovery(const struct node *n, const struct group_row *g,
			   struct json_object *values, struct reply *r)
{
	const char *text = discovery_warning(&NODE_OF(const struct fabric_node, n)->discovery);
	if (!text || strcmp(g->name, "discovery_auth"))
		return;
	reply_say(r, "Warning: %s.", text);
	reply_say(r,
		  "Either set credentials: /iscsi set discovery_auth userid=NAME password=SECRET");
	reply_say(r, "or do not require them: /iscsi set discovery_auth enable=0");
}

// clang-format off
static const struct group_row iscsi_groups[] = {
	{ .name = "discovery_auth", .form = SAVED_TYPED, .prefix = "discovery_", .is_whole = true,
	  .rows = discovery_rows, .at = offsetof(struct fabric_node, discovery),
	  .size = sizeof(struct auth_group), .check = check_discovery },
	{ 0 },
};
// clang-format on

static const struct node_class *const tpg_lists[] = { &lun_class, &acl_class, &portal_class, NULL };
static const struct saved_class tpg_saved = {
	.list = "tpgs",
	.id = { "tag" },
	.prefix = "tpg",
	.is_numbered = true,
	.fields = tpg_fields,
	.lists = tpg_lists,
	.make = make_saved_tpg,
	.filled = tpg_keep_port,
};
static const struct node_class *const target_lists[] = { &tpg_class, NULL };
static const struct saved_class target_saved = {
	.list = "targets",
	.id = {"fabric", "wwn"},
	.between = "/",
	.lists = target_lists,
	.name = saved_target_name,
	.make = make_saved_target,
};
static const struct saved_class iscsi_saved = {
	.list = "fabric_modules",
	.targets = &target_class,
	.is_set = has_discovery_auth,
	.id = { "name" },
};

const struct node_class iscsi_class = {
	.name = "iscsi",
	.help = "iSCSI targets",
	.saved = &iscsi_saved,
	.changed = discovery_changed,
	.commands = iscsi_commands,
	.child = {"No target %s", "Deleted Target %s.", .normal = normal_target},
	.groups = iscsi_groups,
	.warn = warn_discovery,
	.summary = summarize_iscsi,
};
const struct node_class target_class = {
	.name = "target",
	.help = "An iSCSI target",
	.is_target = true,
	.saved = &target_saved,
	.attached = target_attached,
	.changed = target_changed,
	.is_used = place_is,
	.commands = target_commands,
	.child = {"No TPGT %s", "Deleted TPGT %s.", "tpg", normal_tag},
	.counts = "TPGs",
	.info = info_target,
	.free = free_target,
};
const struct node_class tpg_class = {
	.name = "tpg",
	.help = "A target portal group",
	.is_group = true,
	.saved = &tpg_saved,
	.warn = credentials_warn,
	.is_used = place_is,
	.commands = tpg_commands,
	.groups = tpg_groups,
	.summary = summarize_tpg,
	.info = info_tpg,
	.attached = tpg_attached,
	.free = tpg_free,
};

void iscsi_rows_use(void)
{
	tpg_groups_use(fabric());
	acl_groups_use(fabric());
	portal_groups_use(fabric());
}
