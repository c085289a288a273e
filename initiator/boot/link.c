// SPDX-License-Identifier: BSD-2-Clause
// See link.h.
#include "initiator/boot/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

// IFF_LOWER_UP, of <linux/if.h>, which cannot be included together with <net/if.h>. IFF_RUNNING
// alone is set, too, for a moment after a link was set up, before the kernel has looked.
enum { CARRIER = IFF_RUNNING | 0x10000 };

// ---- looking ----

struct search {
	const uint8_t *mac;    // NULL: any
	unsigned index;	       // 0: any
	unsigned parent, vlan; // of a VLAN; 0: no VLAN is wanted
	struct link *ret;
};

// What a link's message says.
struct seen {
	struct ifinfomsg info;
	const struct nlattr *mac, *kind, *name;
	uint32_t parent;
	uint16_t vlan;
};

static bool look(struct seen *s, const struct nlmsghdr *m)
{
	enum { FIXED = sizeof s->info };
	*s = (struct seen){ 0 };
	if (mnl_nlmsg_get_payload_len(m) < FIXED)
		return false;
	memcpy(&s->info, mnl_nlmsg_get_payload(m), FIXED);
	s->mac = netlink_attribute(m, FIXED, IFLA_ADDRESS);
	s->name = netlink_attribute(m, FIXED, IFLA_IFNAME);
	netlink_value(netlink_attribute(m, FIXED, IFLA_LINK), &s->parent, sizeof s->parent);
	const struct nlattr *info = netlink_attribute(m, FIXED, IFLA_LINKINFO);
	s->kind = netlink_nested(info, IFLA_INFO_KIND);
	const struct nlattr *data = netlink_nested(info, IFLA_INFO_DATA);
	netlink_value(netlink_nested(data, IFLA_VLAN_ID), &s->vlan, sizeof s->vlan);
	return s->name && !mnl_attr_validate(s->name, MNL_TYPE_NUL_STRING) &&
	       mnl_attr_get_payload_len(s->name) <= IF_NAMESIZE;
}

static bool is_kind(const struct seen *s, const char *kind)
{
	if (!s->kind)
		return false;
	const char *text = mnl_attr_get_payload(s->kind);
	size_t n = strlen(kind), len = mnl_attr_get_payload_len(s->kind);
	return len >= n && !memcmp(text, kind, n) && (len == n || !text[n]);
}

// These have the address of an interface below.
static bool is_above_another(const struct seen *s)
{
	static const char *const kinds[] = { "vlan",   "macvlan", "macvtap", "ipvlan",
					     "bridge", "bond",	  "team",    "hsr" };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (is_kind(s, kinds[i]))
			return true;
	return false;
}

static bool matches(const struct search *q, const struct seen *s)
{
	if (q->index)
		return s->info.ifi_index == (int)q->index;
	if (q->vlan)
		return is_kind(s, "vlan") && s->parent == q->parent && s->vlan == q->vlan;
	uint8_t mac[6];
	return s->info.ifi_type == ARPHRD_ETHER && netlink_value(s->mac, mac, sizeof mac) &&
	       !memcmp(mac, q->mac, sizeof mac) && !is_above_another(s);
}

static int found(const struct nlmsghdr *m, void *arg)
{
	struct search *q = arg;
	struct seen s;
	if (m->nlmsg_type != RTM_NEWLINK || q->ret->index || !look(&s, m) || !matches(q, &s))
		return MNL_CB_OK;
	q->ret->index = (unsigned)s.info.ifi_index;
	q->ret->is_up = s.info.ifi_flags & IFF_UP;
	q->ret->has_carrier = (s.info.ifi_flags & CARRIER) == CARRIER;
	memcpy(q->ret->name, mnl_attr_get_payload(s.name), mnl_attr_get_payload_len(s.name));
	return MNL_CB_OK;
}

static int search(struct netlink *n, struct search *q)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct netlink_message m;
	*q->ret = (struct link){ 0 };
	netlink_begin(&m, RTM_GETLINK, NLM_F_DUMP, &info, sizeof info);
	return netlink_do(n, &m, found, q);
}

int link_by_mac(struct netlink *n, const uint8_t mac[6], struct link *ret)
{
	struct search q = { .mac = mac, .ret = ret };
	return search(n, &q);
}

int link_vlan(struct netlink *n, unsigned parent, unsigned id, struct link *ret)
{
	struct search q = { .parent = parent, .vlan = id, .ret = ret };
	return search(n, &q);
}

int link_by_index(struct netlink *n, unsigned index, struct link *ret)
{
	struct search q = { .index = index, .ret = ret };
	return search(n, &q);
}

// ---- changing ----

static int may_exist(int r)
{
	return r == -EEXIST ? 0 : r;
}

void link_vlan_name(const char *parent, unsigned id, char ret[IF_NAMESIZE])
{
	char end[8];
	int n = snprintf(end, sizeof end, ".%u", id);
	snprintf(ret, IF_NAMESIZE, "%.*s%s", IF_NAMESIZE - 1 - n, parent, end);
}

int link_make_vlan(struct netlink *n, const struct link *parent, unsigned id)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct netlink_message m;
	char name[IF_NAMESIZE];
	uint16_t vlan = (uint16_t)id;
	link_vlan_name(parent->name, id, name);
	netlink_begin(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof info);
	netlink_put_text(&m, IFLA_IFNAME, name);
	netlink_put_u32(&m, IFLA_LINK, parent->index);
	struct nlattr *outer = netlink_nest(&m, IFLA_LINKINFO);
	netlink_put(&m, IFLA_INFO_KIND, "vlan", 4);
	struct nlattr *inner = netlink_nest(&m, IFLA_INFO_DATA);
	netlink_put(&m, IFLA_VLAN_ID, &vlan, sizeof vlan);
	netlink_nest_end(&m, inner);
	netlink_nest_end(&m, outer);
	return netlink_do(n, &m, NULL, NULL);
}

int link_set_up(struct netlink *n, unsigned index)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC,
				  .ifi_index = (int)index,
				  .ifi_flags = IFF_UP,
				  .ifi_change = IFF_UP };
	struct netlink_message m;
	netlink_begin(&m, RTM_NEWLINK, 0, &info, sizeof info);
	return netlink_do(n, &m, NULL, NULL);
}

static size_t bytes_of(const struct ibft_address *a)
{
	return a->family == AF_INET ? 4 : 16;
}

// The firmware has used an address of IPv6 already: it is not probed again, which would take a
// second.
int link_add_address(struct netlink *n, unsigned index, const struct ibft_address *a,
		     unsigned prefix)
{
	struct ifaddrmsg info = { .ifa_family = (uint8_t)a->family,
				  .ifa_prefixlen = (uint8_t)prefix,
				  .ifa_index = index,
				  .ifa_flags = a->family == AF_INET6 ? IFA_F_NODAD : 0 };
	struct netlink_message m;
	netlink_begin(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof info);
	netlink_put(&m, IFA_LOCAL, a->bytes, bytes_of(a));
	netlink_put(&m, IFA_ADDRESS, a->bytes, bytes_of(a));
	if (a->family == AF_INET && prefix < 31) {
		uint32_t broadcast;
		memcpy(&broadcast, a->bytes, sizeof broadcast);
		broadcast |= htonl(UINT32_MAX >> prefix);
		netlink_put(&m, IFA_BROADCAST, &broadcast, sizeof broadcast);
	}
	return may_exist(netlink_do(n, &m, NULL, NULL));
}

int link_add_route(struct netlink *n, unsigned index, const struct ibft_address *a, unsigned prefix,
		   const struct ibft_address *gateway, bool is_onlink)
{
	struct rtmsg info = { .rtm_family = (uint8_t)a->family,
			      .rtm_dst_len = (uint8_t)prefix,
			      .rtm_table = RT_TABLE_MAIN,
			      .rtm_protocol = RTPROT_BOOT,
			      .rtm_scope = gateway || a->family == AF_INET6 ? RT_SCOPE_UNIVERSE
									    : RT_SCOPE_LINK,
			      .rtm_type = RTN_UNICAST,
			      .rtm_flags = gateway && is_onlink ? RTNH_F_ONLINK : 0 };
	struct netlink_message m;
	netlink_begin(&m, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof info);
	if (prefix)
		netlink_put(&m, RTA_DST, a->bytes, bytes_of(a));
	netlink_put_u32(&m, RTA_OIF, index);
	if (gateway)
		netlink_put(&m, RTA_GATEWAY, gateway->bytes, bytes_of(gateway));
	return may_exist(netlink_do(n, &m, NULL, NULL));
}
