// SPDX-License-Identifier: BSD-2-Clause
// The table of checks.
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <string.h>

// clang-format off
const struct doctor_check doctor_checks[] = {
	{"device", "RDMA devices and their drivers", check_device},
	{"access", "device files for user space", check_access},
	{"state", "state of each port", .each_port = check_state},
	{"cable", "physical state of each port", .each_port = check_cable},
	{"link", "link layer of each port: InfiniBand or Ethernet", .each_port = check_link},
	{"subnet", "addresses of InfiniBand ports from a subnet manager", .each_port = check_subnet},
	{"rate", "link rates and expected throughput", .each_port = check_rate},
	{"mtu", "packet sizes of RoCE", .each_port = check_mtu},
	{"ipoib", "IP over InfiniBand, which iSER needs to connect", check_ipoib},
	{"pkey", "partitions", .each_port = check_pkey},
	{"gid", "RoCE versions and IP addresses", .each_port = check_gid},
	{"prefix", "subnet prefixes of InfiniBand ports", check_prefix},
	{"conflicts", "kernel targets and other programs with the same resources", check_conflicts},
	{"memlock", "limit of pinned memory (RLIMIT_MEMLOCK)", check_memlock},
	{"modules", "kernel modules and io_uring", check_modules},
	{"counters", "error counters of ports", check_counters},
	{"pcie", "PCIe slots of adapters", .each_device = check_pcie},
	{"firmware", "firmware and descriptions of devices", .each_device = check_firmware},
	{"netns", "RDMA devices and network namespaces", check_netns},
	{"power", "power saving of processors, which costs latency", check_power},
	{"storage", "objects waiting for a device, file or address", check_storage},
	{"disks", "files and devices behind disks, and space and memory for them", check_disks},
	{"space", "space for farblockd's configuration and state", check_space},
	{"logins", "CHAP secrets of ACLs and portal groups", check_logins},
	{"names", "initiator name and host name", check_names},
	{"portals", "connections to farblockd's portals", check_portals},
	{"srp", "SRP targets, whether srp_daemon finds them, and options of ib_srp", check_srp},
	{"limit", "what limits the present load: disk, network or CPU", check_limit},
	{0},
};
// clang-format on

static void run(struct doctor *d, const struct doctor_check *c)
{
	struct doctor_names devices;
	if (c->run)
		c->run(d);
	if (c->each_port)
		doctor_each_port(d, c->each_port);
	doctor_list(d, &devices, "/sys/class/infiniband");
	for (unsigned i = 0; c->each_device && i < devices.count; i++)
		c->each_device(d, devices.name[i]);
}

int doctor_run(struct doctor *d, const char *name, struct err *e)
{
	bool is_found = false;
	doctor_begin(d, NULL);
	for (const struct doctor_check *c = doctor_checks; c->name; c++) {
		if (name && strcmp(c->name, name))
			continue;
		is_found = true;
		d->check = c->name;
		run(d, c);
	}
	return is_found ? 0 : err_set(e, -ENOENT, "doctor: no check '%.40s'", name);
}
