// SPDX-License-Identifier: BSD-2-Clause
// The settings of a portal that concern its RDMA connections, whatever the protocol.
#include "core/attr.h"
#include "target/fabric/portal.h"

// clang-format off
const struct attr_row portal_attr_rows[] = {
	{ "tos", ATTR_UINT, offsetof(struct portal_attr, tos), 0, 255, "0", NULL,
	  "type of service (DSCP * 4) of RDMA packets; 0: the system's, over RoCE the "
	  "initiator's", NULL, ATTR_OWN | ATTR_RESTART },
	{ "pkey", ATTR_UINT, offsetof(struct portal_attr, pkey), 0, 65535, "0", NULL,
	  "InfiniBand partition required of RDMA connections; 0: any", NULL,
	  ATTR_OWN | ATTR_RESTART },
	{ 0 },
};
// clang-format on
