// SPDX-License-Identifier: BSD-2-Clause
// What the kernel offers, allows and holds for others.
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/doctor/doctor.h"

// Whether somebody listens on a TCP port, by /proc/net/tcp and tcp6.
static bool is_taken(struct doctor *d, unsigned port)
{
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	static char text[1 << 20];
	char wanted[8];
	snprintf(wanted, sizeof wanted, ":%04X", port);
	for (unsigned i = 0; i < 2; i++) {
		char *rest = NULL;
		doctor_read(d, text, sizeof text, "%s", tables[i]);
		for (char *line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			char local[64], state[8];
			if (sscanf(line, " %*[0-9]: %63s %*s %7s", local, state) != 2)
				continue;
			size_t len = strlen(local);
			if (!strcmp(state, "0A") && len > 5 && !strcmp(local + len - 5, wanted))
				return true;
		}
	}
	return false;
}

void check_conflicts(struct doctor *d)
{
	static const struct {
		const char *module, *why, *fix;
	} rows[] = {
		{"ib_srpt",	     "the kernel's SRP target answers for every port of the fabric",
		  "modprobe -r ib_srpt; keep it away in /etc/modprobe.d and /etc/rdma/modules"									       },
		{ "ib_isert",
		  "the kernel's iSER target may hold the addresses that farblockd wants",		  "targetcli clearconfig confirm=true, or other addresses and ports"},
		{ "iscsi_target_mod", "the kernel's iSCSI target may hold port 3260",
		  "ss -ltn; other ports for one of the two"													      },
	};
	unsigned found = 0;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (!doctor_exists(d, "/sys/module/%s", rows[i].module))
			continue;
		struct finding f = { DOCTOR_WARN, rows[i].module, rows[i].why, rows[i].fix };
		doctor_say(d, &f, "is loaded");
		found++;
	}
	bool is_used = is_taken(d, 3260);
	struct finding f = { DOCTOR_OK, "port 3260", NULL, NULL };
	if (is_used && found)
		f = (struct finding){ DOCTOR_WARN, "port 3260", "it may be the kernel's target",
				      "ss -ltnp sport = 3260" };
	doctor_say(d, &f, is_used ? "somebody listens" : "nobody listens");
}

// ---- pinned memory ----

// The value of "Name:   text" in a file of lines.
static bool line_value(const char *text, const char *name, char *ret, size_t size)
{
	const char *at = strstr(text, name);
	if (!at)
		return false;
	at += strlen(name);
	at += strspn(at, ": \t");
	snprintf(ret, size, "%.*s", (int)strcspn(at, " \t\n"), at);
	return true;
}

void check_memlock(struct doctor *d)
{
	enum { IPC_LOCK = 14 };
	char text[4096], value[32];
	doctor_read(d, text, sizeof text, "/proc/self/status");
	bool may_all = line_value(text, "CapEff", value, sizeof value) &&
		       strtoull(value, NULL, 16) >> IPC_LOCK & 1;
	doctor_read(d, text, sizeof text, "/proc/self/limits");
	if (!line_value(text, "Max locked memory", value, sizeof value)) {
		doctor_say(d, &(struct finding){ DOCTOR_SKIP }, "limits cannot be read");
		return;
	}
	bool is_all = !strcmp(value, "unlimited");
	struct finding f = { DOCTOR_OK };
	if (!is_all && !may_all && strtoull(value, NULL, 10) < 1ull << 30) {
		f.verdict = DOCTOR_WARN;
		f.why = "RDMA devices pin every RAM disk and 256 MiB of buffers for each worker";
		f.fix = "LimitMEMLOCK=infinity in the unit; ulimit -l unlimited; container: "
			"--ulimit "
			"memlock=-1";
	}
	doctor_say(d, &f, "memory that may be pinned from here: %s%s%s", value,
		   is_all ? "" : " bytes", may_all ? ", and CAP_IPC_LOCK lifts that" : "");
}

// ---- what user space may use ----

static bool has_module(struct doctor *d, const char *release, const char *name)
{
	static const char *const lists[] = { "modules.dep", "modules.builtin" };
	static char text[4 << 20];
	char wanted[80];
	if (doctor_exists(d, "/sys/module/%s", name))
		return true;
	snprintf(wanted, sizeof wanted, "/%s.ko", name);
	for (unsigned i = 0; i < 2; i++) {
		doctor_read(d, text, sizeof text, "/lib/modules/%s/%s", release, lists[i]);
		if (strstr(text, wanted))
			return true;
	}
	return false;
}

void check_modules(struct doctor *d)
{
	static const struct {
		const char *module, *serves;
	} rows[] = {
		{"ib_uverbs", "RDMA from user space"			      },
		{ "rdma_ucm", "RDMA connections from user space"		 },
		{ "rdma_rxe", "RoCE in software"				 },
		{ "ublk_drv", "block devices from user space (the faster way)"},
		{ "nbd",	 "block devices from user space"		 },
	};
	struct utsname un;
	char text[64];
	uname(&un);
	doctor_read(d, text, sizeof text, "/proc/sys/kernel/io_uring_disabled");
	if (atoi(text)) {
		struct finding f = { DOCTOR_FAIL, "io_uring", "farblockd cannot run without it",
				     "sysctl kernel.io_uring_disabled=0" };
		doctor_say(d, &f, "is switched off (%s)", text);
	} else {
		doctor_say(d, &(struct finding){ DOCTOR_OK, .object = "io_uring" }, "is allowed");
	}
	if (doctor_read(d, text, sizeof text, "/proc/sys/kernel/osrelease"))
		snprintf(un.release, sizeof un.release, "%s", text);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool has = has_module(d, un.release, rows[i].module);
		struct finding f = { has ? DOCTOR_OK : DOCTOR_SKIP, rows[i].module, NULL, NULL };
		doctor_say(d, &f, "%s: %s", rows[i].serves, has ? "there" : "not with this kernel");
	}
}

void check_netns(struct doctor *d)
{
	struct doctor_names devices;
	char mode[16];
	doctor_list(d, &devices, "/sys/class/infiniband");
	if (!devices.count ||
	    !doctor_read(d, mode, sizeof mode, "/sys/module/ib_core/parameters/netns_mode"))
		return;
	bool is_shared = *mode == 'Y';
	struct finding f = { is_shared ? DOCTOR_OK : DOCTOR_WARN };
	if (!is_shared) {
		f.why = "a container sees only devices that were moved into its namespace";
		f.fix = "rdma system set netns shared, or rdma dev set DEVICE netns NAME";
	}
	doctor_say(d, &f, "RDMA devices are %s network namespaces",
		   is_shared ? "seen by all" : "each in one of the");
}

void check_power(struct doctor *d)
{
	struct doctor_names cpus;
	char governor[32];
	unsigned saving = 0, seen = 0;
	doctor_list(d, &cpus, "/sys/devices/system/cpu");
	for (unsigned i = 0; i < cpus.count; i++) {
		if (!doctor_read(d, governor, sizeof governor,
				 "/sys/devices/system/cpu/%s/cpufreq/scaling_governor",
				 cpus.name[i]))
			continue;
		seen++;
		saving += !strcmp(governor, "powersave");
	}
	struct finding f = { DOCTOR_OK };
	if (saving) {
		f.verdict = DOCTOR_WARN;
		f.why = "a processor that has to wake up first adds tens of microseconds";
		f.fix = "cpupower frequency-set -g performance";
	}
	if (seen)
		doctor_say(d, &f, "%u of %u processors save power", saving, seen);
}
