// SPDX-License-Identifier: BSD-2-Clause
// Initiators that may log in: /iscsi/WWN/tpgN/acls.
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/targets/acl.h"
#include "target/config/targets/credentials.h"
#include "target/config/targets/lun.h"
#include "target/config/tree/in_use.h"
#include "target/fabric/refusals.h"
#include "target/fabric/sessions.h"

enum { SEEN_MAX = 64 };

static int map_all_luns(struct config *c, struct tpg *tpg, struct node *acl, struct reply *r,
			struct err *e)
{
	struct node **luns = node_sorted(&tpg->luns);
	int code = 0;
	for (unsigned i = 0; luns && i < tpg->luns.child_count && !code; i++) {
		struct lun *l = NODE_OF(struct lun, luns[i]);
		code = mapped_lun_new(c, NULL, acl, l->number, l, l->number, false, e);
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

// A port identifier with all its digits and colons is also an IPv6 address in full.
static void say_not_address(const char *given, const char *name, struct reply *r)
{
	struct in6_addr a;
	char text[INET6_ADDRSTRLEN];
	if (inet_pton(AF_INET6, given, &a) != 1 || strncmp(name, "ib.", 3))
		return;
	reply_say(r, "It admits this port identifier, not the address %s.",
		  inet_ntop(AF_INET6, &a, text, sizeof text));
}

static int create_acl(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	struct tpg *tpg = tpg_of(n);
	struct node *acl;
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
	if (code < 0)
		return code;
	reply_say(r, "Created Node ACL for %s", acl->name);
	say_not_address(seen ? seen : name, acl->name, r);
	if (arg_bool(a, "add_mapped_luns", c->prefs.auto_add_mapped_luns))
		code = map_all_luns(c, tpg, acl, r, e);
	if (!code && arg(a, "preset"))
		code = acl_set_preset(c, NODE_OF(struct acl, acl), arg(a, "preset"), r, e);
	if (!code)
		acl_warn(NODE_OF(struct acl, acl), r);
	return code;
}

static int delete_acl(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	const char *who = arg(a, "wwn");
	struct acl *named = acl_by_name(c, n, who), *acl = named ? named : acl_by_tag(n, who);
	int code = 0;
	if (!acl)
		return acl_unknown(who, e);
	for (; !code && acl; acl = named ? NULL : acl_by_tag(n, who)) {
		reply_say(r, "Deleted Node ACL for %s.", acl->node.name);
		code = delete_unused(c, &acl->node, a, e);
	}
	return code;
}

// ---- rows ----

// clang-format off
static const struct command_row acls_commands[] = {
	{ "create", PARAMS(
		{ "wwn", PARAM_INITIATOR, false, NULL, "initiator name" },
		{ "add_mapped_luns", PARAM_BOOL, false, NULL,
		  "map all LUNs (default: see get global)" },
		{ "from_seen", PARAM_INITIATOR, false, NULL,
		  "recently refused initiator; empty: list them", "--from-seen" },
		{ "preset", PARAM_STRING, false, NULL,
		  "iSCSI: boot: timeouts for a machine with its root disk here (see preset of an ACL)",
		  NULL, ACL_PRESETS }),
	  "Allow an initiator to log in.", false, create_acl },
	{ "delete", PARAMS(
		{ "wwn", PARAM_CHILD, true, NULL, "initiator name or tag" },
		PARAM_FORCE),
	  "Delete an ACL, or all with a tag, and end its sessions.", false, delete_acl },
	{ "tag", PARAMS(
		{ "wwn_or_tag", PARAM_CHILD, true, NULL, "initiator name or tag" },
		{ "new_tag", PARAM_STRING, true, NULL, "tag; an ACL with the same tag is copied" },
		PARAM_FORCE),
	  "Tag an ACL, or all with a tag; ACLs with one tag share their settings.", false,
	  acl_tag },
	{ "untag", PARAMS(
		{ "wwn_or_tag", PARAM_CHILD, true, NULL, "initiator name or tag" }),
	  "Remove the tag.", false, acl_untag },
	{ 0 },
};
// clang-format on

const struct node_class acls_class = {
	.name = "acls",
	.help = "Initiators that may log in",
	.commands = acls_commands,
	.counts = "ACLs",
};
