// SPDX-License-Identifier: BSD-2-Clause
// /srpt: SRP targets. A target is a port of an adapter and has one portal group, so both are one
// node; initiators need an ACL. The names are those of T10 SRP annex B as the kernel's target and
// rtslib write them. Control thread.
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/model.h"

#define WAITS "SRP is not supported yet"

// ---- /srpt ----

int srpt_target_new(struct config *c, struct srpt_target **ret, const char *name, struct err *e)
{
	char taken[280];
	struct srpt_target *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(e, -ENOMEM, "%s: out of memory", name);
	snprintf(taken, sizeof taken, "target %s already exists", name);
	attr_defaults(srpt_attr_rows, &t->attr);
	t->tpg.is_enabled = 1;
	int r = tpg_add(c, &t->tpg, &c->srpt, &srpt_target_class, name, 1, taken, e);
	if (!r)
		*ret = t;
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
	struct srpt_target *t;
	const char *wwn = arg(a, "wwn");
	if (!wwn)
		return err_set(e, -EINVAL,
			       "Fabric cannot generate WWN but it was not given (wwn=ib. and a "
			       "port's GID: cat /sys/class/infiniband/*/ports/*/gids/0)");
	int code = name_srpt_target(wwn, name, e);
	if (!code)
		code = srpt_target_new(c, &t, name, e);
	if (!code) {
		if (!has_port(name))
			reply_say(r, "Warning: Hardware missing for this WWN");
		reply_say(r, "Created target %s.", name);
		reply_say(r, "Warning: target waiting: " WAITS);
	}
	return config_finish(c, code, e);
}

static int delete (struct config *c, struct node *n, const struct args *a, struct reply *r,
		   struct err *e)
{
	char name[224];
	int code = name_srpt_target(arg(a, "wwn"), name, e);
	if (code < 0)
		return code;
	struct node *t = node_child(&c->names, n, name);
	if (!t)
		return err_set(e, -ENOENT, "No target %s", name);
	code = model_remove(c, t, e);
	reply_say(r, "Deleted Target %s.", name);
	return config_finish(c, code, e);
}

static void summarize(struct config *c, const struct node *n, struct summary *ret)
{
	snprintf(ret->text, sizeof ret->text, "Targets: %u", n->child_count);
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
	const struct tpg *tpg = NODE_OF(const struct tpg, n);
	json_put_text(ret, "wwn", n->name);
	json_object_object_add(ret, "tag", json_object_new_int64(tpg->tag));
	json_object_object_add(ret, "relative_target_port",
			       json_object_new_int64(tpg->relative_port));
	json_object_object_add(ret, "enable", json_object_new_boolean((int)tpg->is_enabled));
	info_fabric(c, n, ret);
}

static void *target_attr(struct node *n)
{
	return &container_of(n, struct srpt_target, tpg.node)->attr;
}

static void summarize_acl(struct config *c, const struct node *n, struct summary *ret)
{
	const struct acl *a = NODE_OF(const struct acl, n);
	snprintf(ret->text, sizeof ret->text, "%s%s%sMapped LUNs: %u", a->tag ? "(tag " : "",
		 a->tag ? a->tag : "", a->tag ? "), " : "", n->child_count);
	ret->is_healthy = true;
}

// ---- rows ----

// clang-format off
#define FIELD(field) offsetof(struct srpt_attr, field)
const struct attr_row srpt_attr_rows[] = {
	{ "srp_max_rdma_size", ATTR_UINT, FIELD(srp_max_rdma_size), 65536, 1 << 24, "65536", "bytes",
	  "largest RDMA Read or Write", NULL, ATTR_RESTART },
	{ "srp_max_rsp_size", ATTR_UINT, FIELD(srp_max_rsp_size), 40, 1024, "256", "bytes",
	  "longest response, sense data included", NULL, ATTR_RESTART },
	{ "srp_sq_size", ATTR_UINT, FIELD(srp_sq_size), 16, 65535, "4096", "requests",
	  "size of the send queue", NULL, ATTR_RESTART },
	{ "use_srq", ATTR_BOOL, FIELD(use_srq), 0, 1, "0", NULL,
	  "1: all logins of a device share a receive queue", NULL, ATTR_RESTART },
	{ 0 },
};
static const struct param_row create_params[] = {
	{ "wwn", PARAM_STRING, false, NULL,
	  "port of this machine: ib. and the 32 hex digits of its GID, or its GUID", NULL },
	{ 0 },
};
static const struct param_row delete_params[] = {
	{ "wwn", PARAM_CHILD, true, NULL, "target name", NULL },
	{ 0 },
};
static const struct command_row commands[] = {
	{ "create", create_params, "Create a target on a port of an adapter.", false, create },
	{ "delete", delete_params, "Delete a target.", false, delete },
	{ 0 },
};
static const struct command_row target_commands[] = {
	{ "enable", NULL, "Allow logins.", false, tpg_enable },
	{ "disable", NULL, "Refuse logins.", false, tpg_disable },
	{ 0 },
};
static const struct group_row target_groups[] = {
	{ .name = "attribute", .rows = srpt_attr_rows, .base = target_attr,
	  .size = sizeof(struct srpt_attr) },
	{ 0 },
};
// clang-format on

const struct node_class srpt_class = {
	.name = "srpt",
	.help = "SRP targets",
	.commands = commands,
	.summary = summarize,
	.info = info_fabric,
};
const struct node_class srpt_target_class = {
	.name = "srpt_target",
	.help = "An SRP target, with its one portal group",
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
	.commands = acl_commands,
	.summary = summarize_acl,
	.free = acl_free,
};
