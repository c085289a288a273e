// SPDX-License-Identifier: BSD-2-Clause
// A program whose only fabric is iSCSI.
#pragma once

#include "target/iscsi/iscsi.h"

static inline void use_iscsi(void)
{
	static struct fabric_ops *const fabrics[] = { &iscsi_fabric, NULL };
	fabrics_use(fabrics);
}
