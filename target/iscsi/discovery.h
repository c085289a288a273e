// SPDX-License-Identifier: BSD-2-Clause
// The response to SendTargets, pair by pair: as much work at a time as the caller permits, from one
// snapshot of the configuration. RFC 7143 appendix C. The connection's worker.
#pragma once

#include "target/fabric/view.h"
#include "transport/iscsi/text.h"

struct conn;

struct target_list {
	struct view *view;    // NULL: no list
	unsigned target, end; // of the view
	unsigned tpg, portal, pass;
	bool has_name; // the target's name was written
};

// Begins the list that c may see. which: "All", "" (the session's own target) or a name. -ENOENT: c
// may not query which.
int target_list_begin(struct target_list *l, const struct conn *c, const char *which);
// 1: one pair was appended to o. 0: the end. -EAGAIN: steps has reached 0; each step checks one
// target portal group or portal. -ENOSPC: the pair does not fit into o.
int target_list_next(struct target_list *l, const struct conn *c, struct text_out *o,
		     unsigned *steps);
void target_list_end(struct target_list *l); // idempotent
