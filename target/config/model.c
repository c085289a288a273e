// SPDX-License-Identifier: BSD-2-Clause
// Creates and removes the objects of the tree. Every function works within the transaction: if the
// change fails, attached objects are freed and detached ones restored.
#include "target/config/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/fabric/fabric.h"

static int out_of_memory(const char *what, struct err *e)
{
	return err_set(e, -ENOMEM, "%s: out of memory", what);
}

// Attaches a new object or frees it. what: for the message if the name is in use.
static int attach_new(struct config *c, struct node *parent, struct node *n, const char *taken,
		      struct err *e)
{
	int r = txn_attach(c, parent, n);
	if (!r)
		return 0;
	r = r == -EEXIST ? err_set(e, r, "%s", taken) : out_of_memory(n->name, e);
	n->class->free(c, n);
	return r;
}

struct storage_type *storage_type_of(struct config *c, const char *name)
{
	// Other spellings in old saved files.
	static const char *const alias[][2] = {
		{"iblock",  "block"  },
		       { "rd_mcp", "ramdisk"}
	};
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(name, alias[i][0]))
			name = alias[i][1];
	for (unsigned i = 0; i < c->type_count; i++)
		if (!strcmp(c->types[i].node.name, name))
			return &c->types[i];
	return NULL;
}

static int add_alua(struct config *c, struct storage *s, struct err *e)
{
	struct alua_node *g;
	if (txn_attach(c, &s->node, &s->alua) < 0)
		return out_of_memory(s->node.name, e);
	return alua_new(c, &g, s, ALUA_DEFAULT_GROUP, 0, e);
}

int storage_new(struct config *c, struct storage **ret, const struct backstore_type *type,
		const char *name, struct err *e)
{
	struct storage_type *st = storage_type_of(c, type->name);
	char taken[NAME_MAX_LEN + 64];
	int r = name_check_storage(name, e);
	if (r < 0)
		return r;
	struct storage *s = calloc(1, sizeof *s);
	if (!s || node_init(&s->node, &storage_class, name) < 0 ||
	    node_init(&s->alua, &alua_class, "alua") < 0) {
		if (s)
			free(s->node.name);
		free(s);
		return out_of_memory(name, e);
	}
	s->type = type;
	s->config = c;
	list_init(&s->luns);
	list_init(&s->waiting_link);
	attr_defaults(lu_attr_rows, &s->attr);
	name_new_uuid(s->wwn);
	snprintf(s->reason, sizeof s->reason, "not opened yet");
	snprintf(taken, sizeof taken, "storage object %s/%s already exists", type->name, name);
	r = attach_new(c, &st->node, &s->node, taken, e);
	if (!r && !type->is_passthrough)
		r = add_alua(c, s, e);
	if (!r)
		*ret = s;
	return r;
}

struct storage *storage_find(struct config *c, const char *path)
{
	char full[400];
	if (*path != '/') {
		snprintf(full, sizeof full, "/backstores/%s", path);
		path = full;
	}
	struct node *n = node_at(&c->names, &c->root, path);
	return n && n->class == &storage_class ? NODE_OF(struct storage, n) : NULL;
}

int target_new(struct config *c, struct target **ret, const char *name, struct err *e)
{
	char taken[280];
	struct target *t = calloc(1, sizeof *t);
	if (!t || node_init(&t->node, &target_class, name) < 0) {
		free(t);
		return out_of_memory(name, e);
	}
	list_init(&t->dirty_link);
	snprintf(taken, sizeof taken, "target %s already exists", name);
	int r = attach_new(c, &c->iscsi, &t->node, taken, e);
	if (r < 0)
		return r;
	model_dirty(c, &t->node);
	c->is_view_dirty = true;
	*ret = t;
	return 0;
}

// The lowest free RELATIVE TARGET PORT IDENTIFIER; 0 is reserved and means none.
static uint16_t free_relative_port(const struct config *c)
{
	for (unsigned p = 1; p < 65536; p++)
		if (!(c->ports[p / 8] & 1u << p % 8))
			return (uint16_t)p;
	return 0;
}

static int init_tpg(struct tpg *tpg, const struct node_class *class, const char *name)
{
	if (node_init(&tpg->node, class, name) < 0 ||
	    node_init(&tpg->acls, &acls_class, "acls") < 0 ||
	    node_init(&tpg->luns, &luns_class, "luns") < 0 ||
	    node_init(&tpg->portals, &portals_class, "portals") < 0)
		return -ENOMEM;
	attr_defaults(tpg_attr_rows, &tpg->attr);
	iscsi_offer_init(&tpg->offer);
	return 0;
}

int tpg_add(struct config *c, struct tpg *tpg, struct node *parent, const struct node_class *class,
	    const char *name, unsigned tag, const char *taken, struct err *e)
{
	tpg->tag = (uint16_t)tag;
	tpg->relative_port = free_relative_port(c);
	if (!tpg->relative_port) {
		free(tpg);
		return err_set(e, -ENOSPC, "%s: limit of 65535 target portal groups reached", name);
	}
	if (init_tpg(tpg, class, name) < 0) {
		tpg_free(c, &tpg->node);
		return out_of_memory(name, e);
	}
	int r = attach_new(c, parent, &tpg->node, taken, e);
	if (r < 0)
		return r;
	struct node *parts[] = { &tpg->acls, &tpg->luns, &tpg->portals };
	for (int i = 0; i < (class == &tpg_class ? 3 : 2); i++)
		if (txn_attach(c, &tpg->node, parts[i]) < 0)
			return out_of_memory(name, e);
	return 0;
}

int tpg_new(struct config *c, struct tpg **ret, struct target *t, unsigned tag, struct err *e)
{
	char name[16], taken[64];
	snprintf(name, sizeof name, "tpg%u", tag);
	snprintf(taken, sizeof taken, "TPG %u already exists", tag);
	struct tpg *tpg = calloc(1, sizeof *tpg);
	if (!tpg)
		return out_of_memory(name, e);
	int r = tpg_add(c, tpg, &t->node, &tpg_class, name, tag, taken, e);
	if (r < 0)
		return r;
	model_dirty(c, &tpg->node);
	*ret = tpg;
	return 0;
}

int lun_new(struct config *c, struct lun **ret, struct tpg *tpg, uint32_t number, struct storage *s,
	    struct err *e)
{
	char name[16], taken[64];
	snprintf(name, sizeof name, "lun%u", number);
	struct lun *l = calloc(1, sizeof *l);
	if (!l || node_init(&l->node, &lun_class, name) < 0) {
		free(l);
		return out_of_memory(name, e);
	}
	l->number = number;
	l->storage = s;
	list_init(&l->storage_link);
	list_init(&l->mapped);
	name_new_alias(l->alias);
	snprintf(l->group, sizeof l->group, ALUA_DEFAULT_GROUP);
	snprintf(taken, sizeof taken, "LUN %u already exists", number);
	int r = attach_new(c, &tpg->luns, &l->node, taken, e);
	if (r < 0)
		return r;
	model_dirty(c, &l->node);
	*ret = l;
	return 0;
}

int acl_name(const struct tpg *tpg, const char *in, char out[224], struct err *e)
{
	return tpg->node.class == &srpt_target_class ? name_srpt_initiator(in, out, e)
						     : name_iscsi(in, false, out, e);
}

int acl_new(struct config *c, struct acl **ret, struct tpg *tpg, const char *initiator,
	    struct err *e)
{
	char name[224], taken[280];
	bool is_srp = tpg->node.class == &srpt_target_class;
	int r = acl_name(tpg, initiator, name, e);
	if (r < 0)
		return r;
	struct acl *a = calloc(1, sizeof *a);
	if (!a || node_init(&a->node, is_srp ? &srpt_acl_class : &acl_class, name) < 0) {
		free(a);
		return out_of_memory(name, e);
	}
	attr_defaults(acl_attr_rows, &a->attr);
	snprintf(taken, sizeof taken, "Node ACL for %s already exists", name);
	r = attach_new(c, &tpg->acls, &a->node, taken, e);
	if (r < 0)
		return r;
	model_dirty(c, &a->node);
	*ret = a;
	return 0;
}

int mapped_lun_new(struct config *c, struct mapped_lun **ret, struct acl *a, uint32_t number,
		   struct lun *l, bool is_write_protected, struct err *e)
{
	char name[24], taken[64];
	snprintf(name, sizeof name, "mapped_lun%u", number);
	struct mapped_lun *m = calloc(1, sizeof *m);
	if (!m || node_init(&m->node, &mapped_lun_class, name) < 0) {
		free(m);
		return out_of_memory(name, e);
	}
	m->number = number;
	m->lun = l;
	m->tpg_lun = l ? l->number : 0;
	m->is_write_protected = is_write_protected;
	list_init(&m->lun_link);
	name_new_alias(m->alias);
	snprintf(taken, sizeof taken, "Mapped LUN %u already exists", number);
	int r = attach_new(c, &a->node, &m->node, taken, e);
	if (r < 0)
		return r;
	model_dirty(c, &m->node);
	*ret = m;
	return 0;
}

int foreign_new(struct config *c, struct node *parent, const struct node_class *class,
		const char *name, struct json_object *kept, struct err *e)
{
	struct foreign *f = calloc(1, sizeof *f);
	if (!f || node_init(&f->node, class, name) < 0) {
		free(f);
		return out_of_memory(name, e);
	}
	f->node.kept = json_object_get(kept);
	return attach_new(c, parent, &f->node, "an object of this name already exists", e);
}

struct node *fabric_of(struct config *c, const char *fabric, struct err *e)
{
	struct node *n = node_child(&c->names, &c->root, fabric);
	if (n)
		return n->class == &fabric_class ? n : NULL;
	if (foreign_new(c, &c->root, &fabric_class, fabric, NULL, e) < 0)
		return NULL;
	return node_child(&c->names, &c->root, fabric);
}

// ---- removal ----

static int remove_list(struct config *c, struct list *head, size_t offset, struct err *e)
{
	while (!list_empty(head)) {
		char *object = (char *)head->next - offset;
		int r = model_remove(c, (struct node *)object, e);
		if (r < 0)
			return r;
	}
	return 0;
}

int model_remove(struct config *c, struct node *n, struct err *e)
{
	int r = remove_list(c, &n->children, offsetof(struct node, link), e);
	if (!r && n->class == &storage_class)
		r = remove_list(c, &NODE_OF(struct storage, n)->luns,
				offsetof(struct lun, storage_link) - offsetof(struct lun, node), e);
	if (!r && n->class == &lun_class)
		r = remove_list(c, &NODE_OF(struct lun, n)->mapped,
				offsetof(struct mapped_lun, lun_link) -
					offsetof(struct mapped_lun, node),
				e);
	if (r < 0)
		return r;
	model_dirty(c, n);
	if (n->class == &target_class)
		c->is_view_dirty = true;
	return txn_detach(c, n) < 0 ? out_of_memory(n->name, e) : 0;
}

// ---- links ----

struct target *target_of(const struct node *n)
{
	while (n && n->class != &target_class)
		n = n->parent;
	return n ? NODE_OF(struct target, n) : NULL;
}

const struct fabric_ops *node_fabric(const struct node *n)
{
	while (n && n->parent && n->parent->parent)
		n = n->parent;
	return n ? fabric_find(n->name) : NULL;
}

const char *target_name(const struct node *n)
{
	while (n && n->class != &target_class && n->class != &srpt_target_class)
		n = n->parent;
	return n ? n->name : "";
}

struct tpg *tpg_of(const struct node *n)
{
	while (n && n->class != &tpg_class && n->class != &srpt_target_class)
		n = n->parent;
	return n ? NODE_OF(struct tpg, n) : NULL;
}

void model_dirty(struct config *c, const struct node *n)
{
	struct target *t = target_of(n);
	if (t && !t->is_dirty) {
		t->is_dirty = true;
		list_push_back(&c->dirty, &t->dirty_link);
	}
}

bool model_is_empty(const struct config *c)
{
	for (unsigned i = 0; i < c->type_count; i++)
		if (c->types[i].node.child_count)
			return false;
	// Content that could not be read and is kept for the saved file.
	if (json_field(c->root.kept, "targets") || json_field(c->root.kept, "storage_objects"))
		return false;
	// Kept fabrics are next to backstores, iscsi and srpt.
	return !c->iscsi.child_count && !c->srpt.child_count && c->root.child_count <= 3 &&
	       c->backstores.child_count == c->type_count;
}
