// SPDX-License-Identifier: BSD-2-Clause
// Initiators that may log in, and their LUNs: /iscsi/WWN/tpgN/acls.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/model.h"
#include "target/fabric/refusals.h"
#include "target/fabric/sessions.h"

enum { SEEN_MAX = 64 };

static int map_all_luns(struct config *c, struct tpg *tpg, struct acl *a, struct reply *r,
			struct err *e)
{
	struct node **luns = node_sorted(&tpg->luns);
	int code = 0;
	for (unsigned i = 0; luns && i < tpg->luns.child_count && !code; i++) {
		struct lun *l = NODE_OF(struct lun, luns[i]);
		struct mapped_lun *m;
		code = mapped_lun_new(c, &m, a, l->number, l, false, e);
		if (!code)
			reply_say(r, "Created mapped LUN %u.", l->number);
	}
	free(luns);
	return code;
}

// Initiators that this target has recently refused for lack of an ACL, for free(); NULL: no memory.
static struct login_refusal *seen_list(struct config *c, struct node *n, unsigned *ret_count)
{
	struct login_refusal *list = calloc(SEEN_MAX, sizeof *list);
	unsigned count = list ? login_refusals(list, SEEN_MAX) : 0, kept = 0;
	for (unsigned i = 0; i < count; i++)
		if (list[i].cause == REFUSED_ACL && !strcmp(list[i].target, target_name(n)) &&
		    !node_child(&c->names, n, list[i].initiator))
			list[kept++] = list[i];
	*ret_count = kept;
	return list;
}

static void say_one_seen(const struct login_refusal *l, const struct tpg *tpg, struct reply *r)
{
	char name[224];
	unsigned long count = (unsigned long)l->count;
	if (acl_name(tpg, l->initiator, name, NULL) < 0)
		reply_say(r, "%s from %s, refused %lu time%s (invalid name: no ACL can admit it)",
			  l->initiator, l->peer, count, count == 1 ? "" : "s");
	else
		reply_say(r, "%s from %s, refused %lu time%s (admit it: create from_seen=%s)",
			  l->initiator, l->peer, count, count == 1 ? "" : "s", l->initiator);
}

static int say_seen(struct config *c, struct node *n, struct reply *r, struct err *e)
{
	unsigned count;
	struct login_refusal *list = seen_list(c, n, &count);
	if (!list)
		return err_set(e, -ENOMEM, "acls: out of memory");
	if (!count)
		reply_say(r, "No recent refusals for lack of an ACL.");
	for (unsigned i = 0; i < count; i++)
		say_one_seen(&list[i], tpg_of(n), r);
	free(list);
	return 0;
}

static int check_seen(struct config *c, struct node *n, const char *name, struct err *e)
{
	unsigned count;
	bool is_there = false;
	struct login_refusal *list = seen_list(c, n, &count);
	for (unsigned i = 0; i < count; i++)
		is_there = is_there || !strcmp(list[i].initiator, name);
	free(list);
	if (is_there)
		return 0;
	return err_set(e, -ENOENT,
		       "%.100s: no recent refusal for lack of an ACL (create --from-seen "
		       "lists them)",
		       name);
}

static int create_acl(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	struct tpg *tpg = tpg_of(n);
	struct acl *acl;
	const char *name = arg(a, "wwn"), *seen = arg(a, "from_seen");
	if ((name && !strcmp(name, "--from-seen")) || (seen && !*seen))
		return say_seen(c, n, r, e);
	if (seen && name)
		return err_set(e, -EBADRQC, "wwn and from_seen exclude each other");
	if (!seen && !name)
		return err_set(e, -EBADRQC, "Missing required parameter wwn");
	int code = seen ? check_seen(c, n, seen, e) : 0;
	if (!code)
		code = acl_new(c, &acl, tpg, seen ? seen : name, e);
	if (!code)
		reply_say(r, "Created Node ACL for %s", acl->node.name);
	if (!code && arg_bool(a, "add_mapped_luns", c->prefs.auto_add_mapped_luns))
		code = map_all_luns(c, tpg, acl, r, e);
	if (!code)
		acl_warn(acl, r);
	return config_finish(c, code, e);
}

static int delete_one(struct config *c, struct acl *acl, const struct args *a, struct reply *r,
		      struct err *e)
{
	int code = in_use_refuse(c, &acl->node, a, e);
	if (!code)
		reply_say(r, "Deleted Node ACL for %s.", acl->node.name);
	return code ? code : model_remove(c, &acl->node, e);
}

static int delete_acl(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	const char *who = arg(a, "wwn");
	bool is_one = acl_by_name(c, n, who);
	struct acl *acl = acl_next(c, n, who, NULL);
	int code = 0;
	if (!acl)
		return acl_unknown(who, e);
	for (; !code && acl; acl = is_one ? NULL : acl_next(c, n, who, NULL))
		code = delete_one(c, acl, a, r, e);
	return config_finish(c, code, e);
}

static void summarize_acls(struct config *c, const struct node *n, struct summary *ret)
{
	snprintf(ret->text, sizeof ret->text, "ACLs: %u", n->child_count);
}

static void summarize_acl(struct config *c, const struct node *n, struct summary *ret)
{
	const struct acl *a = NODE_OF(const struct acl, n);
	static const char *const words[] = {
		[CREDENTIALS_NONE] = "auth required, no credentials",
		[CREDENTIALS_NO_PASSWORD] = "auth required, no password",
		[CREDENTIALS_ONE_WAY] = "1-way auth",
		[CREDENTIALS_MUTUAL] = "mutual auth",
	};
	bool is_own;
	enum credentials has = credentials_of_acl(a, &is_own);
	const char *auth = !acl_needs_credentials(a)		   ? "no-auth"
			   : !is_own && has >= CREDENTIALS_ONE_WAY ? "auth via tpg"
								   : words[has];
	snprintf(ret->text, sizeof ret->text, "%s%s%s%s, Mapped LUNs: %u", a->tag ? "(tag " : "",
		 a->tag ? a->tag : "", a->tag ? "), " : "", auth, n->child_count);
	ret->warning = acl_warning(a);
	ret->is_broken = ret->warning;
	ret->is_healthy = !ret->is_broken;
}

static void info_acl(struct config *c, const struct node *n, struct json_object *ret)
{
	const char *target = target_name(n);
	unsigned sessions = sessions_count(target, tpg_of(n)->tag, n->name);
	json_put_text(ret, "node_wwn", n->name);
	json_put_text(ret, "tag", NODE_OF(const struct acl, n)->tag);
	json_object_object_add(ret, "sessions", json_object_new_int64(sessions));
}

void acl_free(struct config *c, struct node *n)
{
	struct acl *a = NODE_OF(struct acl, n);
	free(a->tag);
	node_done(n);
	explicit_bzero(&a->auth, sizeof a->auth);
	free(a);
}

// ---- an ACL's mapped LUNs ----

static void free_node(struct config *c, struct node *n)
{
	node_done(n);
	free(n); // the object begins with its node
}

static bool is_mapped(const struct lun *l, const struct node *acl)
{
	list_for_each (i, &l->mapped)
		if (list_entry(i, struct mapped_lun, lun_link)->node.parent == acl)
			return true;
	return false;
}

static int create_mapping(struct config *c, struct node *n, const struct args *a, struct reply *r,
			  struct err *e)
{
	struct acl *acl = NODE_OF(struct acl, n);
	struct mapped_lun *m;
	struct lun *l;
	int number = number_pick(c, n, "mapped_lun", arg(a, "mapped_lun"), e);
	if (number < 0)
		return number;
	int code = lun_for(c, tpg_of(n), arg(a, "tpg_lun_or_backstore"), &l, r, e);
	if (code < 0)
		return config_finish(c, code, e);
	if (is_mapped(l, n))
		reply_say(r, "Warning: TPG LUN %u already mapped to this NodeACL", l->number);
	code = mapped_lun_new(c, &m, acl, (uint32_t)number, l, arg_bool(a, "write_protect", false),
			      e);
	reply_say(r, "Created Mapped LUN %d.", number);
	return config_finish(c, code, e);
}

static int delete_mapping(struct config *c, struct node *n, const struct args *a, struct reply *r,
			  struct err *e)
{
	char name[24];
	int number = number_of(arg(a, "mapped_lun"), "mapped_lun", 65535);
	if (number < 0)
		return err_set(e, -EINVAL,
			       "mapped_lun: '%.60s' is not a mapped LUN (such as 3 or mapped_lun3)",
			       arg(a, "mapped_lun"));
	snprintf(name, sizeof name, "mapped_lun%d", number);
	struct node *m = node_child(&c->names, n, name);
	if (!m)
		return err_set(e, -ENOENT, "no mapped LUN %d", number);
	int code = in_use_refuse(c, m, a, e);
	if (!code)
		code = model_remove(c, m, e);
	reply_say(r, "Deleted Mapped LUN %d.", number);
	return config_finish(c, code, e);
}

static void summarize_mapping(struct config *c, const struct node *n, struct summary *ret)
{
	const struct mapped_lun *m = NODE_OF(const struct mapped_lun, n);
	if (!m->lun || !m->lun->storage) {
		snprintf(ret->text, sizeof ret->text, "BROKEN LUN LINK");
		ret->is_broken = true;
		return;
	}
	const struct storage *s = m->lun->storage;
	snprintf(ret->text, sizeof ret->text, "lun%u %s/%s (%s)", m->lun->number,
		 s->node.parent->name, s->node.name, m->is_write_protected ? "ro" : "rw");
	ret->is_healthy = s->lu != NULL;
	ret->is_broken = !s->lu;
}

static void attach_mapping(struct config *c, struct node *n, bool is_attached)
{
	struct mapped_lun *m = NODE_OF(struct mapped_lun, n);
	if (m->lun && is_attached)
		list_push_back(&m->lun->mapped, &m->lun_link);
	else
		list_remove(&m->lun_link);
}

// ---- rows ----

// clang-format off
static const struct param_row create_acl_params[] = {
	{ "wwn", PARAM_INITIATOR, false, NULL, "initiator name", NULL },
	{ "add_mapped_luns", PARAM_BOOL, false, NULL, "map all LUNs (default: see get global)", NULL },
	{ "from_seen", PARAM_INITIATOR, false, NULL,
	  "recently refused initiator; empty: list them", "--from-seen" },
	{ 0 },
};
static const struct param_row acl_params[] = {
	{ "wwn", PARAM_CHILD, true, NULL, "initiator name or tag", NULL },
	PARAM_FORCE,
	{ 0 },
};
static const struct param_row tag_params[] = {
	{ "wwn_or_tag", PARAM_CHILD, true, NULL, "initiator name or tag", NULL },
	{ "new_tag", PARAM_STRING, true, NULL, "tag; an ACL with the same tag is copied", NULL },
	PARAM_FORCE,
	{ 0 },
};
static const struct param_row untag_params[] = {
	{ "wwn_or_tag", PARAM_CHILD, true, NULL, "initiator name or tag", NULL },
	{ 0 },
};
static const struct param_row create_mapping_params[] = {
	{ "mapped_lun", PARAM_STRING, true, NULL, "LUN number for the initiator", NULL },
	{ "tpg_lun_or_backstore", PARAM_LUN, true, NULL,
	  "LUN of the portal group, or path of a storage object", NULL },
	{ "write_protect", PARAM_BOOL, false, "false", "true: read-only access", NULL },
	{ 0 },
};
static const struct param_row mapping_params[] = {
	{ "mapped_lun", PARAM_CHILD, true, NULL, "3 or mapped_lun3", NULL },
	PARAM_FORCE,
	{ 0 },
};
static const struct command_row acls_commands[] = {
	{ "create", create_acl_params, "Allow an initiator to log in.", false, create_acl },
	{ "delete", acl_params, "Delete an ACL, or all with a tag, and end its sessions.", false,
	  delete_acl },
	{ "tag", tag_params,
	  "Tag an ACL, or all with a tag; ACLs with one tag share their settings.",
	  false, acl_tag },
	{ "untag", untag_params, "Remove the tag.", false, acl_untag },
	{ 0 },
};
const struct command_row acl_commands[] = {
	{ "create", create_mapping_params, "Map a LUN for this initiator.", false,
	  create_mapping },
	{ "delete", mapping_params, "Delete a mapped LUN.", false, delete_mapping },
	{ 0 },
};
// clang-format on

const struct node_class acls_class = {
	.name = "acls",
	.help = "Initiators that may log in",
	.commands = acls_commands,
	.summary = summarize_acls,
};
const struct node_class acl_class = {
	.name = "acl",
	.help = "One initiator and the LUNs it sees",
	.commands = acl_commands,
	.groups = acl_groups,
	.summary = summarize_acl,
	.info = info_acl,
	.free = acl_free,
};
const struct node_class mapped_lun_class = {
	.name = "mapped_lun",
	.help = "A LUN as the initiator sees it",
	.summary = summarize_mapping,
	.attached = attach_mapping,
	.free = free_node,
};
