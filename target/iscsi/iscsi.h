// SPDX-License-Identifier: BSD-2-Clause
// iSCSI as a fabric of the target: RFC 7143 over TCP, RFC 7145 (iSER) over RDMA.
#pragma once

#include "target/fabric/fabric.h"

extern struct fabric_ops iscsi_fabric;
