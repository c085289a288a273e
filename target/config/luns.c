// SPDX-License-Identifier: BSD-2-Clause
// LUNs of a portal group and their mappings for initiators: .../luns, .../acls.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/config/model.h"
#include "target/iscsi/sessions.h"

// The lowest number that no child of n named PREFIXnumber has.
static uint32_t free_number(const struct config *c, const struct node *n, const char *prefix)
{
	char name[24];
	uint32_t i = 0;
	for (; i <= LUN_MAX; i++) {
		snprintf(name, sizeof name, "%s%u", prefix, i);
		if (!node_child(&c->names, n, name))
			break;
	}
	return i;
}

static int pick_number(const struct config *c, const struct node *n, const char *prefix,
		       const char *text, struct err *e)
{
	int number = text ? number_of(text, prefix, LUN_MAX) : (int)free_number(c, n, prefix);
	if (number < 0 || number > LUN_MAX)
		return err_set(e, -EINVAL, "%.40s: no LUN number (0..%d)", text ? text : prefix,
			       LUN_MAX);
	return number;
}

// ---- luns ----

static struct lun *lun_of_storage(const struct tpg *tpg, const struct storage *s)
{
	list_for_each (i, &s->luns) {
		struct lun *l = list_entry(i, struct lun, storage_link);
		if (l->node.parent == &tpg->luns)
			return l;
	}
	return NULL;
}

// A storage object for a file or device that is there, named after its path, as targetcli
// makes one.
static int storage_for_path(struct config *c, const char *path, struct storage **ret,
			    struct reply *r, struct err *e)
{
	struct stat st;
	char name[NAME_MAX_LEN + 1];
	struct storage *s = map_get(&c->paths, &c->paths, path);
	if (s) {
		*ret = s;
		return 0;
	}
	if (*path != '/' || stat(path, &st) < 0 || !(S_ISBLK(st.st_mode) || S_ISREG(st.st_mode)))
		return err_set(e, -ENOENT, "storage object or path not valid: %.120s", path);
	snprintf(name, sizeof name, "%s", path + 1);
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '-';
	const char *plugin = S_ISBLK(st.st_mode) ? "block" : "fileio";
	int code = storage_new(c, &s, storage_type_of(c, plugin)->type, name, e);
	if (!code)
		code = storage_set_option(s, "dev", path, e);
	if (!code)
		code = storage_open(s, true, e);
	if (code < 0)
		return code;
	storage_class.attached(c, &s->node, true);
	reply_say(r, "Created storage object %s.", name);
	*ret = s;
	return 0;
}

static int map_for_acls(struct config *c, struct tpg *tpg, struct lun *l, struct reply *r,
			struct err *e)
{
	list_for_each (i, &tpg->acls.children) {
		struct acl *a = NODE_OF(struct acl, list_entry(i, struct node, link));
		struct mapped_lun *m;
		uint32_t number = l->number;
		char name[24];
		snprintf(name, sizeof name, "mapped_lun%u", number);
		if (node_child(&c->names, &a->node, name))
			number = free_number(c, &a->node, "mapped_lun");
		int code = mapped_lun_new(c, &m, a, number, l, false, e);
		if (code < 0)
			return code;
		reply_say(r, "Created LUN %u->%u mapping in node ACL %s", l->number, number,
			  a->node.name);
	}
	return 0;
}

static int create_lun(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	const char *path = arg(a, "storage_object");
	struct storage *s = storage_find(c, path);
	struct tpg *tpg = tpg_of(n);
	struct lun *l;
	int number = pick_number(c, n, "lun", arg(a, "lun"), e);
	if (number < 0)
		return number;
	int code = s ? 0 : storage_for_path(c, path, &s, r, e);
	if (!code && lun_of_storage(tpg, s))
		code = err_set(e, -EEXIST, "lun for storage object %s/%s already exists",
			       s->node.parent->name, s->node.name);
	if (!code)
		code = lun_new(c, &l, tpg, (uint32_t)number, s, e);
	if (!code) {
		reply_say(r, "Created LUN %d.", number);
		if (!s->lu)
			reply_say(r, "Its storage is waiting: %s", s->reason);
	}
	if (!code && arg_bool(a, "add_mapped_luns", true))
		code = map_for_acls(c, tpg, l, r, e);
	return config_finish(c, code, e);
}

static int delete_lun(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	char name[16];
	int number = number_of(arg(a, "lun"), "lun", 65535);
	snprintf(name, sizeof name, "lun%d", number);
	struct node *l = number < 0 ? NULL : node_child(&c->names, n, name);
	if (!l)
		return err_set(e, -ENOENT, "Invalid LUN");
	int code = model_remove(c, l, e);
	reply_say(r, "Deleted LUN %d.", number);
	return config_finish(c, code, e);
}

static void summarize_luns(struct config *c, const struct node *n, struct summary *ret)
{
	snprintf(ret->text, sizeof ret->text, "LUNs: %u", n->child_count);
}

static void summarize_lun(struct config *c, const struct node *n, struct summary *ret)
{
	const struct lun *l = NODE_OF(const struct lun, n);
	const struct storage *s = l->storage;
	if (!s) {
		snprintf(ret->text, sizeof ret->text, "BROKEN STORAGE LINK");
		ret->is_broken = true;
		return;
	}
	const char *dev = storage_get_option(s, "dev");
	snprintf(ret->text, sizeof ret->text, "%s/%s%s%.100s%s (%.60s)%s", s->node.parent->name,
		 s->node.name, dev ? " (" : "", dev ? dev : "", dev ? ")" : "", l->group,
		 s->lu ? "" : ", waiting for its storage");
	ret->is_healthy = s->lu != NULL;
	ret->is_broken = !s->lu;
}

static void attach_lun(struct config *c, struct node *n, bool is_attached)
{
	struct lun *l = NODE_OF(struct lun, n);
	if (!l->storage)
		return;
	if (is_attached)
		list_push_back(&l->storage->luns, &l->storage_link);
	else
		list_remove(&l->storage_link);
	l->storage->lun_count += is_attached ? 1 : -1u;
}

static void free_lun(struct config *c, struct node *n)
{
	struct lun *l = NODE_OF(struct lun, n);
	if (l->storage && l->storage->lu && l->relative_port)
		alua_port_remove(l->storage->lu, l->relative_port);
	node_done(n);
	free(l);
}

static void free_node(struct config *c, struct node *n)
{
	node_done(n);
	free(n); // the object begins with its node
}

// ---- acls ----

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

static int create_acl(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	struct tpg *tpg = tpg_of(n);
	struct acl *acl;
	int code = acl_new(c, &acl, tpg, arg(a, "wwn"), e);
	if (!code)
		reply_say(r, "Created Node ACL for %s", acl->node.name);
	if (!code && arg_bool(a, "add_mapped_luns", true))
		code = map_all_luns(c, tpg, acl, r, e);
	return config_finish(c, code, e);
}

// By name, or by tag: then it is the first of those that carry it.
static struct acl *acl_find(struct config *c, struct node *n, const char *text)
{
	char name[224];
	struct node *found =
		name_iscsi(text, false, name, NULL) < 0 ? NULL : node_child(&c->names, n, name);
	if (found)
		return NODE_OF(struct acl, found);
	list_for_each (i, &n->children) {
		struct acl *a = NODE_OF(struct acl, list_entry(i, struct node, link));
		if (a->tag && !strcmp(a->tag, text))
			return a;
	}
	return NULL;
}

static int no_acl(const char *text, struct err *e)
{
	return err_set(e, -ENOENT, "No Node ACL for %.200s", text);
}

static int delete_acl(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	struct acl *acl = acl_find(c, n, arg(a, "wwn"));
	if (!acl)
		return no_acl(arg(a, "wwn"), e);
	reply_say(r, "Deleted Node ACL for %s.", acl->node.name);
	return config_finish(c, model_remove(c, &acl->node, e), e);
}

static int set_tag(struct config *c, struct acl *a, const char *tag, struct err *e)
{
	char *copy = tag ? strdup(tag) : NULL;
	if (tag && !copy)
		return err_set(e, -ENOMEM, "%s: out of memory", a->node.name);
	char *old = a->tag;
	int code = txn_memory(c, &a->tag, sizeof a->tag);
	if (!code)
		a->tag = copy;
	code = config_finish(c, code, e);
	free(code < 0 ? copy : old);
	return code;
}

static int tag_acl(struct config *c, struct node *n, const struct args *a, struct reply *r,
		   struct err *e)
{
	const char *tag = arg(a, "new_tag");
	struct acl *acl = acl_find(c, n, arg(a, "wwn_or_tag"));
	if (!acl)
		return no_acl(arg(a, "wwn_or_tag"), e);
	if (!*tag || strchr(tag, '.') || strchr(tag, '/'))
		return err_set(e, -EINVAL, "A tag is not empty and has neither . nor /");
	return set_tag(c, acl, tag, e);
}

static int untag_acl(struct config *c, struct node *n, const struct args *a, struct reply *r,
		     struct err *e)
{
	struct acl *acl = acl_find(c, n, arg(a, "wwn_or_tag"));
	return acl ? set_tag(c, acl, NULL, e) : no_acl(arg(a, "wwn_or_tag"), e);
}

static void summarize_acls(struct config *c, const struct node *n, struct summary *ret)
{
	snprintf(ret->text, sizeof ret->text, "ACLs: %u", n->child_count);
}

static void summarize_acl(struct config *c, const struct node *n, struct summary *ret)
{
	const struct acl *a = NODE_OF(const struct acl, n);
	const struct tpg *tpg = tpg_of(n);
	const struct view_auth *v = &a->auth.auth;
	uint32_t must = a->attr.authentication < 0 ? tpg->attr.authentication
						   : (uint32_t)a->attr.authentication;
	const char *auth = "no-auth";
	if (must && tpg->attr.generate_node_acls)
		auth = "auth via tpg";
	else if (must)
		auth = v->mutual_userid[0] && v->userid[0] ? "mutual auth"
		       : v->userid[0]			   ? "1-way auth"
							   : "auth required, no credentials";
	snprintf(ret->text, sizeof ret->text, "%s%s%s%s, Mapped LUNs: %u", a->tag ? "(tag " : "",
		 a->tag ? a->tag : "", a->tag ? "), " : "", auth, n->child_count);
	ret->is_healthy = !must || v->userid[0] || tpg->attr.generate_node_acls;
	ret->is_broken = !ret->is_healthy;
}

static void info_acl(struct config *c, const struct node *n, struct json_object *ret)
{
	const char *target = target_of(n)->node.name;
	unsigned sessions = sessions_count(target, tpg_of(n)->tag, n->name);
	json_put_text(ret, "node_wwn", n->name);
	json_put_text(ret, "tag", NODE_OF(const struct acl, n)->tag);
	json_object_object_add(ret, "sessions", json_object_new_int64(sessions));
}

static void free_acl(struct config *c, struct node *n)
{
	struct acl *a = NODE_OF(struct acl, n);
	free(a->tag);
	node_done(n);
	explicit_bzero(&a->auth, sizeof a->auth);
	free(a);
}

// ---- an ACL's mapped LUNs ----

static struct lun *find_tpg_lun(struct config *c, struct tpg *tpg, const char *text)
{
	char name[16];
	int number = number_of(text, "lun", 65535);
	struct storage *s = number < 0 ? storage_find(c, text) : NULL;
	if (s)
		return lun_of_storage(tpg, s);
	snprintf(name, sizeof name, "lun%d", number);
	struct node *l = number < 0 ? NULL : node_child(&c->names, &tpg->luns, name);
	return l ? NODE_OF(struct lun, l) : NULL;
}

static int create_mapping(struct config *c, struct node *n, const struct args *a, struct reply *r,
			  struct err *e)
{
	struct acl *acl = NODE_OF(struct acl, n);
	struct lun *l = find_tpg_lun(c, tpg_of(n), arg(a, "tpg_lun_or_backstore"));
	struct mapped_lun *m;
	if (!l)
		return err_set(e, -ENOENT, "Invalid LUN: no %.100s in this portal group",
			       arg(a, "tpg_lun_or_backstore"));
	int number = pick_number(c, n, "mapped_lun", arg(a, "mapped_lun"), e);
	if (number < 0)
		return number;
	list_for_each (i, &l->mapped)
		if (list_entry(i, struct mapped_lun, lun_link)->node.parent == n)
			reply_say(r, "Warning: TPG LUN %u already mapped to this NodeACL",
				  l->number);
	int code = mapped_lun_new(c, &m, acl, (uint32_t)number, l,
				  arg_bool(a, "write_protect", false), e);
	reply_say(r, "Created Mapped LUN %d.", number);
	return config_finish(c, code, e);
}

static int delete_mapping(struct config *c, struct node *n, const struct args *a, struct reply *r,
			  struct err *e)
{
	char name[24];
	int number = number_of(arg(a, "mapped_lun"), "mapped_lun", 65535);
	snprintf(name, sizeof name, "mapped_lun%d", number);
	struct node *m = number < 0 ? NULL : node_child(&c->names, n, name);
	if (!m)
		return err_set(e, -ENOENT, "Invalid mapped LUN");
	reply_say(r, "Deleted Mapped LUN %d.", number);
	return config_finish(c, model_remove(c, m, e), e);
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

#define ADD_MAPPED                                                                                 \
	{                                                                                          \
		"add_mapped_luns", PARAM_BOOL, false, "true", "map the LUN for every ACL at once", \
			NULL                                                                       \
	}

// clang-format off
static const struct param_row create_lun_params[] = {
	{ "storage_object", PARAM_NODE, true, NULL,
	  "path of a storage object, or of a file or device that is there", NULL },
	{ "lun", PARAM_STRING, false, NULL, "3 or lun3; the lowest free one by default", NULL },
	ADD_MAPPED,
	{ 0 },
};
static const struct param_row lun_params[] = {
	{ "lun", PARAM_NODE, true, NULL, "3 or lun3", NULL },
	{ 0 },
};
static const struct param_row create_acl_params[] = {
	{ "wwn", PARAM_STRING, true, NULL, "initiator name", NULL },
	{ "add_mapped_luns", PARAM_BOOL, false, "true", "map every LUN at once", NULL },
	{ 0 },
};
static const struct param_row acl_params[] = {
	{ "wwn", PARAM_NODE, true, NULL, "initiator name or tag", NULL },
	{ 0 },
};
static const struct param_row tag_params[] = {
	{ "wwn_or_tag", PARAM_NODE, true, NULL, "initiator name or tag", NULL },
	{ "new_tag", PARAM_STRING, true, NULL, "a word to call it by", NULL },
	{ 0 },
};
static const struct param_row untag_params[] = {
	{ "wwn_or_tag", PARAM_NODE, true, NULL, "initiator name or tag", NULL },
	{ 0 },
};
static const struct param_row create_mapping_params[] = {
	{ "mapped_lun", PARAM_STRING, true, NULL, "number the initiator sees", NULL },
	{ "tpg_lun_or_backstore", PARAM_NODE, true, NULL,
	  "LUN of the portal group, or path of its storage object", NULL },
	{ "write_protect", PARAM_BOOL, false, "false", "true: the initiator may not write", NULL },
	{ 0 },
};
static const struct param_row mapping_params[] = {
	{ "mapped_lun", PARAM_NODE, true, NULL, "3 or mapped_lun3", NULL },
	{ 0 },
};
static const struct command_row luns_commands[] = {
	{ "create", create_lun_params, "Exports a storage object as a LUN.", false, create_lun },
	{ "delete", lun_params, "Deletes a LUN and its mappings.", false, delete_lun },
	{ 0 },
};
static const struct command_row acls_commands[] = {
	{ "create", create_acl_params, "Lets an initiator log in.", false, create_acl },
	{ "delete", acl_params, "Deletes an ACL; the initiator's sessions end.", false,
	  delete_acl },
	{ "tag", tag_params, "Gives an ACL a short name.", false, tag_acl },
	{ "untag", untag_params, "Takes the short name away.", false, untag_acl },
	{ 0 },
};
static const struct command_row acl_commands[] = {
	{ "create", create_mapping_params, "Maps a LUN for this initiator.", false,
	  create_mapping },
	{ "delete", mapping_params, "Takes a mapped LUN away.", false, delete_mapping },
	{ 0 },
};
// clang-format on

extern const struct group_row acl_groups[];

const struct node_class luns_class = {
	.name = "luns",
	.help = "Storage objects exported by this portal group",
	.commands = luns_commands,
	.summary = summarize_luns,
};
const struct node_class lun_class = {
	.name = "lun",
	.help = "A LUN of the portal group",
	.groups = lun_groups,
	.summary = summarize_lun,
	.attached = attach_lun,
	.free = free_lun,
};
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
	.free = free_acl,
};
const struct node_class mapped_lun_class = {
	.name = "mapped_lun",
	.help = "A LUN as the initiator sees it",
	.summary = summarize_mapping,
	.attached = attach_mapping,
	.free = free_node,
};
