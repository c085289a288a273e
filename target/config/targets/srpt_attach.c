// SPDX-License-Identifier: BSD-2-Clause
// What an initiator has to be told to reach an SRP target: the line that the kernel's ib_srp takes
// in its add_target file, and the URL of farblock-initiator; for each InfiniBand port also the line
// without an IP address, as srp_daemon -n has it. Control thread.
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "target/config/targets/lun.h"
#include "target/config/targets/portal.h"
#include "target/config/targets/srpt.h"
#include "transport/rdma/ib_ports.h"
#include "transport/rdma/rnic.h"

enum { ADDRESSES_MAX = 64, PKEY_DEFAULT = 0xffff, PKEY_FULL = 0x8000 };

struct attach {
	const struct node *portal;
	char id_ext[17], ioc_guid[17]; // the halves of the target's port identifier
	uint32_t lun;
	struct json_object *list;
};

static void put(const struct attach *a, const struct tcp_addr *addr)
{
	char text[TCP_ADDR_TEXT], ip[TCP_ADDR_TEXT], host[TCP_ADDR_TEXT + 4], line[200];
	bool is_default = tcp_addr_port(addr) == node_fabric(a->portal)->port;
	bool is_ip6 = addr->sa.sa_family == AF_INET6;
	struct json_object *o = json_add_object(a->list);
	tcp_addr_format(addr, text);
	tcp_addr_format_ip(addr, ip);
	json_put_text(o, "portal", a->portal->name);
	snprintf(line, sizeof line, "id_ext=%s,ioc_guid=%s,dest=%s", a->id_ext, a->ioc_guid, text);
	json_put_text(o, "add_target", line);
	if (is_default)
		snprintf(host, sizeof host, is_ip6 ? "[%s]" : "%s", ip);
	else
		snprintf(host, sizeof host, "%s", text);
	snprintf(line, sizeof line, "srp://%s/%s:%s/%u", host, a->id_ext, a->ioc_guid, a->lun);
	json_put_text(o, "url", line);
}

static bool is_reachable(const struct ifaddrs *i, sa_family_t family, bool is_loopback)
{
	return i->ifa_addr && i->ifa_addr->sa_family == family && i->ifa_flags & IFF_UP &&
	       !(i->ifa_flags & IFF_LOOPBACK) == !is_loopback;
}

// Addresses of this machine at the portal's port; returns their number.
static unsigned put_each(const struct attach *a, const struct tcp_addr *any, bool is_loopback)
{
	struct ifaddrs *list = NULL;
	unsigned count = 0;
	if (getifaddrs(&list) < 0)
		return 0;
	for (const struct ifaddrs *i = list; i && count < ADDRESSES_MAX; i = i->ifa_next) {
		struct tcp_addr addr;
		if (!is_reachable(i, any->sa.sa_family, is_loopback))
			continue;
		tcp_addr_from_sockaddr(&addr, i->ifa_addr, sizeof(struct sockaddr_in6));
		if (tcp_addr_is_link_local(&addr))
			continue;
		tcp_addr_set_port(&addr, tcp_addr_port(any));
		put(a, &addr);
		count++;
	}
	freeifaddrs(list);
	return count;
}

// ---- by service id ----

// The bytes of a GID from at on as 16 hex digits.
static const char *half(const uint8_t gid[IB_GID_LEN], unsigned at, char out[17])
{
	for (unsigned i = 0; i < 8; i++)
		snprintf(out + 2 * i, 3, "%02x", gid[at + i]);
	return out;
}

// With the port's GUID as initiator_ext, ib_srp takes one session by each port.
static void put_service(const struct attach *a, uint16_t ip_port, const struct ib_port *p)
{
	const struct portal_node *portal = NODE_OF(const struct portal_node, a->portal);
	unsigned pkey = portal->attr.pkey ? portal->attr.pkey | PKEY_FULL : PKEY_DEFAULT;
	char prefix[17], guid[17], line[240];
	struct json_object *o = json_add_object(a->list);
	half(p->gid, 0, prefix);
	half(p->gid, 8, guid);
	json_put_text(o, "portal", a->portal->name);
	snprintf(line, sizeof line,
		 "id_ext=%s,ioc_guid=%s,dgid=%s%s,pkey=%04x,service_id=%016llx,initiator_ext=%s",
		 a->id_ext, a->ioc_guid, prefix, guid, pkey,
		 (unsigned long long)rnic_service_id(ip_port), guid);
	json_put_text(o, "add_target", line);
}

static void put_services(const struct attach *a, uint16_t ip_port)
{
	struct ib_port ports[IB_PORTS_MAX];
	unsigned count = ib_ports(ports, IB_PORTS_MAX);
	if (!(NODE_OF(const struct portal_node, a->portal)->transports & PORTAL_RDMA))
		return;
	for (unsigned i = 0; i < count; i++)
		if (ports[i].is_active)
			put_service(a, ip_port, &ports[i]);
}

// The lowest LUN of the target, 0 if it has none.
static uint32_t first_lun(const struct tpg *tpg)
{
	uint32_t ret = UINT32_MAX;
	list_each (const struct lun, l, &tpg->luns.children, node.link)
		ret = l->number < ret ? l->number : ret;
	return ret == UINT32_MAX ? 0 : ret;
}

void srpt_put_attach(const struct node *target, const struct node *portal, struct json_object *list)
{
	const char *id = target->name + strlen("ib.");
	struct attach a = { .portal = portal, .list = list };
	struct tcp_addr addr;
	a.lun = first_lun(tpg_of(target));
	snprintf(a.id_ext, sizeof a.id_ext, "%.16s", id);
	snprintf(a.ioc_guid, sizeof a.ioc_guid, "%s", id + 16);
	if (tcp_addr_parse(&addr, portal->name, 0, NULL) < 0)
		return; // its interface is missing
	if (!tcp_addr_is_wildcard(&addr)) {
		put(&a, &addr);
		return;
	}
	if (!put_each(&a, &addr, false))
		put_each(&a, &addr, true);
	put_services(&a, tcp_addr_port(&addr));
}
