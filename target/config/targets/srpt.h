// SPDX-License-Identifier: BSD-2-Clause
// SRP targets. Private to target/config; control thread.
#pragma once

#include "target/config/targets/targets.h"

struct srpt_attr {
	uint32_t srp_max_rdma_size, srp_max_rsp_size, srp_sq_size, use_srq;
};

// /srpt/WWN: the target and its one portal group are the same node, a struct tpg with srpt_attr.

extern const struct node_class srpt_class, srpt_target_class, srpt_acl_class;
extern const struct attr_row srpt_attr_rows[];
