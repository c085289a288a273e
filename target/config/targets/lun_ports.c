// SPDX-License-Identifier: BSD-2-Clause
// The path through a LUN: its relative target port, and the port's ALUA group at the logical unit.
// Control thread.
#include <errno.h>
#include <string.h>

#include "target/config/targets/lun.h"
#include "target/fabric/fabric.h"

uint16_t alua_group_id(struct config *c, const struct lun *l)
{
	const struct node *g =
		l->storage ? node_child(&c->names, &l->storage->alua, l->group) : NULL;
	return g ? (uint16_t)NODE_OF(const struct alua_node, g)->attr.tg_pt_gp_id : 0;
}

static bool is_told(const struct lun *l, uint16_t port, uint16_t group)
{
	return l->told.lu == storage_unit(l->storage) && l->told.port == port &&
	       l->told.group == group;
}

static void sync_port(struct config *c, struct lun *l, uint16_t port, uint8_t protocol,
		      const char *name)
{
	struct lu *lu = l->storage ? storage_unit(l->storage) : NULL;
	uint16_t group = alua_group_id(c, l);
	struct err e;
	l->relative_port = port;
	if (!lu || is_told(l, port, group))
		return;
	if (alua_port_set(lu, port, group, protocol, name, &e) < 0) {
		log_warn("%s: ALUA: %s", name, e.text);
		return;
	}
	config_work.ports++;
	l->told.lu = lu;
	l->told.port = port;
	l->told.group = group;
}

void alua_sync_ports(struct config *c, const struct node *target)
{
	const struct fabric_ops *fabric = node_fabric(target);
	target_each_group (tpg, target) {
		char name[FABRIC_PORT_SIZE];
		fabric->port_name(target->name, tpg->tag, name);
		list_each (struct lun, l, &tpg->luns.children, node.link)
			sync_port(c, l, tpg->relative_port, (uint8_t)fabric->protocol, name);
	}
}

// ---- settings of a LUN ----

static int check_lun(struct config *c, struct node *n, struct err *e)
{
	const struct lun *l = NODE_OF(const struct lun, n);
	if (l->storage && node_child(&c->names, &l->storage->alua, l->group))
		return 0;
	return err_set(e, -ENOENT, "alua_tg_pt_gp_name: the storage object has no group '%s'",
		       l->group);
}

// clang-format off
const struct group_row lun_groups[] = {
	{ .name = "attribute", .form = SAVED_TYPED, .is_whole = true, .rows = VALUES(
		{ "write_protect", ATTR_BOOL, offsetof(struct lun, write_protect), 0, 1, "0", NULL,
		  "1: read-only access for all initiators", NULL, ATTR_SPARSE }),
	  .offset = offsetof(struct lun, write_protect), .size = sizeof(uint32_t) },
	{ .name = "alua", .form = SAVED_TYPED, .is_whole = true, .rows = VALUES(
		{ "alua_tg_pt_gp_name", ATTR_STRING, offsetof(struct lun, group), 0, ALUA_NAME_MAX,
		  ALUA_DEFAULT_GROUP, NULL, "ALUA group of this path", NULL, ATTR_NAME }),
	  .offset = offsetof(struct lun, group), .size = ALUA_NAME_MAX, .check = check_lun },
	{ 0 },
};
// clang-format on
