// SPDX-License-Identifier: BSD-2-Clause
// An initiator that may log in, and its LUNs: /iscsi/WWN/tpgN/acls/INITIATOR.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/targets/acl.h"
#include "target/config/targets/credentials.h"
#include "target/config/targets/lun.h"
#include "target/config/tree/in_use.h"
#include "target/fabric/sessions.h"

int acl_name(const struct tpg *tpg, const char *in, char out[224], struct err *e)
{
	return tpg->kind->fabric()->name_initiator(in, out, e);
}

int acl_new(struct config *c, struct node **ret, struct tpg *tpg, const char *initiator,
	    struct err *e)
{
	char name[224];
	int r = acl_name(tpg, initiator, name, e);
	if (r < 0)
		return r;
	const struct fabric_settings *settings = &tpg->kind->fabric()->acl;
	struct acl *a = tree_new(sizeof *a + settings->size, tpg->kind->acl_class, name, e);
	if (!a)
		return -ENOMEM;
	attr_defaults(settings->rows, a->own);
	settings->init(a->own);
	*ret = &a->node;
	return tree_add(c, &tpg->acls, &a->node, e, "Node ACL for %s already exists", name);
}

// clang-format off
enum { ATTRIBUTE, PARAMETER };
static struct group_row acl_groups[] = {
	[ATTRIBUTE] = ACL_ATTRIBUTE_GROUP,
	[PARAMETER] = { .name = "parameter", .at = offsetof(struct acl, own),
			.get = negotiated_get },
	AUTH_GROUP(struct acl),
	{ 0 },
};

static const struct attr_row common_rows[] = {
	{ "host", ATTR_STRING, offsetof(struct acl_common, host), 0, FABRIC_HOST_SIZE, "", NULL,
	  "ACLs with the same host, of any protocol, are one initiator and may remove each other's nexuses",
	  NULL, ATTR_OWN },
	{ 0 },
};
// clang-format on

void acl_attributes_use(struct group_row *attribute, struct attr_row rows[ACL_ROWS_MAX],
			const struct fabric_ops *fabric)
{
	const size_t own = offsetof(struct acl, own) - offsetof(struct acl, common);
	const unsigned max = ACL_ROWS_MAX - sizeof common_rows / sizeof *common_rows;
	unsigned n = 0;
	for (const struct attr_row *row = fabric->acl.rows; row->name && n < max; row++) {
		rows[n] = *row;
		rows[n++].offset += own;
	}
	memcpy(rows + n, common_rows, sizeof common_rows);
	attribute->rows = rows;
	attribute->size = own + fabric->acl.size;
}

void acl_groups_use(const struct fabric_ops *fabric)
{
	static struct attr_row rows[ACL_ROWS_MAX];
	acl_attributes_use(&acl_groups[ATTRIBUTE], rows, fabric);
	acl_groups[PARAMETER].size = fabric->acl.size;
	acl_groups[PARAMETER].rows = fabric->negotiated_rows;
}

void acl_summary(struct config *c, const struct node *n, struct summary *ret)
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
	bool has_auth = n->class->warn; // not of SRP
	const char *auth = !has_auth				   ? ""
			   : !acl_needs_credentials(a)		   ? "no-auth"
			   : !is_own && has >= CREDENTIALS_ONE_WAY ? "auth via tpg"
								   : words[has];
	const char *host = a->common.host;
	snprintf(ret->text, sizeof ret->text, "%s%s%s%s%s%s%s%sMapped LUNs: %u",
		 a->tag ? "(tag " : "", a->tag ? a->tag : "", a->tag ? "), " : "",
		 *host ? "host " : "", host, *host ? ", " : "", auth, has_auth ? ", " : "",
		 n->child_count);
	ret->warning = has_auth ? acl_warning(a) : NULL;
	ret->is_broken = ret->warning;
	ret->is_healthy = !ret->is_broken;
}

void acl_info(struct config *c, const struct node *n, struct json_object *ret)
{
	const char *target = target_name(n);
	json_put_text(ret, "node_wwn", n->name);
	const struct acl *a = NODE_OF(const struct acl, n);
	json_put_text(ret, "tag", a->tag);
	json_put_text(ret, "host", *a->common.host ? a->common.host : NULL);
	json_put_text(ret, "preset", acl_preset(a));
	json_put_number(ret, "sessions", sessions_count(target, tpg_of(n)->tag, n->name));
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

static bool is_mapped(const struct lun *l, const struct node *acl)
{
	list_each (const struct mapped_lun, m, &l->mapped, lun_link)
		if (m->node.parent == acl)
			return true;
	return false;
}

static int create_mapping(struct config *c, struct node *n, const struct args *a, struct reply *r,
			  struct err *e)
{
	struct lun *l;
	int number = number_pick(c, n, "mapped_lun", arg(a, "mapped_lun"), e);
	if (number < 0)
		return number;
	int code = lun_for(c, tpg_of(n), a, &l, r, e);
	if (code < 0)
		return code;
	if (is_mapped(l, n))
		reply_say(r, "Warning: TPG LUN %u already mapped to this NodeACL", l->number);
	code = mapped_lun_new(c, NULL, n, (uint32_t)number, l, l->number,
			      arg_bool(a, "write_protect", false), e);
	reply_say(r, "Created Mapped LUN %d.", number);
	return code;
}

int acl_set_tag(struct config *c, struct acl *a, const char *tag, struct err *e)
{
	char *copy = tag ? strdup(tag) : NULL;
	if ((tag && !copy) || txn_text(c, &a->tag, copy) < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", a->node.name);
	return 0;
}

// ---- the saved file ----

static size_t saved_tag(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	const char *tag = NODE_OF(const struct acl, n)->tag;
	snprintf(out, size, "%s", tag ? tag : "");
	return strlen(out);
}

static int saved_acl_name(struct restore *r, struct node *n, struct json_object *o,
			  char out[SAVED_NAME_SIZE], struct err *e)
{
	const char *name = json_text(o, "node_wwn");
	return name ? acl_name(tpg_of(n), name, out, e) : err_set(e, -EINVAL, "missing 'node_wwn'");
}

static int make_acl(struct restore *r, struct node *n, const char *name, struct json_object *o,
		    struct node **ret, struct err *e)
{
	return acl_new(r->c, ret, tpg_of(n), name, e);
}

static int set_tag(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		   struct err *e)
{
	struct acl *a = NODE_OF(struct acl, n);
	const char *tag = json_text(o, "tag");
	if (tag && !*tag)
		tag = NULL;
	if ((!tag && !a->tag) || (tag && a->tag && !strcmp(tag, a->tag)))
		return 0;
	return acl_set_tag(r->c, a, tag, e);
}

// ---- rows ----

// clang-format off
#define COMMANDS \
	{ "create", PARAMS( \
		{ "mapped_lun", PARAM_STRING, true, NULL, "LUN number for the initiator" }, \
		{ "tpg_lun_or_backstore", PARAM_LUN, true, NULL, \
		  "LUN of the portal group, or path of a storage object" }, \
		{ "write_protect", PARAM_BOOL, false, "false", "true: read-only access" }, \
		PARAM_INSPECT), \
	  "Map a LUN for this initiator.", false, create_mapping }, \
	{ "delete", PARAMS( \
		{ "mapped_lun", PARAM_CHILD, true, NULL, "3 or mapped_lun3" }, \
		PARAM_FORCE), \
	  "Delete a mapped LUN.", false, delete_child }

const struct command_row acl_commands[] = {
	COMMANDS,
	{ 0 },
};
static const struct command_row iscsi_acl_commands[] = {
	COMMANDS,
	{ "preset", PARAMS(
		{ "name", PARAM_STRING, true, NULL,
		  "boot: for a machine with its root disk here, which may be slow or stand still; "
		  "default: as a new ACL", NULL, ACL_PRESETS }),
	  "Set the timeouts for a purpose.", false, acl_preset_command },
	{ 0 },
};
static const struct group_row acl_fields[] = {
	{ .form = SAVED_TYPED, .get = saved_tag, .rows = VALUES(
		{ "tag", ATTR_STRING, .flags = ATTR_GIVEN | ATTR_SPARSE }) },
	{ 0 },
};
// clang-format on

static const struct node_class *const acl_lists[] = { &mapped_lun_class, NULL };
// Of an SRP target, which has none; rtslib may write them.
static const char *const acl_ignored[] = { "chap_userid", "chap_password", "chap_mutual_userid",
					   "chap_mutual_password", NULL };
const struct saved_class acl_saved = {
	.list = "node_acls",
	.folder = "acls",
	.id = { "node_wwn" },
	.fields = acl_fields,
	.lists = acl_lists,
	.ignored = acl_ignored,
	.name = saved_acl_name,
	.make = make_acl,
	.filled = set_tag,
};

const struct node_class acl_class = {
	.name = "acl",
	.help = "One initiator and the LUNs it sees",
	.saved = &acl_saved,
	.warn = credentials_warn,
	.is_used = place_is,
	.commands = iscsi_acl_commands,
	.child = ACL_CHILD,
	.groups = acl_groups,
	.summary = acl_summary,
	.info = acl_info,
	.free = acl_free,
};
