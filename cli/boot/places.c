// SPDX-License-Identifier: BSD-2-Clause
// boot-info: the portals of the LUN, and the addresses at which another machine reaches them.
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "cli/boot/boot.h"
#include "transport/tcp/addr.h"

const struct boot_place *boot_tcp_at(const struct boot *b, const struct boot_place *p)
{
	if (p->has_tcp)
		return p;
	for (unsigned i = 0; i < b->place_count; i++)
		if (b->places[i].has_tcp && !strcmp(b->places[i].address, p->address))
			return &b->places[i];
	return NULL;
}

static void add(struct boot *b, const struct boot_place *of, const struct tcp_addr *a)
{
	char ip[TCP_ADDR_TEXT];
	bool is_wanted = of->is_wanted || boot_wants(b, a);
	if (!is_wanted)
		boot_keep_known(b, a);
	if (b->place_count == BOOT_PLACES_MAX || (!is_wanted && !boot_wants_address(b, a)))
		return;
	struct boot_place *p = &b->places[b->place_count++];
	*p = *of;
	p->is_wanted = is_wanted;
	tcp_addr_format_ip(a, ip);
	snprintf(p->address, sizeof p->address, a->sa.sa_family == AF_INET6 ? "[%s]" : "%s", ip);
	snprintf(p->port, sizeof p->port, "%u", tcp_addr_port(a));
}

// Addresses of this machine for a portal on all of them; returns their number.
static unsigned add_each(struct boot *b, const struct boot_place *of, const struct tcp_addr *any,
			 char *list, size_t size)
{
	struct ifaddrs *all = NULL;
	unsigned count = 0;
	if (getifaddrs(&all) < 0)
		return 0;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		struct tcp_addr a;
		char ip[TCP_ADDR_TEXT];
		if (!i->ifa_addr || i->ifa_addr->sa_family != any->sa.sa_family ||
		    !(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK)
			continue;
		tcp_addr_from_sockaddr(&a, i->ifa_addr, sizeof(struct sockaddr_in6));
		if (tcp_addr_is_link_local(&a))
			continue;
		tcp_addr_set_port(&a, tcp_addr_port(any));
		add(b, of, &a);
		count++;
		tcp_addr_format_ip(&a, ip);
		size_t n = strlen(list);
		snprintf(list + n, size - n, "%s%.70s", n ? ", " : "", ip);
	}
	freeifaddrs(all);
	return count;
}

static void add_wildcard(struct boot *b, const struct boot_place *p, struct tcp_addr *any)
{
	char list[240] = "";
	struct tcp_addr loopback;
	unsigned count = add_each(b, p, any, list, sizeof list);
	bool is_6 = any->sa.sa_family == AF_INET6;
	if (count == 1 || (count && b->has_portal && !p->is_wanted))
		return;
	if (count) {
		boot_warn(b,
			  "portal %s listens on all addresses: the machine must reach the one in "
			  "the lines it is given (%s)",
			  p->portal, list);
		return;
	}
	boot_warn(b,
		  "portal %s listens on all addresses, and this machine has none but loopback: "
		  "no other machine reaches it",
		  p->portal);
	if (!tcp_addr_parse(&loopback, is_6 ? "::1" : "127.0.0.1", tcp_addr_port(any), NULL))
		add(b, p, &loopback);
}

static void add_portal(struct boot *b, struct json_object *info, const char *name)
{
	const char *transport = text_field(info, "transport");
	struct boot_place p = { .has_tcp = !strcmp(transport, "all") || !strcmp(transport, "tcp"),
				.has_iser = strcmp(transport, "tcp"),
				.has_device =
					!strcmp(text_field(info, "rdma_devices"), "listening") };
	struct tcp_addr a;
	snprintf(p.portal, sizeof p.portal, "%s", name);
	if (tcp_addr_parse(&a, name, 0, NULL) < 0) {
		boot_warn(b, "portal %.90s: its interface is missing: it is left out", name);
		return;
	}
	bool is_any = tcp_addr_is_wildcard(&a);
	p.is_wanted = is_any && boot_wants(b, &a);
	p.is_waiting = !strcmp(text_field(info, "state"), "waiting");
	if (!is_any && !boot_wants_address(b, &a)) {
		boot_keep_known(b, &a);
		return;
	}
	if (p.is_waiting)
		boot_warn(b, "portal %.90s is waiting, no machine can log in there: %.150s", name,
			  text_field(info, "reason"));
	if (tcp_addr_is_loopback(&a))
		boot_warn(b,
			  "portal %.90s: a loopback address, which no other machine reaches "
			  "(portals create ADDRESS)",
			  name);
	if (is_any)
		add_wildcard(b, &p, &a);
	else
		add(b, &p, &a);
}

// A portal without TCP is of no use to firmware.
static void warn_of_iser_alone(struct boot *b)
{
	for (unsigned i = 0; i < b->place_count; i++) {
		const struct boot_place *p = &b->places[i];
		if (p->is_wanted && !boot_tcp_at(b, p))
			boot_warn(b,
				  "portal %s: iSER alone at %s: firmware such as iPXE logs in by "
				  "TCP at the same address (%s/portals/%s transport all)",
				  p->portal, p->address, b->group, p->portal);
	}
}

// The kernel's initiator then needs a device of its own.
static void warn_of_software(struct boot *b)
{
	unsigned i = 0;
	while (i < b->place_count &&
	       (!b->places[i].is_wanted || !b->places[i].has_iser || b->places[i].has_device))
		i++;
	if (i < b->place_count)
		boot_warn(b,
			  "portal %s: iSER by software iWARP alone, since no RDMA device is there: "
			  "Linux's iSER needs siw (farblock.rdma=siw), which not every kernel has; "
			  "TCP and farblock-initiator need nothing",
			  b->places[i].portal);
}

int boot_each_portal(struct boot *b,
		     void (*found)(struct boot *b, struct json_object *info, const char *name),
		     struct err *e)
{
	char path[BOOT_PATH_SIZE + 100];
	struct json_object *tree = NULL;
	snprintf(path, sizeof path, "%s/portals", b->group);
	int r = shell_call(b->s, "tree.ls", params_of_ls(path, 1), &tree, e);
	if (r < 0)
		return r;
	json_each (child, json_field(tree, "children")) {
		const char *name = text_field(child, "name");
		snprintf(path, sizeof path, "%s/portals/%.90s", b->group, name);
		struct json_object *info = boot_node(b, path);
		found(b, info, name);
		json_object_put(info);
	}
	json_object_put(tree);
	return 0;
}

// A place that listens, and where firmware logs in if it does at the other.
static bool has_better(const struct boot *b, const struct boot_place *than)
{
	for (unsigned i = 0; i < b->place_count; i++) {
		const struct boot_place *p = &b->places[i];
		if (p->is_wanted && !p->is_waiting && (p->has_tcp || !than->has_tcp))
			return true;
	}
	return false;
}

// No machine boots from them; they are better than none, as the lines are right once they listen.
static void leave_waiting_out(struct boot *b)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < b->place_count; i++) {
		if (b->places[i].is_waiting && has_better(b, &b->places[i]))
			b->leaves_waiting_out = true;
		else
			b->places[kept++] = b->places[i];
	}
	b->place_count = kept;
}

int boot_find_places(struct boot *b, struct err *e)
{
	int r = boot_each_portal(b, add_portal, e);
	if (r < 0)
		return r;
	if (!b->place_count && !b->has_portal)
		boot_warn(b, "%.200s has no portal that works (%.200s/portals create)", b->target,
			  b->group);
	leave_waiting_out(b);
	if (!b->is_srp) {
		warn_of_iser_alone(b);
		warn_of_software(b);
	}
	return 0;
}
