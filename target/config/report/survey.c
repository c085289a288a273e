// SPDX-License-Identifier: BSD-2-Clause
// A walk over the configured objects, for metrics.
#include "target/config/file/kept.h"
#include "target/config/report/survey.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/targets.h"

static void survey_luns(struct tpg *tpg, const char *target, const struct survey *s, void *arg)
{
	list_for_each (it, &tpg->luns.children) {
		struct lun *l = NODE_OF(struct lun, list_entry(it, struct node, link));
		char path[NAME_MAX_LEN + 80] = "";
		if (l->storage)
			node_path(&l->storage->node, path, sizeof path);
		s->lun(arg, target, tpg->tag, l->number, path);
	}
}

static void survey_portals(struct tpg *tpg, const char *target, const struct survey *s, void *arg)
{
	list_for_each (it, &tpg->portals.children) {
		struct portal_node *p =
			NODE_OF(struct portal_node, list_entry(it, struct node, link));
		bool is_up = p->open && portal_state(p->open) == PORTAL_LISTENING;
		s->portal(arg, target, tpg->tag, p->node.name, is_up);
	}
}

static void survey_target(struct node *t, const struct survey *s, void *arg)
{
	if (s->target)
		s->target(arg, node_fabric(t), t->name);
	target_each_group (tpg, t) {
		if (s->lun)
			survey_luns(tpg, t->name, s, arg);
		if (s->portal)
			survey_portals(tpg, t->name, s, arg);
	}
}

static void survey_disks(struct config *c, const struct survey *s, void *arg)
{
	for (unsigned i = 0; i < c->storage->type_count; i++)
		list_for_each (it, &c->storage->types[i].node.children) {
			struct storage *d =
				NODE_OF(struct storage, list_entry(it, struct node, link));
			char path[NAME_MAX_LEN + 80];
			node_path(&d->node, path, sizeof path);
			s->disk(arg, path, d->lu, storage_size(d));
		}
}

void config_survey(struct config *c, const struct survey *s, void *arg)
{
	if (s->disk)
		survey_disks(c, s, arg);
	const struct fabric_ops *fabric;
	for (unsigned i = 0; (fabric = fabric_at(i)); i++) {
		struct node *n = node_child(&c->names, &c->root, fabric->name);
		if (!n || n->class == &fabric_class) // a kept one
			continue;
		list_for_each (it, &n->children)
			survey_target(list_entry(it, struct node, link), s, arg);
	}
}
