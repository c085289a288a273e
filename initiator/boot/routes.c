// SPDX-License-Identifier: BSD-2-Clause
// See routes.h.
#include "initiator/boot/routes.h"

#include <sys/socket.h>

static bool is_in_network(const struct ibft_address *a, const struct ibft_nic *nic)
{
	unsigned prefix = ibft_prefix(nic);
	if (a->family != nic->ip.family)
		return false;
	for (unsigned i = 0; i < prefix; i += 8) {
		uint8_t mask = prefix - i < 8 ? (uint8_t)(0xff << (8 - (prefix - i))) : 0xff;
		if ((a->bytes[i / 8] ^ nic->ip.bytes[i / 8]) & mask)
			return false;
	}
	return true;
}

// Firmware with 192.0.2.2/32 asks for its gateway by ARP all the same.
static bool is_gateway_onlink(const struct ibft_nic *nic)
{
	const struct ibft_address *g = &nic->gateway;
	return g->family == nic->ip.family && !ibft_is_link_local(g) && !is_in_network(g, nic);
}

// A target has a route of its own where it is in the network of the NIC or behind its gateway.
static bool has_route(const struct ibft_nic *nic, const struct ibft_target *t)
{
	return t->ip.family == nic->ip.family && !ibft_is_link_local(&t->ip) &&
	       (is_in_network(&t->ip, nic) || nic->gateway.family == nic->ip.family);
}

// Through this interface, also if another one has the same network.
static int route_target(const struct routes *s, const struct ibft_target *t, struct err *e)
{
	const struct ibft_nic *nic = s->nic;
	char text[IBFT_ADDRESS_TEXT];
	unsigned bits = t->ip.family == AF_INET ? 32 : 128;
	const struct ibft_address *gateway = is_in_network(&t->ip, nic) ? NULL : &nic->gateway;
	int r = link_add_route(s->kernel, s->link->index, &t->ip, bits, gateway,
			       is_gateway_onlink(nic));
	ibft_address_text(&t->ip, text);
	return r ? err_errno(e, r, "%s: route to %s", s->link->name, text) : 0;
}

static int route_rest(const struct routes *s, struct err *e)
{
	static const struct ibft_address everywhere[] = { { .family = AF_INET },
							  { .family = AF_INET6 } };
	const struct ibft_address *gateway = &s->nic->gateway;
	char text[IBFT_ADDRESS_TEXT];
	int r = link_add_route(s->kernel, s->link->index, &everywhere[gateway->family == AF_INET6],
			       0, gateway, is_gateway_onlink(s->nic));
	ibft_address_text(gateway, text);
	return r ? err_errno(e, r, "%s: route through the gateway %s", s->link->name, text) : 0;
}

// An error of what the chosen target does not need is a warning.
static int judge(const struct routes *s, bool is_needed, int r, const struct err *e)
{
	if (r && !is_needed)
		s->say("warning: skipped: %s", e->text);
	return is_needed ? r : 0;
}

static bool needs_rest(const struct routes *s)
{
	const struct ibft_target *t = s->chosen;
	return t && !has_route(s->nic, t) && !ibft_is_link_local(&t->ip);
}

int routes_add(const struct routes *s, struct err *e)
{
	int r = 0;
	for (unsigned i = 0; i < s->ibft->target_count && !r; i++) {
		const struct ibft_target *t = &s->ibft->targets[i];
		if (t->object.flags & IBFT_IS_VALID && ibft_nic_of(s->ibft, t) == s->nic &&
		    has_route(s->nic, t))
			r = judge(s, t == s->chosen, route_target(s, t, e), e);
	}
	if (!r && s->nic->gateway.family)
		r = judge(s, needs_rest(s), route_rest(s, e), e);
	return r;
}
