// SPDX-License-Identifier: BSD-2-Clause
// RDMA devices: driver, device files, firmware, PCIe slot.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

// Finds an InfiniBand controller or a Mellanox adapter without an RDMA driver: its PCI function has
// no directory infiniband. False: none.
static bool card_without_driver(struct doctor *d, char ret[DOCTOR_NAME_SIZE])
{
	struct doctor_names cards;
	char class[32], vendor[32];
	doctor_list(d, &cards, "/sys/bus/pci/devices");
	for (unsigned i = 0; i < cards.count; i++) {
		doctor_read(d, class, sizeof class, "/sys/bus/pci/devices/%s/class", cards.name[i]);
		doctor_read(d, vendor, sizeof vendor, "/sys/bus/pci/devices/%s/vendor",
			    cards.name[i]);
		bool is_hca = !strncmp(class, "0x0207", 6) || !strncmp(class, "0x0c06", 6);
		bool is_mellanox = !strncmp(class, "0x0200", 6) && !strcmp(vendor, "0x15b3");
		if ((!is_hca && !is_mellanox) ||
		    doctor_exists(d, "/sys/bus/pci/devices/%s/infiniband", cards.name[i]))
			continue;
		memcpy(ret, cards.name[i], DOCTOR_NAME_SIZE);
		return true;
	}
	return false;
}

void check_device(struct doctor *d)
{
	struct doctor_names devices;
	char card[DOCTOR_NAME_SIZE];
	doctor_list(d, &devices, "/sys/class/infiniband");
	for (unsigned i = 0; i < devices.count; i++) {
		char type[64];
		doctor_read(d, type, sizeof type, "/sys/class/infiniband/%s/hca_type",
			    devices.name[i]);
		doctor_ok(d, devices.name[i], "RDMA device%s%s", *type ? ", " : "", type);
	}
	if (card_without_driver(d, card)) {
		bool is_mlx4 = doctor_exists(d, "/sys/bus/pci/drivers/mlx4_core/%s", card);
		struct finding f = {
			DOCTOR_FAIL, card,
			"RDMA does not work on this adapter: its RDMA driver is not loaded, or "
			"failed to start",
			is_mlx4 ? "modprobe mlx4_ib, then check dmesg"
				: "modprobe mlx5_ib (mlx4_ib for ConnectX-2 and -3), then check "
				  "dmesg; in a virtual machine, pass through the whole device"
		};
		doctor_say(d, &f, "RDMA adapter without an RDMA device");
		return;
	}
	if (devices.count)
		return;
	struct finding f = {
		DOCTOR_SKIP,
		.fix = "rdma link add rxe0 type rxe netdev eth0 (optional: RoCE in software)"
	};
	doctor_say(d, &f, "no RDMA device (iSCSI over TCP and iSER over software iWARP need none)");
}

static void access_of(struct doctor *d, const char *file, const char *object)
{
	char path[400];
	snprintf(path, sizeof path, "%s/dev/infiniband/%s", d->root, file);
	if (!access(path, R_OK | W_OK)) {
		doctor_ok(d, object, "%s is accessible", file);
	} else if (errno == ENOENT) {
		struct finding f = { DOCTOR_FAIL, object,
				     "RDMA does not work: the kernel module for user space is not "
				     "loaded, or the container lacks the device",
				     "modprobe -a ib_uverbs rdma_ucm; for a container, use "
				     "--device /dev/infiniband" };
		doctor_say(d, &f, "/dev/infiniband/%s is missing", file);
	} else {
		struct finding f = {
			DOCTOR_WARN, object, "this user cannot use RDMA",
			"run as root, or assign the file to a group with a udev rule"
		};
		doctor_say(d, &f, "/dev/infiniband/%s: %m", file);
	}
}

void check_access(struct doctor *d)
{
	struct doctor_names verbs, devices;
	doctor_list(d, &devices, "/sys/class/infiniband");
	doctor_list(d, &verbs, "/sys/class/infiniband_verbs");
	for (unsigned i = 0; i < devices.count; i++) {
		char owner[DOCTOR_NAME_SIZE];
		const char *file = "uverbs*";
		for (unsigned k = 0; k < verbs.count; k++)
			if (doctor_read(d, owner, sizeof owner,
					"/sys/class/infiniband_verbs/%s/ibdev", verbs.name[k]) &&
			    !strcmp(owner, devices.name[i]))
				file = verbs.name[k];
		access_of(d, file, devices.name[i]);
	}
	if (devices.count)
		access_of(d, "rdma_cm", "connections");
	struct finding f = { DOCTOR_SKIP, "management", NULL,
			     "modprobe ib_umad (for ibstat, ibportstate, opensm, and srp_daemon "
			     "of initiators)" };
	if (devices.count && !doctor_exists(d, "/dev/infiniband/umad0"))
		doctor_say(d, &f,
			   "/dev/infiniband/umad0 is missing (farblockd serves disks without it)");
}

void check_firmware(struct doctor *d, const char *device)
{
	char version[64], board[64], description[80], host[80];
	doctor_read(d, host, sizeof host, "/proc/sys/kernel/hostname");
	doctor_read(d, version, sizeof version, "/sys/class/infiniband/%s/fw_ver", device);
	doctor_read(d, board, sizeof board, "/sys/class/infiniband/%s/board_id", device);
	doctor_read(d, description, sizeof description, "/sys/class/infiniband/%s/node_desc",
		    device);
	struct finding f =
		doctor_judge(!*host || strstr(description, host), DOCTOR_WARN, device,
			     "fabric tools show this description, which lacks the host name",
			     "start rdma-ndd (package rdma-core)");
	doctor_say(d, &f, "firmware %s%s%s, description '%s'", *version ? version : "unknown",
		   *board ? ", board " : "", board, description);
}

// The adapter's NUMA node; false: the machine has a single node.
static bool numa_node(struct doctor *d, const char *device, char ret[16])
{
	return doctor_exists(d, "/sys/devices/system/node/node1") &&
	       doctor_read(d, ret, 16, "/sys/class/infiniband/%s/device/numa_node", device) &&
	       *ret && *ret != '-';
}

static void tell_numa_node(struct doctor *d, const char *device)
{
	char node[16], cpus[64], fix[160];
	struct finding f = { DOCTOR_OK, device, "workers on this node reach it faster", fix };
	if (!numa_node(d, device, node))
		return;
	doctor_read(d, cpus, sizeof cpus, "/sys/devices/system/node/node%s/cpulist", node);
	snprintf(fix, sizeof fix, "farblockd --cpus %s", *cpus ? cpus : "LIST");
	doctor_say(d, &f, "on NUMA node %s", node);
}

void check_pcie(struct doctor *d, const char *device)
{
	static const char *const files[] = { "current_link_speed", "max_link_speed",
					     "current_link_width", "max_link_width" };
	char value[4][64];
	for (unsigned k = 0; k < 4; k++)
		if (!doctor_read(d, value[k], sizeof value[k], "/sys/class/infiniband/%s/device/%s",
				 device, files[k]))
			return;
	bool is_full = atof(value[0]) >= atof(value[1]) && atoi(value[2]) >= atoi(value[3]);
	struct finding f = doctor_judge(
		is_full, DOCTOR_WARN, device, "the slot limits the adapter's bandwidth",
		"move the adapter to a slot with more lanes or of a later generation");
	doctor_say(d, &f, "PCIe x%s at %s, adapter supports x%s at %s", value[2], value[0],
		   value[3], value[1]);
	tell_numa_node(d, device);
}
