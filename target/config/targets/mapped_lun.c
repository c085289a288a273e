// SPDX-License-Identifier: BSD-2-Clause
// A LUN of an ACL: /iscsi/WWN/tpgN/acls/INITIATOR/mapped_lunN.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/config/targets/lun.h"
#include "target/config/tree/in_use.h"
#include "target/config/tree/names.h"

int mapped_lun_new(struct config *c, struct node **ret, struct node *acl, uint32_t number,
		   struct lun *l, uint32_t tpg_lun, bool is_write_protected, struct err *e)
{
	char name[24];
	snprintf(name, sizeof name, "mapped_lun%u", number);
	struct mapped_lun *m = tree_new(sizeof *m, &mapped_lun_class, name, e);
	if (!m)
		return -ENOMEM;
	m->number = number;
	m->lun = l;
	m->tpg_lun = tpg_lun;
	m->is_write_protected = is_write_protected;
	list_init(&m->lun_link);
	name_new_alias(m->alias);
	if (ret)
		*ret = &m->node;
	return tree_add(c, acl, &m->node, e, "Mapped LUN %u already exists", number);
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

static void info_mapping(struct config *c, const struct node *n, struct json_object *ret)
{
	const struct mapped_lun *m = NODE_OF(const struct mapped_lun, n);
	json_put_number(ret, "lun", m->number);
	json_put_number(ret, "tpg_lun", m->tpg_lun);
	json_put_bool(ret, "write_protect", m->is_write_protected);
}

static void attach_mapping(struct config *c, struct node *n, bool is_attached)
{
	struct mapped_lun *m = NODE_OF(struct mapped_lun, n);
	if (m->lun && is_attached)
		list_push_back(&m->lun->mapped, &m->lun_link);
	else
		list_remove(&m->lun_link);
}

static bool is_used(const struct node *n, const struct session_place *p)
{
	return p->acl && n->parent == p->acl &&
	       place_uses(p, NODE_OF(const struct mapped_lun, n)->number);
}

// ---- the saved file ----

static size_t saved_tpg_lun(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	return (size_t)snprintf(out, size, "%u", NODE_OF(const struct mapped_lun, n)->tpg_lun);
}

static void key_of_lun(struct frozen_key *k, const struct node *n)
{
	const struct mapped_lun *m = NODE_OF(const struct mapped_lun, n);
	frozen_key_add(k, &m->tpg_lun, sizeof m->tpg_lun);
}

static int saved_mapped_name(struct restore *r, struct node *n, struct json_object *o,
			     char out[SAVED_NAME_SIZE], struct err *e)
{
	int number = restore_number_field(o, "index", 65535, e);
	int code = number < 0 ? number : restore_number_field(o, "tpg_lun", 65535, e);
	snprintf(out, SAVED_NAME_SIZE, "mapped_lun%d", number);
	return code < 0 ? code : 0;
}

static struct lun *lun_in(struct restore *r, const struct node *acl, struct json_object *o,
			  uint32_t *ret_number)
{
	char name[16];
	int number = restore_number_field(o, "tpg_lun", 65535, NULL);
	snprintf(name, sizeof name, "lun%d", number);
	struct node *l = node_child(&r->c->names, &tpg_of(acl)->luns, name);
	*ret_number = (uint32_t)number;
	return l ? NODE_OF(struct lun, l) : NULL;
}

static bool is_same_mapping(struct restore *r, const struct node *n, struct json_object *o)
{
	const struct mapped_lun *m = NODE_OF(const struct mapped_lun, n);
	uint32_t number;
	return m->lun == lun_in(r, n->parent, o, &number) && m->tpg_lun == number;
}

static int make_mapping(struct restore *r, struct node *n, const char *name, struct json_object *o,
			struct node **ret, struct err *e)
{
	uint32_t lun;
	struct lun *l = lun_in(r, n, o, &lun);
	int number = number_of(name, "mapped_lun", 65535);
	return mapped_lun_new(r->c, ret, n, (uint32_t)number, l, lun, false, e);
}

static int check_mapping(struct restore *r, struct node *n, struct json_object *o, bool is_old,
			 struct err *e)
{
	const struct mapped_lun *m = NODE_OF(const struct mapped_lun, n);
	if (!m->lun)
		restore_complain(r, "%s: mapped LUN %u: no LUN %u, kept", n->parent->name,
				 m->number, m->tpg_lun);
	return 0;
}

// clang-format off
static const struct group_row mapped_fields[] = {
	{ .form = SAVED_TYPED, .is_whole = true, .rows = VALUES(
		{ "alias", ATTR_STRING, offsetof(struct mapped_lun, alias), .max = 11,
		  .flags = ATTR_GENERATED },
		{ "write_protect", ATTR_BOOL, offsetof(struct mapped_lun, is_write_protected),
		  .default_text = "0" }),
	  .offset = offsetof(struct mapped_lun, is_write_protected),
	  .size = offsetof(struct mapped_lun, alias) + 11 -
		  offsetof(struct mapped_lun, is_write_protected) },
	{ .form = SAVED_TYPED, .get = saved_tpg_lun, .key = key_of_lun, .rows = VALUES(
		{ "tpg_lun", ATTR_UINT, .flags = ATTR_GIVEN }) },
	{ 0 },
};
// clang-format on

static const struct saved_class mapped_saved = {
	.list = "mapped_luns",
	.id = { "index" },
	.prefix = "mapped_lun",
	.is_numbered = true,
	.depth = 8,
	.fields = mapped_fields,
	.name = saved_mapped_name,
	.is_same = is_same_mapping,
	.make = make_mapping,
	.filled = check_mapping,
};

const struct node_class mapped_lun_class = {
	.name = "mapped_lun",
	.help = "A LUN as the initiator sees it",
	.saved = &mapped_saved,
	.is_used = is_used,
	.summary = summarize_mapping,
	.info = info_mapping,
	.attached = attach_mapping,
	.free = tree_free,
};
