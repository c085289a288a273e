// SPDX-License-Identifier: BSD-2-Clause
// Portals of a portal group: /iscsi/WWN/tpgN/portals.
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "target/config/targets/portal.h"
#include "target/config/tree/in_use.h"
#include "target/fabric/fabric.h"

static int parse_port(const char *text, uint16_t *ret, struct err *e)
{
	int v = number_of(text, "", 65535);
	if (v < 1)
		return err_set(e, -EINVAL, "ip_port: invalid port '%.20s' (1..65535)", text);
	*ret = (uint16_t)v;
	return 0;
}

// Its first IPv4 address, else its first IPv6 one that is not link-local.
static int address_of(const char *interface, char out[TCP_ADDR_TEXT], struct err *e)
{
	struct ifaddrs *list = NULL;
	struct tcp_addr best = { 0 };
	if (getifaddrs(&list) < 0)
		return err_errno(e, -errno, "%s", interface);
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		struct tcp_addr addr;
		if (!i->ifa_addr || strcmp(i->ifa_name, interface))
			continue;
		tcp_addr_from_sockaddr(&addr, i->ifa_addr, sizeof(struct sockaddr_in6));
		bool is_better = best.sa.sa_family == AF_UNSPEC ||
				 (best.sa.sa_family == AF_INET6 && addr.sa.sa_family == AF_INET);
		if (addr.sa.sa_family != AF_UNSPEC && is_better &&
		    !(addr.sa.sa_family == AF_INET6 && tcp_addr_is_link_local(&addr)))
			best = addr;
	}
	freeifaddrs(list);
	if (best.sa.sa_family == AF_UNSPEC)
		return err_set(e, -EADDRNOTAVAIL,
			       "ip_address: %s has no address yet (give the one it will have: it "
			       "is waited for)",
			       interface);
	tcp_addr_format_ip(&best, out);
	return 0;
}

int portal_create(struct config *c, struct node *n, const struct args *a, struct reply *r,
		  struct err *e)
{
	const struct fabric_ops *fabric = node_fabric(n);
	const char *host = arg(a, "ip_address");
	char address[TCP_ADDR_TEXT];
	struct portal_node *p;
	uint16_t port = 0;
	unsigned mask = fabric->transports->mask;
	int code = parse_port(arg(a, "ip_port"), &port, e);
	if (!code)
		code = portal_transport_parse(fabric, arg(a, "transport"), &mask, e);
	if (code < 0)
		return code;
	if (if_nametoindex(host)) {
		code = address_of(host, address, e);
		if (code < 0)
			return code;
		reply_say(r, "%s is %s", host, address);
		host = address;
	}
	if (port == fabric->port)
		reply_say(r, "Using default IP port %u", port);
	if (!strcmp(host, "0.0.0.0"))
		reply_say(r, "Binding to INADDR_ANY (0.0.0.0)");
	code = portal_new(c, &p, tpg_of(n), host, port, mask, false, e);
	if (code < 0)
		return code;
	reply_say(r, "Created network portal %s.", p->node.name);
	const char *waits = portal_waits(p);
	if (waits)
		reply_say(r, "Warning: portal waiting: %s", waits);
	if (mask != fabric->transports->mask)
		portal_warn_rdma(p, r);
	return 0;
}

int portal_normal_address(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE],
			  struct err *e)
{
	struct tcp_addr addr;
	uint16_t port = 0;
	int code = parse_port(arg(a, "ip_port"), &port, e);
	if (!code)
		code = portal_name(arg(a, "ip_address"), port, out, &addr, e);
	return code == -ENODEV ? 0 : code;
}

// clang-format off
static const struct command_row portals_commands[] = {
	{ "create", PARAMS(
		{ "ip_address", PARAM_ADDRESS, false, "0.0.0.0",
		  "IPv4 or IPv6 address, or an interface (its first address)" },
		{ "ip_port", PARAM_NUMBER, false, "3260", "TCP port" },
		{ "transport", PARAM_STRING, false, "all", TRANSPORTS, NULL, TRANSPORT_CHOICES }),
	  "Listen on an address, which may appear later.", false, portal_create },
	{ "delete", PARAMS(
		{ "ip_address", PARAM_PORTAL, true, NULL, "IPv4 or IPv6 address" },
		{ "ip_port", PARAM_NUMBER, true, NULL, "TCP port" },
		PARAM_FORCE),
	  "Stop listening; sessions continue.", false, delete_child },
	{ "enable_iser", PARAMS_ON_OFF, "Set enable_iser of the only portal.", false,
	  portal_enable_iser, .is_report = true },
	{ "transport", PARAMS_TRANSPORT, "Set transport of the only portal.", false,
	  portal_set_transport, .is_report = true },
	{ "enable_offload", PARAMS_ON_OFF, "Set enable_offload of the only portal.", false,
	  portal_enable_offload, .is_report = true },
	{ 0 },
};
// clang-format on

const struct node_class portals_class = {
	.name = "portals",
	.help = "The addresses this portal group listens on",
	.commands = portals_commands,
	.child = {"No network portal %s", "Deleted network portal %s",
		   .normal = portal_normal_address},
	.counts = "Portals",
};
