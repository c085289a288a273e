// SPDX-License-Identifier: BSD-2-Clause
// The list that discovery gives an initiator: the enabled targets whose ACLs admit it, and of each
// the portals that it can use. From one snapshot of the configuration, as much work at a time as
// the caller permits. Any thread.
#pragma once

#include "target/fabric/view.h"
#include "transport/srp/list.h"

struct listing_query {
	const char *initiator;	      // its name
	const struct tcp_addr *peer;  // it comes from there
	const struct tcp_addr *local; // it has come to this address
	unsigned transport;	      // PORTAL_RDMA or PORTAL_IWARP
};

struct listing {
	struct srp_list_out out;
	unsigned target, portal; // of the view: the next one
	bool has_name;		 // the target is in the list, with an earlier portal
};

// Continues l, which is zeroed but for out, where srp_list_begin() was called. Each step checks a
// target. 1: complete; 0: the steps are used up; -ENOSPC: a target does not fit: call again after
// srp_list_move().
int listing_continue(struct listing *l, const struct view *v, const struct listing_query *q,
		     unsigned steps);
