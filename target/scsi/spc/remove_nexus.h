// SPDX-License-Identifier: BSD-2-Clause
// Parameter list of REMOVE I_T NEXUS (SPC-4 6.29).
#pragma once

#include <stdint.h>

#include "target/scsi/nexus_ops.h"

struct nexus_list {
	unsigned count;
	uint16_t at[NEXUS_REMOVALS_MAX]; // of each TransportID in the list
	struct nexus_name names[NEXUS_REMOVALS_MAX];
};

// Parses the len bytes at p. 0, or a SENSE() code with *ret_field, the invalid byte or -1: the list
// is cut off, has more than NEXUS_REMOVALS_MAX names, or a TransportID that names no initiator port
// of iSCSI or SRP. Pure; any thread.
uint32_t nexus_list_parse(struct nexus_list *ret, const uint8_t *p, uint32_t len, int *ret_field);
