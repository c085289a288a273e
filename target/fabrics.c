// SPDX-License-Identifier: BSD-2-Clause
// The only place of the daemon that names its protocols.
#include "target/fabrics.h"

#include <stddef.h>

#include "target/iscsi/iscsi.h"
#include "target/srp/srp.h"

struct fabric_ops *const farblockd_fabrics[] = {
	&iscsi_fabric,
	&srp_fabric,
	NULL,
};
