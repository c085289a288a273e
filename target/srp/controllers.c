// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/controllers.h"

#include <stdio.h>
#include <string.h>

#include "target/srp/identity.h"
#include "transport/rdma/rnic.h"

// The lowest port, 0: none.
static uint16_t service_port(const struct view_tpg *tpg)
{
	uint16_t ret = 0;
	for (unsigned i = 0; i < tpg->portal_count; i++) {
		const struct view_portal *p = &tpg->portals[i];
		uint16_t port = tcp_addr_port(&p->addr);
		if (p->transports & PORTAL_RDMA && tcp_addr_is_wildcard(&p->addr) &&
		    (!ret || port < ret))
			ret = port;
	}
	return ret;
}

static bool controller_fill(const struct view_target *t, struct srp_controller *ret)
{
	uint8_t id[SRP_PORT_ID_LEN];
	const struct view_tpg *tpg = t->tpgs;
	uint16_t port = t->tpg_count && tpg->is_enabled ? service_port(tpg) : 0;
	if (!port || !port_id(t->name, id))
		return false;
	memcpy(ret->id_ext, id, sizeof ret->id_ext);
	memcpy(ret->ioc_guid, id + sizeof ret->id_ext, sizeof ret->ioc_guid);
	ret->service_id = rnic_service_id(port);
	snprintf(ret->name, sizeof ret->name, "farblock %.54s", t->name);
	return true;
}

unsigned srp_controllers(const struct view *v, struct srp_controller *ret, unsigned max)
{
	unsigned count = 0;
	for (unsigned i = 0; i < v->target_count && count < max; i++)
		if (controller_fill(v->targets[i], &ret[count]))
			count++;
	return count;
}
