// SPDX-License-Identifier: BSD-2-Clause
// The targets as I/O controllers of device management (dm_agent.h).
#pragma once

#include "target/fabric/view.h"
#include "transport/srp/dm_mad.h"

// Fills those that are enabled and have a portal on all addresses for RDMA devices: others have no
// service id. In the order of their names, at most max; returns how many. ret is zeroed. Any
// thread.
unsigned srp_controllers(const struct view *v, struct srp_controller *ret, unsigned max);
