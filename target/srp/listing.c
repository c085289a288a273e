// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/listing.h"

#include "target/fabric/reported.h"
#include "target/srp/identity.h"

// Whether a login would be accepted. A target is a port: it has one group.
static bool admits(const struct view_target *t, const struct listing_query *q)
{
	const struct view_tpg *tpg = t->tpgs;
	return t->tpg_count && tpg->is_enabled &&
	       (tpg->is_open || acl_of_port(tpg, q->initiator, q->peer));
}

static int append(struct listing *l, const struct view_target *t, const struct listing_query *q)
{
	const struct view_tpg *tpg = t->tpgs;
	const struct portal_filter f = { .wanted = q->transport };
	for (; l->portal < tpg->portal_count; l->portal++) {
		struct tcp_addr addr;
		if (!portal_is_reported(tpg, l->portal, &f, q->local, &addr))
			continue;
		int r = srp_list_append(&l->out, l->has_name ? NULL : t->name, &addr);
		if (r < 0)
			return r;
		l->has_name = true;
	}
	return 0;
}

int listing_continue(struct listing *l, const struct view *v, const struct listing_query *q,
		     unsigned steps)
{
	for (; l->target < v->target_count; l->target++) {
		const struct view_target *t = v->targets[l->target];
		if (!steps--)
			return 0;
		int r = admits(t, q) ? append(l, t, q) : 0;
		if (r < 0)
			return r;
		l->portal = 0;
		l->has_name = false;
	}
	return 1;
}
