// SPDX-License-Identifier: BSD-2-Clause
// iSCSI as a fabric of the target: RFC 7143 over TCP, RFC 7145 (iSER) over RDMA.
#pragma once

#include "target/fabric/fabric.h"

extern struct fabric_ops iscsi_fabric;

// The SCSI TARGET PORT NAME of a portal group: "iqn...,t,0x0001" (RFC 7143 4.2.7.1). Any thread.
void iscsi_port_name(const char *target, uint16_t tag, char out[FABRIC_PORT_SIZE]);
