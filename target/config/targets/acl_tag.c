// SPDX-License-Identifier: BSD-2-Clause
// Tags: several initiators under one name. An ACL that gets a tag of others takes their mapped
// LUNs, settings and secrets. Control thread.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/tree/settings.h"
#include "target/config/targets/acl.h"
#include "target/config/targets/lun.h"
#include "target/config/tree/in_use.h"

struct acl *acl_by_name(struct config *c, struct node *acls, const char *text)
{
	char name[224];
	struct node *n = acl_name(tpg_of(acls), text, name, NULL) < 0
				 ? NULL
				 : node_child(&c->names, acls, name);
	return n ? NODE_OF(struct acl, n) : NULL;
}

struct acl *acl_by_tag(const struct node *acls, const char *tag)
{
	list_each (struct acl, a, &acls->children, node.link)
		if (a->tag && !strcmp(a->tag, tag))
			return a;
	return NULL;
}

int acl_unknown(const char *text, struct err *e)
{
	return err_set(e, -ENOENT, "No Node ACL for %.200s", text);
}

static int take_mappings(struct config *c, struct acl *a, const struct acl *like, struct err *e)
{
	int r = tree_remove_children(c, &a->node, e);
	list_each (const struct mapped_lun, m, &like->node.children, node.link)
		if (!r)
			r = mapped_lun_new(c, NULL, &a->node, m->number, m->lun, m->tpg_lun,
					   m->is_write_protected, e);
	return r;
}

static int become(struct config *c, struct acl *a, const struct acl *like, struct err *e)
{
	size_t size = tpg_of(&a->node)->kind->fabric()->acl.size;
	int r = take_mappings(c, a, like, e);
	if (r < 0)
		return r;
	if (txn_change(c, a->own, like->own, size) < 0 ||
	    txn_change(c, &a->auth, &like->auth, sizeof a->auth) < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", a->node.name);
	tree_changed(c, &a->node);
	return settings_forget_all(c, &a->node, e);
}

static int join(struct config *c, struct acl *a, const char *tag, const struct acl *like,
		const struct args *args, struct err *e)
{
	if (a->tag && !strcmp(a->tag, tag))
		return 0;
	int r = like ? in_use_refuse(c, &a->node, args, e) : 0;
	if (!r && like)
		r = become(c, a, like, e);
	return r < 0 ? r : acl_set_tag(c, a, tag, e);
}

int acl_tag(struct config *c, struct node *n, const struct args *a, struct reply *r, struct err *e)
{
	const char *who = arg(a, "wwn_or_tag"), *tag = arg(a, "new_tag");
	struct acl *named = acl_by_name(c, n, who), *acl = named ? named : acl_by_tag(n, who);
	const struct acl *like = acl_by_tag(n, tag);
	int code = 0;
	if (!acl)
		return acl_unknown(who, e);
	if (!*tag || strchr(tag, '.') || strchr(tag, '/'))
		return err_set(e, -EINVAL, "invalid tag (not empty, without . and /)");
	if (!named && !strcmp(who, tag))
		return 0;
	// An ACL with the new tag is not found by the old one again.
	for (; !code && acl; acl = named ? NULL : acl_by_tag(n, who))
		code = join(c, acl, tag, like, a, e);
	return code;
}

int acl_untag(struct config *c, struct node *n, const struct args *a, struct reply *r,
	      struct err *e)
{
	const char *who = arg(a, "wwn_or_tag");
	struct acl *named = acl_by_name(c, n, who), *acl = named ? named : acl_by_tag(n, who);
	int code = 0;
	if (!acl)
		return acl_unknown(who, e);
	for (; !code && acl; acl = named ? NULL : acl_by_tag(n, who))
		code = acl_set_tag(c, acl, NULL, e);
	return code;
}
