// SPDX-License-Identifier: BSD-2-Clause
// The device management agent: on each InfiniBand port of this machine it answers ibsrpdm,
// srp_daemon and others that look for SRP targets. It has a thread, since libibumad blocks.
//
// A port is served while there is a controller; then another agent can have the class. Ports come
// and go with their devices. A port that cannot be served is logged once and tried again.
//
// srp_daemon asks only ports whose CapabilityMask has IsDeviceManagementSupported, unless the
// subnet manager cannot search for that. Only kernel modules can set it, such as ib_srpt.
#pragma once

#include "target/srp/dm_link.h"

struct dm_agent;

struct dm_agent_options {
	const struct dm_link_ops *links;
	// Fills the controllers, at most max, in an order that does not change without need;
	// returns how many. ret is zeroed. On the agent's thread, every look_ms.
	unsigned (*controllers)(void *arg, struct srp_controller *ret, unsigned max);
	void *arg;
	unsigned look_ms; // between looks at ports and controllers; 0: DM_LOOK_MS
};
enum { DM_LOOK_MS = 2000 };

// Starts it. Any thread; -ENOMEM, -EAGAIN with text.
int dm_agent_new(struct dm_agent **ret, const struct dm_agent_options *o, struct err *e);
// Ends it; blocks for some ms. Any other thread; NULL is fine.
void dm_agent_free(struct dm_agent *a);
