// SPDX-License-Identifier: BSD-2-Clause
// Bytes that network interfaces and RDMA ports have carried, and those that are near their rate.
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"

static unsigned long long read_number(struct doctor *d, const char *path, const char *file)
{
	char text[32];
	doctor_read(d, text, sizeof text, "%s/%s", path, file);
	return strtoull(text, NULL, 10);
}

static struct doctor_link *one_more(struct doctor_links *l, const char *name)
{
	if (l->count == DOCTOR_LINKS_MAX)
		return NULL;
	struct doctor_link *ret = &l->link[l->count++];
	*ret = (struct doctor_link){ 0 };
	snprintf(ret->name, sizeof ret->name, "%s", name);
	return ret;
}

static void interfaces(struct doctor *d, struct doctor_links *ret)
{
	struct doctor_names names;
	char path[120], speed[32];
	doctor_list(d, &names, "/sys/class/net");
	for (unsigned i = 0; i < names.count; i++) {
		snprintf(path, sizeof path, "/sys/class/net/%s", names.name[i]);
		// Loopback and virtual interfaces have no speed, or -1.
		doctor_read(d, speed, sizeof speed, "%s/speed", path);
		long mbit = strtol(speed, NULL, 10);
		struct doctor_link *l = mbit > 0 ? one_more(ret, names.name[i]) : NULL;
		if (!l)
			continue;
		l->rate = (double)mbit * 1e6 / 8;
		l->received = (double)read_number(d, path, "statistics/rx_bytes");
		l->sent = (double)read_number(d, path, "statistics/tx_bytes");
	}
}

// What is being read; doctor runs on one thread.
static struct doctor_links *ports_to;

// RDMA bypasses the interface's counters; these are in units of 4 bytes (IBTA, PortCounters).
static void port(struct doctor *d, const struct doctor_port *p)
{
	double rate = doctor_port_rate(d, p);
	struct doctor_link *l = rate > 0 ? one_more(ports_to, p->object) : NULL;
	if (!l)
		return;
	l->rate = rate;
	l->received = 4.0 * (double)read_number(d, p->path, "counters/port_rcv_data");
	l->sent = 4.0 * (double)read_number(d, p->path, "counters/port_xmit_data");
}

void doctor_links_read(struct doctor *d, struct doctor_links *ret)
{
	ret->count = 0;
	interfaces(d, ret);
	ports_to = ret;
	doctor_each_port(d, port);
}

unsigned doctor_links_full(struct doctor *d, const struct doctor_links *now,
			   const struct doctor_links *before, double seconds)
{
	unsigned full = 0;
	for (unsigned i = 0; i < now->count && i < before->count; i++) {
		const struct doctor_link *l = &now->link[i], *old = &before->link[i];
		double in = l->received - old->received, out = l->sent - old->sent;
		double share = (in > out ? in : out) / seconds / l->rate;
		if (strcmp(l->name, old->name) || share < DOCTOR_LINK_FULL)
			continue;
		struct finding f = { DOCTOR_OK, l->name, "commands wait for the network",
				     "use a faster link, or more portals on other links and "
				     "multipath" };
		doctor_say(d, &f, "the limit is the network: %.2f of %.2f Gb/s %s",
			   share * l->rate * 8 / 1e9, l->rate * 8 / 1e9,
			   in > out ? "received" : "sent");
		full++;
	}
	return full;
}
