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

// IFF_LOWER_UP, of <linux/if.h>, which excludes <net/if.h>. IFF_RUNNING alone is set, too, for a
// moment after a link was set up, before the kernel has looked.
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
	const uint8_t *mac, *kind, *name;
	size_t mac_len, kind_len, name_len;
	uint32_t parent;
	uint16_t vlan;
};

static void look_at_vlan(struct seen *s, const uint8_t *at, size_t len)
{
	size_t n;
	const uint8_t *data = rtnl_attribute(at, len, IFLA_INFO_DATA, &n);
	const uint8_t *id = data ? rtnl_attribute(data, n, IFLA_VLAN_ID, &n) : NULL;
	if (id && n == sizeof s->vlan)
		memcpy(&s->vlan, id, n);
}

static bool look(struct seen *s, const uint8_t *body, size_t len)
{
	size_t n;
	*s = (struct seen){ 0 };
	if (len < NLMSG_ALIGN(sizeof s->info))
		return false;
	memcpy(&s->info, body, sizeof s->info);
	body += NLMSG_ALIGN(sizeof s->info);
	len -= NLMSG_ALIGN(sizeof s->info);
	s->mac = rtnl_attribute(body, len, IFLA_ADDRESS, &s->mac_len);
	s->name = rtnl_attribute(body, len, IFLA_IFNAME, &s->name_len);
	const uint8_t *parent = rtnl_attribute(body, len, IFLA_LINK, &n);
	if (parent && n == sizeof s->parent)
		memcpy(&s->parent, parent, n);
	const uint8_t *info = rtnl_attribute(body, len, IFLA_LINKINFO, &n);
	if (info) {
		s->kind = rtnl_attribute(info, n, IFLA_INFO_KIND, &s->kind_len);
		look_at_vlan(s, info, n);
	}
	return s->name && s->name_len && s->name_len <= IF_NAMESIZE && !s->name[s->name_len - 1];
}

static bool is_kind(const struct seen *s, const char *kind)
{
	size_t n = strlen(kind);
	return s->kind && s->kind_len >= n && !memcmp(s->kind, kind, n) &&
	       (s->kind_len == n || !s->kind[n]);
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
	return s->info.ifi_type == ARPHRD_ETHER && s->mac && s->mac_len == 6 &&
	       !memcmp(s->mac, q->mac, 6) && !is_above_another(s);
}

static void found(void *arg, uint16_t type, const uint8_t *body, size_t len)
{
	struct search *q = arg;
	struct seen s;
	if (type != RTM_NEWLINK || q->ret->index || !look(&s, body, len) || !matches(q, &s))
		return;
	q->ret->index = (unsigned)s.info.ifi_index;
	q->ret->is_up = s.info.ifi_flags & IFF_UP;
	q->ret->has_carrier = (s.info.ifi_flags & CARRIER) == CARRIER;
	memcpy(q->ret->name, s.name, s.name_len);
}

static int search(struct rtnl *r, struct search *q)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct rtnl_message m;
	*q->ret = (struct link){ 0 };
	rtnl_begin(&m, RTM_GETLINK, NLM_F_DUMP, &info, sizeof info);
	return rtnl_do(r, &m, found, q);
}

int link_by_mac(struct rtnl *r, const uint8_t mac[6], struct link *ret)
{
	struct search q = { .mac = mac, .ret = ret };
	return search(r, &q);
}

int link_vlan(struct rtnl *r, unsigned parent, unsigned id, struct link *ret)
{
	struct search q = { .parent = parent, .vlan = id, .ret = ret };
	return search(r, &q);
}

int link_by_index(struct rtnl *r, unsigned index, struct link *ret)
{
	struct search q = { .index = index, .ret = ret };
	return search(r, &q);
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

int link_make_vlan(struct rtnl *r, const struct link *parent, unsigned id)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct rtnl_message m;
	char name[IF_NAMESIZE];
	uint16_t vlan = (uint16_t)id;
	link_vlan_name(parent->name, id, name);
	rtnl_begin(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof info);
	rtnl_put(&m, IFLA_IFNAME, name, strlen(name) + 1);
	rtnl_put_u32(&m, IFLA_LINK, parent->index);
	size_t outer = rtnl_nest(&m, IFLA_LINKINFO);
	rtnl_put(&m, IFLA_INFO_KIND, "vlan", 4);
	size_t inner = rtnl_nest(&m, IFLA_INFO_DATA);
	rtnl_put(&m, IFLA_VLAN_ID, &vlan, sizeof vlan);
	rtnl_nest_end(&m, inner);
	rtnl_nest_end(&m, outer);
	return rtnl_do(r, &m, NULL, NULL);
}

int link_set_up(struct rtnl *r, unsigned index)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC,
				  .ifi_index = (int)index,
				  .ifi_flags = IFF_UP,
				  .ifi_change = IFF_UP };
	struct rtnl_message m;
	rtnl_begin(&m, RTM_NEWLINK, 0, &info, sizeof info);
	return rtnl_do(r, &m, NULL, NULL);
}

static size_t bytes_of(const struct ibft_address *a)
{
	return a->family == AF_INET ? 4 : 16;
}

// The firmware has used an address of IPv6 already: it is not probed again, which would take a
// second.
int link_add_address(struct rtnl *r, unsigned index, const struct ibft_address *a, unsigned prefix)
{
	struct ifaddrmsg info = { .ifa_family = (uint8_t)a->family,
				  .ifa_prefixlen = (uint8_t)prefix,
				  .ifa_index = index,
				  .ifa_flags = a->family == AF_INET6 ? IFA_F_NODAD : 0 };
	struct rtnl_message m;
	rtnl_begin(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof info);
	rtnl_put(&m, IFA_LOCAL, a->bytes, bytes_of(a));
	rtnl_put(&m, IFA_ADDRESS, a->bytes, bytes_of(a));
	if (a->family == AF_INET && prefix < 31) {
		uint32_t broadcast;
		memcpy(&broadcast, a->bytes, sizeof broadcast);
		broadcast |= htonl(UINT32_MAX >> prefix);
		rtnl_put(&m, IFA_BROADCAST, &broadcast, sizeof broadcast);
	}
	return may_exist(rtnl_do(r, &m, NULL, NULL));
}

int link_add_route(struct rtnl *r, unsigned index, const struct ibft_address *a, unsigned prefix,
		   const struct ibft_address *gateway)
{
	struct rtmsg info = { .rtm_family = (uint8_t)a->family,
			      .rtm_dst_len = (uint8_t)prefix,
			      .rtm_table = RT_TABLE_MAIN,
			      .rtm_protocol = RTPROT_BOOT,
			      .rtm_scope = gateway || a->family == AF_INET6 ? RT_SCOPE_UNIVERSE
									    : RT_SCOPE_LINK,
			      .rtm_type = RTN_UNICAST };
	struct rtnl_message m;
	rtnl_begin(&m, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof info);
	if (prefix)
		rtnl_put(&m, RTA_DST, a->bytes, bytes_of(a));
	rtnl_put_u32(&m, RTA_OIF, index);
	if (gateway)
		rtnl_put(&m, RTA_GATEWAY, gateway->bytes, bytes_of(gateway));
	return may_exist(rtnl_do(r, &m, NULL, NULL));
}
