// SPDX-License-Identifier: BSD-2-Clause
// See link.h.
#include "initiator/bench/link.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/tcp/addr.h"

static bool read_line(char *ret, size_t size, const char *path)
{
	FILE *f = fopen(path, "re");
	bool has = f && fgets(ret, (int)size, f);
	if (f)
		fclose(f);
	return has;
}

// The RDMA device behind an interface.
static bool device_of(const char *sysfs, const char *name, char ret[NAME_MAX + 1])
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/class/net/%s/device/infiniband", sysfs, name);
	DIR *d = opendir(path);
	struct dirent *e = NULL;
	while (d && (e = readdir(d)) && *e->d_name == '.')
		;
	if (e)
		snprintf(ret, NAME_MAX + 1, "%s", e->d_name);
	if (d)
		closedir(d);
	return e;
}

// An InfiniBand port's rate, "40 Gb/sec (4X QDR)", is that of the wire, up to QDR with 8b/10b
// encoding. 0: not an InfiniBand port.
static double infiniband_rate(const char *sysfs, const char *name)
{
	static const char *const with_8b10b[] = { " SDR)", " DDR)", " QDR)" };
	char path[PATH_MAX], device[NAME_MAX + 1], text[64];
	snprintf(path, sizeof path, "%s/class/net/%s/type", sysfs, name);
	if (!read_line(text, sizeof text, path) || atoi(text) != ARPHRD_INFINIBAND ||
	    !device_of(sysfs, name, device))
		return 0;
	snprintf(path, sizeof path, "%s/class/net/%s/dev_port", sysfs, name);
	int port = read_line(text, sizeof text, path) ? (int)strtol(text, NULL, 0) + 1 : 1;
	snprintf(path, sizeof path, "%s/class/infiniband/%s/ports/%d/rate", sysfs, device, port);
	if (!read_line(text, sizeof text, path))
		return 0;
	double gbit = atof(text);
	for (unsigned i = 0; i < sizeof with_8b10b / sizeof *with_8b10b; i++)
		if (strstr(text, with_8b10b[i]))
			gbit *= 0.8;
	return gbit * 1e9 / 8;
}

double link_rate(const char *sysfs, const char *name)
{
	char path[PATH_MAX], text[32];
	double rate = infiniband_rate(sysfs, name);
	if (rate > 0)
		return rate;
	snprintf(path, sizeof path, "%s/class/net/%s/speed", sysfs, name);
	long mbit = read_line(text, sizeof text, path) ? atol(text) : 0;
	return mbit > 0 ? (double)mbit * 1e6 / 8 : 0; // -1: unknown
}

void link_find(struct link *ret, const char *local, const char *peer)
{
	struct tcp_addr a, b;
	struct ifaddrs *list = NULL;
	*ret = (struct link){ 0 };
	if (tcp_addr_parse(&a, local, 0, NULL) < 0)
		return;
	// What goes to an address of this machine does not reach its interface.
	ret->is_loopback = tcp_addr_is_loopback(&a) ||
			   (tcp_addr_parse(&b, peer, 0, NULL) == 0 && tcp_addr_same_ip(&a, &b));
	if (getifaddrs(&list) < 0)
		return;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (!i->ifa_addr)
			continue;
		tcp_addr_from_sockaddr(&b, i->ifa_addr, sizeof(struct sockaddr_in6));
		if (b.sa.sa_family == AF_UNSPEC || !tcp_addr_same_ip(&a, &b))
			continue;
		snprintf(ret->name, sizeof ret->name, "%s", i->ifa_name);
		break;
	}
	freeifaddrs(list);
	if (*ret->name && !ret->is_loopback)
		ret->bytes = link_rate("/sys", ret->name);
}
