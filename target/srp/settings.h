// SPDX-License-Identifier: BSD-2-Clause
// The settings of SRP that other fabrics do not have: the struct that hangs on the published
// configuration (target/fabric/view.h), view_tpg.own, and its rows.
#pragma once

#include <stdint.h>

#include "core/attr.h"
#include "target/fabric/view.h"

struct srp_settings { // rows: srp_group_rows, the names of ib_srpt
	uint32_t srp_max_rdma_size, srp_sq_size, use_srq; // without effect
	uint32_t srp_max_rsp_size;			  // bytes of the longest IU to an initiator
};
extern const struct attr_row srp_group_rows[];

static inline const struct srp_settings *srp_settings(const struct view_tpg *tpg)
{
	return tpg->own;
}
