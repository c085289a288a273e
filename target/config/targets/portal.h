// SPDX-License-Identifier: BSD-2-Clause
// Portals of a portal group in the tree. Private to target/config; control thread.
#pragma once

#include "target/config/targets/targets.h"

// Puts the rows of the fabric into the group of the class.
void portal_groups_use(const struct fabric_ops *fabric);
// is_dry: does not listen.
int portal_new(struct config *c, struct portal_node **ret, struct tpg *tpg, const char *host,
	       uint16_t port, unsigned transports, bool is_dry, struct err *e); // portal.c
// The portals of every TPG; the body must not remove one from the tree.
#define portal_each(p, c)                                                                          \
	tpg_each (p##_tpg, c)                                                                      \
		list_each (struct portal_node, p, &p##_tpg->portals.children, node.link)
// Makes the listening portal offer the node's current transports; call after the save.
void portal_follow(struct portal_node *p);
bool portal_retry(struct config *c, struct portal_node *p); // true: it has an address now
