// SPDX-License-Identifier: BSD-2-Clause
// /srpt: SRP targets. Private to target/config; control thread.
#pragma once

#include "target/config/targets/targets.h"

// /srpt/WWN: the target and its one portal group are the same node, a struct tpg.

extern const struct node_class srpt_class, srpt_target_class, srpt_acl_class, srpt_portals_class,
	srpt_portal_class;

// Puts the rows of the fabric, if this program has it, into the classes. Once, before the first
// node.
void srpt_rows_use(void);

// ---- srpt_portals.c ----
void srpt_portal_rows_use(const struct fabric_ops *fabric);
// The portal that a new target gets: 0.0.0.0 and the port of the fabric.
int srpt_default_portal(struct config *c, struct tpg *tpg, bool is_dry, struct portal_node **ret,
			struct err *e);

// ---- srpt_attach.c ----
// How initiators reach the target by a portal: appends to list {"portal", "add_target", "url"}, for
// a wildcard once for each address of this machine.
void srpt_put_attach(const struct node *target, const struct node *portal,
		     struct json_object *list);
