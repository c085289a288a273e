// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/settings.h"

#include <stddef.h>

// clang-format off
#define FIELD(field) offsetof(struct srp_settings, field)
const struct attr_row srp_group_rows[] = {
	{ "srp_max_rdma_size", ATTR_UINT, FIELD(srp_max_rdma_size), 65536, 1 << 24, "65536",
	  "bytes", "largest RDMA Read or Write", NULL, ATTR_IGNORED, NULL, NULL,
	  "the initiator's descriptors limit it" },
	{ "srp_max_rsp_size", ATTR_UINT, FIELD(srp_max_rsp_size), 40, 1024, "256", "bytes",
	  "longest response, sense data included; below 256: 256", NULL, ATTR_RESTART },
	{ "srp_sq_size", ATTR_UINT, FIELD(srp_sq_size), 16, 65535, "4096", "requests",
	  "size of the send queue", NULL, ATTR_IGNORED, NULL, NULL,
	  "a send queue has the size that the commands of its channel need" },
	{ "use_srq", ATTR_BOOL, FIELD(use_srq), 0, 1, "0", NULL,
	  "1: logins of a device share a receive queue", NULL, ATTR_IGNORED, NULL, NULL,
	  "each channel has its own receive buffers" },
	{ 0 },
};
// clang-format on
