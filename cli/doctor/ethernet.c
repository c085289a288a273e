// SPDX-License-Identifier: BSD-2-Clause
// RoCE and IP over InfiniBand: network devices, GIDs, packet sizes.
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"

enum { ARPHRD_IB = 32 };

// The network device of the first GID of a RoCE port; false: none.
static bool netdev_of(struct doctor *d, const struct doctor_port *p, char ret[DOCTOR_NAME_SIZE])
{
	return !p->is_infiniband &&
	       doctor_read(d, ret, DOCTOR_NAME_SIZE, "%s/gid_attrs/ndevs/0", p->path) && *ret;
}

static void mtu(struct doctor *d, const struct doctor_port *p)
{
	char netdev[DOCTOR_NAME_SIZE], text[32];
	if (!netdev_of(d, p, netdev) ||
	    !doctor_read(d, text, sizeof text, "/sys/class/net/%s/mtu", netdev))
		return;
	long v = strtol(text, NULL, 10);
	struct finding f = { DOCTOR_OK, p->object, NULL, NULL };
	if (v < 4200) {
		f.verdict = DOCTOR_WARN;
		f.why = v < 2200 ? "RoCE sends 1024 bytes a packet at most; 4096 need 4200"
				 : "RoCE sends 2048 bytes a packet at most; 4096 need 4200";
		f.fix = "ip link set dev NETDEV mtu 9000, at both ends and on the switch";
	}
	doctor_say(d, &f, "%s has an MTU of %s", netdev, text);
}

void check_mtu(struct doctor *d)
{
	doctor_each_port(d, mtu);
}

// Whether an interface has an IPv4 route or an IPv6 address.
static bool has_address(struct doctor *d, const char *netdev)
{
	static const char *const tables[] = { "/proc/net/route", "/proc/net/if_inet6" };
	char text[16384];
	for (unsigned i = 0; i < 2; i++) {
		char *rest = NULL;
		doctor_read(d, text, sizeof text, "%s", tables[i]);
		for (char *line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			char *rest_of_line = NULL, *word = strtok_r(line, " \t", &rest_of_line);
			for (; word; word = strtok_r(NULL, " \t", &rest_of_line))
				if (!strcmp(word, netdev))
					return true;
		}
	}
	return false;
}

static void ipoib(struct doctor *d, const char *netdev)
{
	char mode[32], size[32], state[32];
	doctor_read(d, mode, sizeof mode, "/sys/class/net/%s/mode", netdev);
	doctor_read(d, size, sizeof size, "/sys/class/net/%s/mtu", netdev);
	doctor_read(d, state, sizeof state, "/sys/class/net/%s/operstate", netdev);
	struct finding f = { DOCTOR_OK, netdev, NULL, NULL };
	long most = strcmp(mode, "connected") ? 4092 : 65520;
	if (strcmp(state, "up")) {
		f.verdict = DOCTOR_WARN;
		f.why = "iSER finds its way by IP addresses, so it cannot over this port";
		f.fix = "ip link set dev NETDEV up";
	} else if (!has_address(d, netdev)) {
		f.verdict = DOCTOR_WARN;
		f.why = "iSER finds its way by IP addresses, so it cannot over this port";
		f.fix = "ip address add 192.0.2.1/24 dev NETDEV";
	} else if (strtol(size, NULL, 10) > most) {
		f.verdict = DOCTOR_WARN;
		f.why = "larger than this mode takes: large packets get lost";
		f.fix = "the same mode and MTU at every host";
	}
	doctor_say(d, &f, "%s, %s mode, MTU %s", state, *mode ? mode : "datagram", size);
}

void check_ipoib(struct doctor *d)
{
	struct doctor_names netdevs;
	char type[16];
	doctor_list(d, &netdevs, "/sys/class/net");
	for (unsigned i = 0; i < netdevs.count; i++)
		if (doctor_read(d, type, sizeof type, "/sys/class/net/%s/type", netdevs.name[i]) &&
		    atoi(type) == ARPHRD_IB)
			ipoib(d, netdevs.name[i]);
}

static void gid(struct doctor *d, const struct doctor_port *p)
{
	struct doctor_names entries;
	char type[32], netdev[DOCTOR_NAME_SIZE];
	unsigned v1 = 0, v2 = 0;
	if (p->is_infiniband || !netdev_of(d, p, netdev))
		return;
	doctor_list(d, &entries, "%s/gid_attrs/types", p->path);
	for (unsigned i = 0; i < entries.count; i++) {
		if (!doctor_read(d, type, sizeof type, "%s/gid_attrs/types/%s", p->path,
				 entries.name[i]))
			continue;
		v1 += !strcmp(type, "IB/RoCE v1");
		v2 += !strcmp(type, "RoCE v2");
	}
	struct finding f = { v2 ? DOCTOR_OK : DOCTOR_WARN, p->object, NULL, NULL };
	if (!v2) {
		f.why = "without RoCE v2 there is no way through a router, and peers with v2 alone "
			"are not reached";
		f.fix = "a card or firmware with RoCE v2, or v1 at every end: echo 'IB/RoCE v1' > "
			"/sys/kernel/config/rdma_cm/DEVICE/ports/PORT/default_roce_mode";
	}
	doctor_say(d, &f, "on %s: %u GIDs of RoCE v1, %u of RoCE v2", netdev, v1, v2);
}

void check_gid(struct doctor *d)
{
	doctor_each_port(d, gid);
}

// ---- subnet prefixes ----

// check_prefix's, between its calls; doctor runs on one thread.
static char first_prefix[24], first_port[80];

static void prefix(struct doctor *d, const struct doctor_port *p)
{
	char text[64];
	if (!p->is_infiniband || !doctor_read(d, text, sizeof text, "%s/gids/0", p->path) ||
	    strlen(text) < 19)
		return;
	text[19] = 0;
	struct finding f = { DOCTOR_OK, p->object, NULL, NULL };
	if (*first_prefix && !strcmp(text, first_prefix)) {
		f.verdict = DOCTOR_WARN;
		f.why = "if these are two fabrics, names of ports are ambiguous";
		f.fix = "another subnet_prefix in the opensm.conf of one of them";
	}
	doctor_say(d, &f, "subnet prefix %s%s%s", text, f.why ? ", as that of " : "",
		   f.why ? first_port : "");
	if (!*first_prefix) {
		memcpy(first_prefix, text, 20);
		memcpy(first_port, p->object, sizeof first_port);
	}
}

void check_prefix(struct doctor *d)
{
	*first_prefix = 0;
	doctor_each_port(d, prefix);
}
