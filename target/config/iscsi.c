// SPDX-License-Identifier: BSD-2-Clause
// /iscsi, its targets and their portal groups: commands, summaries, groups.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/model.h"
#include "target/fabric/sessions.h"

// ---- /iscsi ----

static bool has_default_portal(const struct config *c, const struct target *t)
{
	list_for_each (i, &t->node.children) {
		const struct tpg *tpg = NODE_OF(struct tpg, list_entry(i, struct node, link));
		if (node_child(&c->names, &tpg->portals, "0.0.0.0:3260"))
			return true;
	}
	return false;
}

static int make_tpg(struct config *c, struct target *t, unsigned tag, struct reply *r,
		    struct err *e)
{
	struct portal_node *p;
	struct tpg *tpg;
	bool is_taken = has_default_portal(c, t);
	int code = tpg_new(c, &tpg, t, tag, e);
	if (code < 0)
		return code;
	tpg->is_enabled = c->prefs.auto_enable_tpgt;
	reply_say(r, "Created TPG %u.", tag);
	if (!c->prefs.auto_add_default_portal)
		return 0;
	if (is_taken) {
		reply_say(r, "Default portal not created, TPGs within a target cannot share "
			     "ip:port.");
		return 0;
	}
	code = portal_new(c, &p, tpg, "0.0.0.0", 3260, PORTAL_ALL, false, e);
	if (code < 0)
		return code;
	reply_say(r, "Global pref auto_add_default_portal=true");
	reply_say(r, "Created default portal listening on all IPs (0.0.0.0), port 3260.");
	if (portal_state(p->open) == PORTAL_WAITING)
		reply_say(r, "Warning: portal waiting: %s", portal_reason(p->open));
	return 0;
}

static int create_target(struct config *c, struct node *n, const struct args *a, struct reply *r,
			 struct err *e)
{
	char made_up[224], name[224];
	const char *wwn = arg(a, "wwn");
	struct target *t;
	if (!wwn)
		name_new_iqn(made_up);
	int code = name_iscsi(wwn ? wwn : made_up, true, name, e);
	if (!code)
		code = target_new(c, &t, name, e);
	if (!code) {
		reply_say(r, "Created target %s.", t->node.name);
		code = make_tpg(c, t, 1, r, e);
	}
	return config_finish(c, code, e);
}

static int delete_target(struct config *c, struct node *n, const struct args *a, struct reply *r,
			 struct err *e)
{
	char name[224];
	int code = name_iscsi(arg(a, "wwn"), false, name, e);
	if (code < 0)
		return code;
	struct node *t = node_child(&c->names, n, name);
	if (!t)
		return err_set(e, -ENOENT, "No target %s", name);
	code = in_use_refuse(c, t, a, e);
	if (!code)
		code = model_remove(c, t, e);
	reply_say(r, "Deleted Target %s.", name);
	return config_finish(c, code, e);
}

static void summarize_iscsi(struct config *c, const struct node *n, struct summary *ret)
{
	static const char *const words[] = { "", "1-way disc auth, ", "mutual disc auth, " };
	const struct view_auth *v = &c->discovery.auth;
	int kind = c->discovery.enable ? (v->mutual_userid[0] ? 2 : 1) : 0;
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
	struct target *t = NODE_OF(struct target, n);
	const char *text = arg(a, "tag");
	int tag = 1;
	if (text) {
		tag = parse_tag(text, e);
		if (tag < 0)
			return tag;
	}
	for (char name[16]; !text && tag < 65535; tag++) {
		snprintf(name, sizeof name, "tpg%d", tag);
		if (!node_child(&c->names, n, name))
			break;
	}
	return config_finish(c, make_tpg(c, t, (unsigned)tag, r, e), e);
}

static int delete_tpg(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	int tag = parse_tag(arg(a, "tag"), e);
	if (tag < 0)
		return tag;
	char name[16];
	snprintf(name, sizeof name, "tpg%d", tag);
	struct node *tpg = node_child(&c->names, n, name);
	if (!tpg)
		return err_set(e, -ENOENT, "No TPGT %d", tag);
	int code = in_use_refuse(c, tpg, a, e);
	if (!code)
		code = model_remove(c, tpg, e);
	reply_say(r, "Deleted TPGT %d.", tag);
	return config_finish(c, code, e);
}

static void summarize_target(struct config *c, const struct node *n, struct summary *ret)
{
	snprintf(ret->text, sizeof ret->text, "TPGs: %u", n->child_count);
}

static void info_target(struct config *c, const struct node *n, struct json_object *ret)
{
	json_put_text(ret, "wwn", n->name);
	json_object_object_add(ret, "sessions",
			       json_object_new_int64(sessions_count(n->name, -1, NULL)));
}

static void free_target(struct config *c, struct node *n)
{
	struct target *t = NODE_OF(struct target, n);
	list_remove(&t->dirty_link);
	view_target_put(t->view);
	node_done(n);
	free(t);
}

// ---- tpgN ----

static int switch_tpg(struct config *c, struct node *n, bool is_on, struct reply *r, struct err *e)
{
	struct tpg *tpg = NODE_OF(struct tpg, n);
	if (tpg->is_enabled == is_on) {
		reply_say(r, "The TPGT is already %s.", is_on ? "enabled" : "disabled");
		return 0;
	}
	int code = txn_memory(c, &tpg->is_enabled, sizeof tpg->is_enabled);
	if (!code) {
		tpg->is_enabled = is_on;
		model_dirty(c, n);
	}
	reply_say(r, "The TPGT has been %s.", is_on ? "enabled" : "disabled");
	return config_finish(c, code, e);
}

int tpg_enable(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e)
{
	return switch_tpg(c, n, true, r, e);
}

int tpg_disable(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e)
{
	return switch_tpg(c, n, false, r, e);
}

static void summarize_tpg(struct config *c, const struct node *n, struct summary *ret)
{
	const struct tpg *tpg = NODE_OF(const struct tpg, n);
	const struct view_auth *v = &tpg->auth.auth;
	const char *auth = "no-auth";
	if (!tpg->is_enabled) {
		snprintf(ret->text, sizeof ret->text, "disabled");
		ret->is_broken = true;
		return;
	}
	ret->warning = tpg_warning(tpg);
	ret->is_broken = ret->warning;
	ret->is_healthy = !ret->is_broken;
	if (tpg->attr.authentication && !tpg->attr.generate_node_acls)
		auth = "auth per-acl";
	else if (tpg->attr.authentication)
		auth = v->mutual_userid[0] ? "tpg-auth, mutual auth"
		       : v->userid[0]	   ? "tpg-auth, 1-way auth"
					   : "tpg-auth, no credentials";
	snprintf(ret->text, sizeof ret->text, "%s, %s",
		 tpg->attr.generate_node_acls ? "gen-acls" : "no-gen-acls", auth);
}

static void info_tpg(struct config *c, const struct node *n, struct json_object *ret)
{
	const struct tpg *tpg = NODE_OF(const struct tpg, n);
	unsigned sessions = sessions_count(n->parent->name, tpg->tag, NULL);
	json_object_object_add(ret, "tag", json_object_new_int64(tpg->tag));
	json_object_object_add(ret, "relative_target_port",
			       json_object_new_int64(tpg->relative_port));
	json_object_object_add(ret, "enable", json_object_new_boolean((int)tpg->is_enabled));
	json_object_object_add(ret, "sessions", json_object_new_int64(sessions));
}

void tpg_attached(struct config *c, struct node *n, bool is_attached)
{
	uint16_t port = NODE_OF(struct tpg, n)->relative_port;
	uint8_t bit = (uint8_t)(1u << port % 8);
	if (is_attached)
		c->ports[port / 8] |= bit;
	else
		c->ports[port / 8] &= (uint8_t)~bit;
}

void tpg_want_port(struct config *c, struct tpg *tpg, uint16_t port)
{
	if (!port || c->ports[port / 8] & 1u << port % 8)
		return;
	tpg_attached(c, &tpg->node, false);
	tpg->relative_port = port;
	tpg_attached(c, &tpg->node, true);
}

void tpg_free(struct config *c, struct node *n)
{
	struct tpg *tpg = NODE_OF(struct tpg, n);
	node_done(&tpg->acls);
	node_done(&tpg->luns);
	node_done(&tpg->portals);
	node_done(n);
	explicit_bzero(&tpg->auth, sizeof tpg->auth);
	free(tpg);
}

// ---- rows ----

// clang-format off
static const struct param_row wwn_optional[] = {
	{ "wwn", PARAM_STRING, false, NULL, "target name (default: generated)", NULL },
	{ 0 },
};
static const struct param_row wwn_required[] = {
	{ "wwn", PARAM_CHILD, true, NULL, "target name", NULL },
	PARAM_FORCE,
	{ 0 },
};
static const struct param_row tag_optional[] = {
	{ "tag", PARAM_STRING, false, NULL, "5 or tpg5 (default: the next free tag)", NULL },
	{ 0 },
};
static const struct param_row tag_required[] = {
	{ "tag", PARAM_CHILD, true, NULL, "5 or tpg5", NULL },
	PARAM_FORCE,
	{ 0 },
};
static const struct command_row iscsi_commands[] = {
	{ "create", wwn_optional, "Create a target with portal group 1 and, by default, a portal.",
	  false, create_target },
	{ "delete", wwn_required, "Delete a target and end its sessions.", false, delete_target },
	{ 0 },
};
static const struct command_row target_commands[] = {
	{ "create", tag_optional, "Create a target portal group.", false, create_tpg },
	{ "delete", tag_required, "Delete a target portal group and end its sessions.", false,
	  delete_tpg },
	{ 0 },
};
static const struct command_row tpg_commands[] = {
	{ "enable", NULL, "Allow logins.", false, tpg_enable },
	{ "disable", NULL, "Refuse logins and end the sessions.", false, tpg_disable },
	{ 0 },
};
// clang-format on

extern const struct group_row iscsi_groups[], tpg_groups[];

const struct node_class iscsi_class = {
	.name = "iscsi",
	.help = "iSCSI targets",
	.commands = iscsi_commands,
	.groups = iscsi_groups,
	.summary = summarize_iscsi,
};
const struct node_class target_class = {
	.name = "target",
	.help = "An iSCSI target",
	.commands = target_commands,
	.summary = summarize_target,
	.info = info_target,
	.free = free_target,
};
const struct node_class tpg_class = {
	.name = "tpg",
	.help = "A target portal group",
	.commands = tpg_commands,
	.groups = tpg_groups,
	.summary = summarize_tpg,
	.info = info_tpg,
	.attached = tpg_attached,
	.free = tpg_free,
};
