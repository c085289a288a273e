// SPDX-License-Identifier: BSD-2-Clause
// See network.h.
#include "initiator/boot/network.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "initiator/boot/link.h"
#include "initiator/boot/routes.h"

enum {
	QUIET_MS = 1000,
	FURTHER_MS = 1000, // two links do not come up at the same instant
	PATIENCE = 30,	   // seconds the kernel has for an answer
};

struct network {
	const struct ibft *ibft;
	struct netlink kernel, notices;
	uint64_t until_ms;
	unsigned wait_seconds;
	bool is_further; // the NIC is not that of the disk to boot from
	network_say *say;
};

static int open_kernel(struct netlink *ret, unsigned groups)
{
	return netlink_open(ret, NETLINK_ROUTE, groups, PATIENCE);
}

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void mac_text(const struct ibft_nic *n, char ret[18])
{
	const uint8_t *m = n->mac;
	snprintf(ret, 18, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

// ---- waiting ----

// A wait that is told when it has lasted for QUIET_MS.
struct wait {
	uint64_t since_ms;
	bool is_said;
};

// Until something about a link has changed, or the wait is to be told (*ret_is_due). False: the
// time is over.
static bool wait_notice(struct network *n, struct wait *w, bool *ret_is_due)
{
	struct pollfd p = { mnl_socket_get_fd(n->notices.socket), POLLIN, 0 };
	uint64_t now = now_ms(), until = n->until_ms;
	if (now >= until)
		return false;
	if (!w->is_said && w->since_ms + QUIET_MS < until)
		until = w->since_ms + QUIET_MS;
	if (now < until)
		poll(&p, 1, (int)(until - now));
	netlink_drain(&n->notices);
	*ret_is_due = !w->is_said && now_ms() >= w->since_ms + QUIET_MS;
	w->is_said |= *ret_is_due;
	return true;
}

// The driver may be loading.
static int find(struct network *n, const struct ibft_nic *nic, struct link *ret, struct err *e)
{
	struct wait w = { now_ms(), n->is_further };
	unsigned number = nic->object.number;
	char mac[18];
	mac_text(nic, mac);
	for (;;) {
		bool is_due;
		int r = link_by_mac(&n->kernel, nic->mac, ret);
		if (r)
			return err_errno(e, r, "network interfaces: list");
		if (ret->index)
			return 0;
		if (!wait_notice(n, &w, &is_due))
			return err_set(e, -ENODEV,
				       "ethernet%u: no interface has the address %s (load its "
				       "driver)",
				       number, mac);
		if (is_due)
			n->say("ethernet%u: no interface has the address %s yet (up to %u s; is "
			       "its driver loaded?)",
			       number, mac, n->wait_seconds);
	}
}

static int no_link(const struct network *n, const char *name, struct err *e)
{
	if (n->is_further)
		return err_set(e, -ENETDOWN, "%s: no link (check cable and switch port)", name);
	return err_set(e, -ENETDOWN, "%s: no link within %u s (check cable and switch port)", name,
		       n->wait_seconds);
}

static int wait_carrier(struct network *n, unsigned index, struct err *e)
{
	struct wait w = { now_ms(), n->is_further };
	struct link l;
	for (;;) {
		bool is_due;
		int r = link_by_index(&n->kernel, index, &l);
		if (r || !l.index)
			return err_errno(e, r ? r : -ENODEV, "network interface %u", index);
		if (l.has_carrier)
			return 0;
		if (!wait_notice(n, &w, &is_due))
			return no_link(n, l.name, e);
		if (is_due)
			n->say("%s: no link yet (up to %u s; is the cable plugged in?)", l.name,
			       n->wait_seconds);
	}
}

// ---- one NIC ----

static int set_up(struct network *n, const struct link *l, struct err *e)
{
	int r = link_set_up(&n->kernel, l->index);
	return r ? err_errno(e, r, "%s: set up", l->name) : 0;
}

// The VLAN above l, which it replaces.
static int enter_vlan(struct network *n, struct link *l, unsigned id, struct err *e)
{
	struct link vlan;
	int r = link_vlan(&n->kernel, l->index, id, &vlan);
	if (!r && !vlan.index) {
		r = link_make_vlan(&n->kernel, l, id);
		if (r == -EOPNOTSUPP)
			return err_set(e, r, "%s: VLAN %u: not supported (modprobe 8021q)", l->name,
				       id);
		if (!r)
			r = link_vlan(&n->kernel, l->index, id, &vlan);
	}
	if (r || !vlan.index)
		return err_errno(e, r ? r : -ENODEV, "%s: VLAN %u", l->name, id);
	*l = vlan;
	return set_up(n, l, e);
}

static int address(struct network *n, const struct ibft_nic *nic, const struct link *l,
		   struct err *e)
{
	char text[IBFT_ADDRESS_TEXT], gateway[IBFT_ADDRESS_TEXT];
	unsigned prefix = ibft_prefix(nic);
	ibft_address_text(&nic->ip, text);
	ibft_address_text(&nic->gateway, gateway);
	int r = link_add_address(&n->kernel, l->index, &nic->ip, prefix);
	if (r == -EACCES && nic->ip.family == AF_INET6)
		return err_set(e, r,
			       "%s: add address %s/%u: IPv6 is disabled (sysctl "
			       "net.ipv6.conf.%s.disable_ipv6=0)",
			       l->name, text, prefix, l->name);
	if (r)
		return err_errno(e, r, "%s: add address %s/%u", l->name, text, prefix);
	n->say("%s: %s/%u%s%s", l->name, text, prefix, *gateway ? ", gateway " : "", gateway);
	return 0;
}

// What the table must have.
static int check(const struct ibft_nic *nic, struct err *e)
{
	const char *missing = !nic->has_mac	  ? "mac"
			      : !nic->ip.family	  ? "ip-addr"
			      : !ibft_prefix(nic) ? "valid prefix-len"
						  : NULL;
	if (nic->object.fault.code) {
		*e = nic->object.fault;
		return e->code;
	}
	return missing ? err_set(e, -EINVAL, "ethernet%u: no %s in the iBFT", nic->object.number,
				 missing)
		       : 0;
}

// chosen: the target to boot from, if this is its NIC, else NULL.
static int apply(struct network *n, const struct ibft_nic *nic, const struct ibft_target *chosen,
		 struct err *e)
{
	struct link l;
	struct routes routes = { &n->kernel, n->ibft, nic, &l, chosen, n->say };
	int r = check(nic, e);
	if (!r)
		r = find(n, nic, &l, e);
	if (!r)
		r = set_up(n, &l, e);
	if (!r && nic->vlan)
		r = enter_vlan(n, &l, (unsigned)nic->vlan, e);
	if (!r)
		r = wait_carrier(n, l.index, e);
	if (!r)
		r = address(n, nic, &l, e);
	return r ? r : routes_add(&routes, e);
}

// ---- all of them ----

static int no_nic(const struct ibft_target *t, struct err *e)
{
	if (!t->has_nic)
		return err_set(e, -EINVAL, "target%u: no nic-assoc in the iBFT", t->object.number);
	return err_set(e, -EINVAL, "target%u/nic-assoc: no NIC has the index %llu",
		       t->object.number, (unsigned long long)t->nic);
}

// All links come up at the same time, while that of the chosen target is waited for. What is wrong
// is told when the NIC has its turn.
static void wake(struct network *n)
{
	for (unsigned i = 0; i < n->ibft->target_count; i++) {
		const struct ibft_target *t = &n->ibft->targets[i];
		const struct ibft_nic *nic = ibft_nic_of(n->ibft, t);
		struct link l;
		struct err ignored;
		if (t->object.flags & IBFT_IS_VALID && nic && !check(nic, &ignored) &&
		    !link_by_mac(&n->kernel, nic->mac, &l) && l.index)
			link_set_up(&n->kernel, l.index);
	}
}

// The others have as long as the chosen one has taken: a dead path does not keep the machine from
// booting.
static void wait_for_further(struct network *n, uint64_t since_ms)
{
	uint64_t now = now_ms(), more = now - since_ms;
	if (more < FURTHER_MS)
		more = FURTHER_MS;
	if (now + more < n->until_ms)
		n->until_ms = now + more;
	n->is_further = true;
}

static void apply_further(struct network *n, const struct ibft_nic *chosen)
{
	const struct ibft_nic *done[IBFT_OBJECTS_MAX + 1] = { chosen };
	unsigned count = 1;
	for (unsigned i = 0; i < n->ibft->target_count; i++) {
		const struct ibft_target *t = &n->ibft->targets[i];
		const struct ibft_nic *nic = ibft_nic_of(n->ibft, t);
		bool is_done = !(t->object.flags & IBFT_IS_VALID);
		struct err e;
		for (unsigned d = 0; d < count && nic; d++)
			is_done |= done[d] == nic;
		if (is_done)
			continue;
		if (nic)
			done[count++] = nic;
		if (nic ? apply(n, nic, NULL, &e) : no_nic(t, &e))
			n->say("warning: skipped: %s", e.text);
	}
}

static int apply_all(struct network *n, struct err *e)
{
	const struct ibft_target *t = ibft_chosen(n->ibft);
	uint64_t since_ms = now_ms();
	if (!t)
		return err_set(e, -ENOENT, "iBFT: no valid target");
	const struct ibft_nic *nic = ibft_nic_of(n->ibft, t);
	if (!nic)
		return no_nic(t, e);
	wake(n);
	int r = apply(n, nic, t, e);
	if (r)
		return r;
	wait_for_further(n, since_ms);
	apply_further(n, nic);
	return 0;
}

int network_apply(const struct ibft *i, unsigned wait_seconds, network_say *say, struct err *e)
{
	struct network n = { .ibft = i,
			     .until_ms = now_ms() + (uint64_t)wait_seconds * 1000,
			     .wait_seconds = wait_seconds,
			     .say = say };
	int r = open_kernel(&n.kernel, 0);
	if (r)
		return err_errno(e, r, "routing netlink");
	r = open_kernel(&n.notices, RTMGRP_LINK);
	if (r) {
		netlink_close(&n.kernel);
		return err_errno(e, r, "routing netlink");
	}
	r = apply_all(&n, e);
	netlink_close(&n.notices);
	netlink_close(&n.kernel);
	return r;
}

void network_interface(const struct ibft_nic *n, char *ret, size_t size)
{
	struct netlink kernel;
	struct link l = { 0 }, vlan = { 0 };
	char name[IF_NAMESIZE] = "";
	*ret = 0;
	if (!n->has_mac || open_kernel(&kernel, 0))
		return;
	if (!link_by_mac(&kernel, n->mac, &l) && l.index) {
		memcpy(name, l.name, sizeof name);
		if (n->vlan && !link_vlan(&kernel, l.index, (unsigned)n->vlan, &vlan) && vlan.index)
			memcpy(name, vlan.name, sizeof name);
		else if (n->vlan)
			link_vlan_name(l.name, (unsigned)n->vlan, name);
	}
	netlink_close(&kernel);
	snprintf(ret, size, "%s", name);
}
