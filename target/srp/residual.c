// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/residual.h"

// Of one direction: over or under, or 0.
static uint8_t compare(uint32_t *ret, uint64_t wanted, uint64_t expected, uint8_t over,
		       uint8_t under)
{
	uint64_t n = wanted > expected ? wanted - expected : expected - wanted;
	*ret = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	return !n ? 0 : wanted > expected ? over : under;
}

void residual_set(struct srp_result *r, const struct task *t, bool takes_data)
{
	uint64_t out = takes_data ? t->wanted : 0, in = takes_data ? 0 : t->wanted;
	r->flags = compare(&r->out_residual, out, t->expected_out, SRP_DOOVER, SRP_DOUNDER);
	r->flags |= compare(&r->in_residual, in, t->expected_in, SRP_DIOVER, SRP_DIUNDER);
}
