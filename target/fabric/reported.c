// SPDX-License-Identifier: BSD-2-Clause
#include "target/fabric/reported.h"

static bool is_usable(const struct view_portal *p, const struct portal_filter *f)
{
	unsigned now = p->transports;
	if (p->portal)
		now &= portal_listening(p->portal);
	return (now & f->wanted) && !(now & f->unwanted);
}

static bool has_portal_at(const struct view_tpg *tpg, const struct tcp_addr *addr,
			  const struct portal_filter *f)
{
	for (unsigned i = 0; i < tpg->portal_count; i++)
		if (!tcp_addr_compare(&tpg->portals[i].addr, addr) &&
		    is_usable(&tpg->portals[i], f))
			return true;
	return false;
}

bool portal_is_reported(const struct view_tpg *tpg, unsigned index, const struct portal_filter *f,
			const struct tcp_addr *local, struct tcp_addr *ret)
{
	const struct view_portal *p = &tpg->portals[index];
	if (!is_usable(p, f))
		return false;
	*ret = p->addr;
	if (!tcp_addr_is_wildcard(ret))
		return true;
	// The initiator can use the address that it has used for this connection.
	if (ret->sa.sa_family != local->sa.sa_family)
		return false;
	*ret = *local;
	tcp_addr_set_port(ret, tcp_addr_port(&p->addr));
	return !has_portal_at(tpg, ret, f);
}
