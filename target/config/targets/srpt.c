// SPDX-License-Identifier: BSD-2-Clause
// /srpt: SRP targets. A target is a port of an adapter and has one portal group, so both are one
// node; initiators need an ACL. The names are those of T10 SRP annex B as the kernel's target and
// rtslib write them. Control thread.
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/targets/acl.h"
#include "target/config/targets/lun.h"
#include "target/config/targets/srpt.h"
#include "target/config/tree/in_use.h"
#include "transport/srp/name.h"

#define WAITS "SRP is not supported yet"

// ---- /srpt ----

struct srpt_attr {
	uint32_t srp_max_rdma_size, srp_max_rsp_size, srp_sq_size, use_srq;
};

// clang-format off
#define FIELD(field) offsetof(struct srpt_attr, field)
static const struct attr_row srpt_attr_rows[] = {
	{ "srp_max_rdma_size", ATTR_UINT, FIELD(srp_max_rdma_size), 65536, 1 << 24, "65536",
	  "bytes", "largest RDMA Read or Write", NULL, ATTR_RESTART },
	{ "srp_max_rsp_size", ATTR_UINT, FIELD(srp_max_rsp_size), 40, 1024, "256", "bytes",
	  "longest response, sense data included", NULL, ATTR_RESTART },
	{ "srp_sq_size", ATTR_UINT, FIELD(srp_sq_size), 16, 65535, "4096", "requests",
	  "size of the send queue", NULL, ATTR_RESTART },
	{ "use_srq", ATTR_BOOL, FIELD(use_srq), 0, 1, "0", NULL,
	  "1: all logins of a device share a receive queue", NULL, ATTR_RESTART },
	{ 0 },
};
// clang-format on

// The part of a fabric that the tree needs.
static const struct fabric_ops *fabric(void)
{
	static struct fabric_ops srpt = {
		.name = "srpt",
		.name_initiator = name_srpt_initiator,
		.group = {srpt_attr_rows, sizeof(struct srpt_attr)},
	};
	fabric_fill(&srpt);
	return &srpt;
}

static const struct tpg_kind srpt_kind = { .acl_class = &srpt_acl_class, .fabric = fabric };

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

// Whether a port of this machine has this GID.
static bool has_port(const char *name)
{
	glob_t g;
	bool has = false;
	if (glob("/sys/class/infiniband/*/ports/*/gids/*", 0, NULL, &g))
		return false;
	for (size_t i = 0; !has && i < g.gl_pathc; i++) {
		char line[64] = "", full[224];
		FILE *f = fopen(g.gl_pathv[i], "re");
		if (f && fgets(line, sizeof line, f)) {
			line[strcspn(line, "\n")] = 0;
			has = !name_srpt_target(line, full, NULL) && !strcmp(full, name);
		}
		if (f)
			fclose(f);
	}
	globfree(&g);
	return has;
}

static int create(struct config *c, struct node *n, const struct args *a, struct reply *r,
		  struct err *e)
{
	char name[224];
	struct node *t;
	const char *wwn = arg(a, "wwn");
	if (!wwn)
		return err_set(e, -EINVAL,
			       "Fabric cannot generate WWN but it was not given (wwn=ib. and a "
			       "port's GID: cat /sys/class/infiniband/*/ports/*/gids/0)");
	int code = name_srpt_target(wwn, name, e);
	if (!code)
		code = new_target(c, &t, name, e);
	if (code < 0)
		return code;
	if (!has_port(name))
		reply_say(r, "Warning: Hardware missing for this WWN");
	reply_say(r, "Created target %s.", name);
	reply_say(r, "Warning: target waiting: " WAITS);
	return 0;
}

static int normal_target(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE],
			 struct err *e)
{
	return name_srpt_target(arg(a, "wwn"), out, e);
}

static void info_fabric(struct config *c, const struct node *n, struct json_object *ret)
{
	json_put_text(ret, "state", "waiting");
	json_put_text(ret, "reason", WAITS);
}

// ---- a target ----

static void summarize_target(struct config *c, const struct node *n, struct summary *ret)
{
	bool is_enabled = NODE_OF(const struct tpg, n)->is_enabled;
	snprintf(ret->text, sizeof ret->text, "%s",
		 is_enabled ? "no-gen-acls, waiting: " WAITS : "disabled");
	ret->is_broken = true;
}

static void info_target(struct config *c, const struct node *n, struct json_object *ret)
{
	json_put_text(ret, "wwn", n->name);
	tpg_info(NODE_OF(const struct tpg, n), ret);
	info_fabric(c, n, ret);
}

// ---- the saved file ----

static int saved_name(struct restore *r, struct node *n, struct json_object *o,
		      char out[SAVED_NAME_SIZE], struct err *e)
{
	int code = name_srpt_target(json_text(o, "wwn"), out, e);
	return code ? code : restore_leaves_target(r, n, out);
}

static int make_saved(struct restore *r, struct node *n, const char *name, struct json_object *o,
		      struct node **ret, struct err *e)
{
	return new_target(r->c, ret, name, e);
}

// The same node is given as an existing one, since its target was read before it.
static int keep_port(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		     struct err *e)
{
	return tpg_keep_port(r, n, o, false, e);
}

// ---- rows ----

// clang-format off
static const struct command_row commands[] = {
	{ "create", PARAMS(
		{ "wwn", PARAM_STRING, false, NULL,
		  "port of this machine: ib. and the 32 hex digits of its GID, or its GUID" }),
	  "Create a target on a port of an adapter.", false, create },
	{ "delete", PARAMS(
		{ "wwn", PARAM_CHILD, true, NULL, "target name" }),
	  "Delete a target.", false, delete_child },
	{ 0 },
};
static const struct command_row target_commands[] = {
	{ "enable", NULL, "Allow logins.", false, tpg_enable },
	{ "disable", NULL, "Refuse logins.", false, tpg_disable },
	{ 0 },
};
static const struct group_row target_groups[] = {
	{ .name = "attribute", .form = SAVED_NUMBERS, .part = "attributes", .rows = srpt_attr_rows,
	  .at = offsetof(struct tpg, own), .size = sizeof(struct srpt_attr) },
	{ 0 },
};
// clang-format on

static const struct node_class *const lists[] = { &lun_class, &srpt_acl_class, NULL };
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
	.filled = keep_port,
};

static const struct saved_class fabric_saved = { .targets = &srpt_target_class };

const struct node_class srpt_class = {
	.name = "srpt",
	.help = "SRP targets",
	.saved = &fabric_saved,
	.commands = commands,
	.child = {"No target %s", "Deleted Target %s.", .normal = normal_target},
	.counts = "Targets",
	.info = info_fabric,
};
const struct node_class srpt_target_class = {
	.name = "srpt_target",
	.help = "An SRP target, with its one portal group",
	.is_target = true,
	.is_group = true,
	.saved = &target_saved,
	.commands = target_commands,
	.groups = target_groups,
	.summary = summarize_target,
	.info = info_target,
	.attached = tpg_attached,
	.free = tpg_free,
};
const struct node_class srpt_acl_class = {
	.name = "srpt_acl",
	.help = "One SRP initiator and the LUNs it sees",
	.saved = &acl_saved,
	.commands = acl_commands,
	.child = ACL_CHILD,
	.summary = acl_summary,
	.free = acl_free,
};
