// SPDX-License-Identifier: BSD-2-Clause
// The portals that discovery reports, of all fabrics: those that the peer can use, each address
// once. Any thread.
#pragma once

#include "target/fabric/view.h"

struct portal_filter {
	unsigned wanted, unwanted; // transports
};

// Whether discovery reports portal number index of tpg: it listens with a wanted transport and
// without an unwanted one. Then *ret is its address; of a wildcard portal the one that the peer has
// used, local, unless that is of another family or a portal of its own.
bool portal_is_reported(const struct view_tpg *tpg, unsigned index, const struct portal_filter *f,
			const struct tcp_addr *local, struct tcp_addr *ret);
