// SPDX-License-Identifier: BSD-2-Clause
// A program with the fabrics of farblockd.
#pragma once

#include "target/iscsi/iscsi.h"
#include "target/srp/srp.h"

static inline void use_all_fabrics(void)
{
	static struct fabric_ops *const fabrics[] = { &iscsi_fabric, &srp_fabric, NULL };
	fabrics_use(fabrics);
}
