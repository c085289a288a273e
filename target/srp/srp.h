// SPDX-License-Identifier: BSD-2-Clause
// SRP as a fabric of the target: T10 SRP-r16a over RDMA devices and software iWARP.
#pragma once

#include "target/fabric/fabric.h"

extern struct fabric_ops srp_fabric;

// The SCSI TARGET PORT NAME of a target: "eui." and the 32 hex digits of its port identifier (SPC-5
// 7.7.6.11). Any thread.
void srp_port_name(const char *target, uint16_t tag, char out[FABRIC_PORT_SIZE]);
