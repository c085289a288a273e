// SPDX-License-Identifier: BSD-2-Clause
// RoCE and IP over InfiniBand: network devices, GIDs, packet sizes.
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"

enum { ARPHRD_IB = 32 };

// The network device of the first GID of a RoCE port; false: none. Entries without an address are
// not readable.
static bool netdev_of(struct doctor *d, const struct doctor_port *p, char ret[DOCTOR_NAME_SIZE])
{
	struct doctor_names entries;
	if (p->is_infiniband)
		return false;
	doctor_list(d, &entries, "%s/gid_attrs/ndevs", p->path);
	for (unsigned i = 0; i < entries.count; i++)
		if (doctor_read(d, ret, DOCTOR_NAME_SIZE, "%s/gid_attrs/ndevs/%s", p->path,
				entries.name[i]) &&
		    *ret)
			return true;
	return false;
}

void check_mtu(struct doctor *d, const struct doctor_port *p)
{
	char netdev[DOCTOR_NAME_SIZE], text[32], fix[DOCTOR_FIX_SIZE];
	if (!netdev_of(d, p, netdev) ||
	    !doctor_read(d, text, sizeof text, "/sys/class/net/%s/mtu", netdev))
		return;
	long v = strtol(text, NULL, 10);
	struct finding f = { DOCTOR_OK, p->object, NULL, NULL };
	if (v < 4200) {
		f.verdict = DOCTOR_WARN;
		f.why = v < 2200 ? "RoCE packets carry at most 1024 bytes; 4096 bytes need an MTU "
				   "of 4200"
				 : "RoCE packets carry at most 2048 bytes; 4096 bytes need an MTU "
				   "of 4200";
		f.fix = doctor_fill(fix,
				    "ip link set dev NETDEV mtu 9000, at both ends, and the same "
				    "on the switch; then test with ping -M do -s 8972 PEER",
				    p, netdev);
	}
	doctor_say(d, &f, "%s has MTU %s", netdev, text);
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

// Settings of the first IPoIB interface, for comparison; doctor runs on one thread.
static char first_netdev[DOCTOR_NAME_SIZE], first_mode[32], first_size[32];

// Whether the port of an interface is a member of the interface's partition.
static bool has_partition(struct doctor *d, const char *netdev, char key[32])
{
	struct doctor_names devices, entries;
	char entry[32], number[16];
	doctor_list(d, &devices, "/sys/class/net/%s/device/infiniband", netdev);
	if (!devices.count || !doctor_read(d, key, 32, "/sys/class/net/%s/pkey", netdev))
		return true; // unknown
	doctor_read(d, number, sizeof number, "/sys/class/net/%s/dev_port", netdev);
	unsigned port = (unsigned)atoi(number) + 1;
	doctor_list(d, &entries, "/sys/class/infiniband/%s/ports/%u/pkeys", devices.name[0], port);
	for (unsigned i = 0; i < entries.count; i++)
		if (doctor_read(d, entry, sizeof entry,
				"/sys/class/infiniband/%s/ports/%u/pkeys/%s", devices.name[0], port,
				entries.name[i]) &&
		    (strtoul(entry, NULL, 16) & 0x7fff) == (strtoul(key, NULL, 16) & 0x7fff))
			return true;
	return !entries.count;
}

enum { IPOIB_2K = 2044, IPOIB_4K = 4092, IPOIB_CONNECTED = 65520 };

static struct finding judge_sizes(const char *netdev, const char *mode, const char *size)
{
	struct finding f = { DOCTOR_OK, netdev, NULL, NULL };
	bool is_connected = !strcmp(mode, "connected");
	long v = strtol(size, NULL, 10);
	if (v > (is_connected ? IPOIB_CONNECTED : IPOIB_4K)) {
		f.verdict = DOCTOR_WARN;
		f.why = "the MTU exceeds the maximum of this mode: large packets are lost";
		f.fix = "set the same mode and MTU on every host";
	} else if (*first_netdev && (strcmp(first_mode, mode) || strcmp(first_size, size))) {
		f.verdict = DOCTOR_WARN;
		f.why = "mode or MTU differs from the first interface: large packets stall if both "
			"are on one fabric";
		f.fix = "set the same mode and MTU on every interface and host";
	} else if (!is_connected && v == IPOIB_2K) {
		f.verdict = DOCTOR_WARN;
		f.why = "the partition uses packets of 2048 bytes; most adapters and switches "
			"support 4096";
		f.fix = "set mtu=5 for the partition in the subnet manager's partitions.conf";
	}
	return f;
}

static void ipoib(struct doctor *d, const char *netdev)
{
	char mode[32], size[32], state[32], key[32] = "", fix[DOCTOR_FIX_SIZE];
	doctor_read(d, mode, sizeof mode, "/sys/class/net/%s/mode", netdev);
	doctor_read(d, size, sizeof size, "/sys/class/net/%s/mtu", netdev);
	doctor_read(d, state, sizeof state, "/sys/class/net/%s/operstate", netdev);
	struct finding f = judge_sizes(netdev, mode, size);
	if (strcmp(state, "up")) {
		f = (struct finding){ DOCTOR_WARN, netdev,
				      "iSER connects by IP address, so it cannot use this port",
				      "ip link set dev NETDEV up" };
	} else if (!has_address(d, netdev)) {
		f = (struct finding){ DOCTOR_WARN, netdev,
				      "iSER connects by IP address, so it cannot use this port",
				      "ip address add 192.0.2.1/24 dev NETDEV" };
	} else if (!has_partition(d, netdev, key)) {
		f = (struct finding){
			DOCTOR_FAIL, netdev,
			"the interface has no connection: its port is not a member of its "
			"partition",
			"add the port to the partition in the subnet manager's partitions.conf"
		};
	}
	if (f.fix)
		f.fix = doctor_fill(fix, f.fix, NULL, netdev);
	doctor_say(d, &f, "%s, %s mode, MTU %s%s%s", state, *mode ? mode : "datagram", size,
		   *key ? ", partition " : "", key);
	if (!*first_netdev) {
		memcpy(first_netdev, netdev, strlen(netdev) + 1);
		memcpy(first_mode, mode, sizeof mode);
		memcpy(first_size, size, sizeof size);
	}
}

void check_ipoib(struct doctor *d)
{
	struct doctor_names netdevs;
	char type[16];
	*first_netdev = 0;
	doctor_list(d, &netdevs, "/sys/class/net");
	for (unsigned i = 0; i < netdevs.count; i++)
		if (doctor_read(d, type, sizeof type, "/sys/class/net/%s/type", netdevs.name[i]) &&
		    atoi(type) == ARPHRD_IB)
			ipoib(d, netdevs.name[i]);
}

// Whether connections use RoCE v1 by default (configfs, which may be absent).
static bool begins_with_v1(struct doctor *d, const struct doctor_port *p)
{
	char mode[32];
	return doctor_read(d, mode, sizeof mode,
			   "/sys/kernel/config/rdma_cm/%s/ports/%s/default_roce_mode", p->device,
			   p->number) &&
	       !strcmp(mode, "IB/RoCE v1");
}

void check_gid(struct doctor *d, const struct doctor_port *p)
{
	struct doctor_names entries;
	char type[32], netdev[DOCTOR_NAME_SIZE], fix[DOCTOR_FIX_SIZE];
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
		f.why = "routers do not forward RoCE v1, and peers with v2 only are unreachable";
		f.fix = "use an adapter or firmware with RoCE v2, or v1 at every end: echo "
			"'IB/RoCE v1' > "
			"/sys/kernel/config/rdma_cm/DEVICE/ports/PORT/default_roce_mode";
	} else if (begins_with_v1(d, p)) {
		f.verdict = DOCTOR_WARN;
		f.why = "connections use RoCE v1 by default: routers do not forward it, and peers "
			"that use v2 do not answer";
		f.fix = "echo 'RoCE v2' > "
			"/sys/kernel/config/rdma_cm/DEVICE/ports/PORT/default_roce_mode";
	} else if (!has_address(d, netdev)) {
		f.verdict = DOCTOR_WARN;
		f.why = "RDMA connections need an IP address on the interface";
		f.fix = "ip address add 192.0.2.1/24 dev NETDEV; open UDP port 4791";
	}
	if (f.fix)
		f.fix = doctor_fill(fix, f.fix, p, netdev);
	doctor_say(d, &f, "%s: %u GIDs of RoCE v1, %u of RoCE v2", netdev, v1, v2);
}

// ---- subnet prefixes ----

// State of check_prefix(); doctor runs on one thread.
static char first_prefix[24], first_port[80];

static void prefix(struct doctor *d, const struct doctor_port *p)
{
	char text[64];
	if (!p->is_infiniband || !doctor_read(d, text, sizeof text, "%s/gids/0", p->path) ||
	    strlen(text) < 19)
		return;
	text[19] = 0;
	struct finding f =
		doctor_judge(!*first_prefix || strcmp(text, first_prefix), DOCTOR_WARN, p->object,
			     "port GIDs are ambiguous if these are two fabrics",
			     "set another subnet_prefix in the opensm.conf of one fabric");
	doctor_say(d, &f, "subnet prefix %s%s%s", text, f.why ? ", same as " : "",
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
