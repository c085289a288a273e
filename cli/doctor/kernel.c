// SPDX-License-Identifier: BSD-2-Clause
// The kernel: modules, limits, and conflicts with other targets.
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"

// Whether a program listens on a TCP port, from /proc/net/tcp and tcp6.
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

struct wanted {
	const char *end;
	bool is_there;
};

static void compare(struct doctor *d, void *arg, const char *path, struct json_object *node)
{
	struct wanted *w = arg;
	const char *name = text_field(node, "name");
	size_t len = strlen(name), end = strlen(w->end);
	if (len > end && !strcmp(name + len - end, w->end) &&
	    strncmp(text_field(node, "summary"), "waiting", 7))
		w->is_there = true;
}

// Whether the daemon has a listening portal whose name ends with end.
static bool serves(struct doctor *d, const char *end)
{
	struct wanted w = { .end = end };
	struct json_object *tree = doctor_ask(d, "tree.ls");
	doctor_each_node(d, tree, "portal", &w, compare);
	json_object_put(tree);
	return w.is_there;
}

void check_conflicts(struct doctor *d)
{
	static const struct {
		const char *module, *why, *fix;
	} rows[] = {
		{"ib_srpt",
		  "the kernel's SRP target answers device management on every InfiniBand port",		  "modprobe -r ib_srpt; disable it in /etc/modprobe.d and /etc/rdma/modules"},
		{ "ib_isert",	      "the kernel's iSER target may use addresses that farblockd needs",
		  "targetcli clearconfig confirm=true, or use other addresses and ports"											    },
		{ "target_core_mod",  "the kernel's target may use disks that farblockd needs",
		  "targetcli ls /backstores; targetcli clearconfig confirm=true"												    },
		{ "iscsi_target_mod", "the kernel's iSCSI target may use port 3260",
		  "check ss -ltn; move one of the targets to another port"													  },
	};
	unsigned found = 0;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (!doctor_exists(d, "/sys/module/%s", rows[i].module))
			continue;
		struct finding f = { DOCTOR_WARN, rows[i].module, rows[i].why, rows[i].fix };
		doctor_say(d, &f, "the module is loaded");
		found++;
	}
	bool is_used = is_taken(d, 3260), is_ours = is_used && serves(d, ":3260");
	struct finding f = { DOCTOR_OK, "port 3260", NULL, NULL };
	if (is_used && !is_ours)
		f = (struct finding){ DOCTOR_WARN, "port 3260",
				      found ? "farblockd cannot listen there; the kernel's target "
					      "may use the port"
					    : "farblockd cannot listen there; tgtd or another "
					      "target may use the port",
				      "ss -ltnp sport = 3260" };
	doctor_say(d, &f,
		   is_ours   ? "farblockd listens"
		   : is_used ? "another program listens"
			     : "not in use");
}

// ---- pinned memory ----

// The value of a line "Name:   text".
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
	char text[4096], value[32], process[16] = "self";
	int pid = doctor_daemon_pid(d);
	if (pid)
		snprintf(process, sizeof process, "%d", pid);
	doctor_read(d, text, sizeof text, "/proc/%s/status", process);
	bool may_all = line_value(text, "CapEff", value, sizeof value) &&
		       strtoull(value, NULL, 16) >> IPC_LOCK & 1;
	doctor_read(d, text, sizeof text, "/proc/%s/limits", process);
	if (!line_value(text, "Max locked memory", value, sizeof value)) {
		doctor_skip(d, NULL, "cannot read limits");
		return;
	}
	bool is_all = !strcmp(value, "unlimited");
	struct finding f = doctor_judge(
		is_all || may_all || strtoull(value, NULL, 10) >= 1ull << 30, DOCTOR_WARN, NULL,
		"RDMA pins every RAM disk and 256 MiB of buffers per worker",
		"set LimitMEMLOCK=infinity in the unit, or run ulimit -l unlimited; for a "
		"container, use --ulimit memlock=-1");
	char limit[DOCTOR_SIZE_SIZE];
	doctor_say(d, &f, "RLIMIT_MEMLOCK of %s: %s%s",
		   *process == 's' ? "this process" : "farblockd",
		   is_all ? value : doctor_size(limit, strtoull(value, NULL, 10)),
		   may_all ? ", overridden by CAP_IPC_LOCK" : "");
}

// ---- modules ----

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
		{ "ublk_drv", "block devices from user space (faster than nbd)"},
		{ "fuse",	  "remote disks as files"			  },
		{ "loop",	  "files as block devices"			   },
		{ "nbd",	 "block devices from user space"			 },
	};
	struct utsname un;
	char text[64];
	uname(&un);
	doctor_read(d, text, sizeof text, "/proc/sys/kernel/io_uring_disabled");
	if (atoi(text)) {
		struct finding f = { DOCTOR_FAIL, "io_uring", "farblockd cannot run without it",
				     "sysctl kernel.io_uring_disabled=0" };
		doctor_say(d, &f, "disabled (%s)", text);
	} else {
		doctor_ok(d, "io_uring", "enabled");
	}
	if (doctor_read(d, text, sizeof text, "/proc/sys/kernel/osrelease"))
		snprintf(un.release, sizeof un.release, "%s", text);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool has = has_module(d, un.release, rows[i].module);
		struct finding f = { has ? DOCTOR_OK : DOCTOR_SKIP, rows[i].module, NULL, NULL };
		doctor_say(d, &f, "%s: %s", rows[i].serves,
			   has ? "available" : "not available in this kernel");
	}
}

void check_netns(struct doctor *d)
{
	struct doctor_names devices;
	struct doctor_port p = { 0 };
	char mode[16], fix[DOCTOR_FIX_SIZE];
	doctor_list(d, &devices, "/sys/class/infiniband");
	if (!devices.count ||
	    !doctor_read(d, mode, sizeof mode, "/sys/module/ib_core/parameters/netns_mode"))
		return;
	bool is_shared = *mode == 'Y';
	struct finding f = { is_shared ? DOCTOR_OK : DOCTOR_WARN };
	if (!is_shared) {
		f.why = "a container sees only devices that were moved into its network namespace";
		memcpy(p.device, devices.name[0], sizeof p.device);
		f.fix = doctor_fill(
			fix, "rdma system set netns shared, or rdma dev set DEVICE netns NAME", &p,
			NULL);
	}
	doctor_say(d, &f, "%s",
		   is_shared ? "all network namespaces share RDMA devices"
			     : "each RDMA device belongs to one network namespace");
}

// Wake-up latency of the deepest enabled idle state of the first processor.
static long wakes_in_us(struct doctor *d)
{
	struct doctor_names states;
	char text[32];
	long most = 0;
	doctor_list(d, &states, "/sys/devices/system/cpu/cpu0/cpuidle");
	for (unsigned i = 0; i < states.count; i++) {
		if (doctor_read(d, text, sizeof text,
				"/sys/devices/system/cpu/cpu0/cpuidle/%s/disable",
				states.name[i]) &&
		    atoi(text))
			continue;
		doctor_read(d, text, sizeof text, "/sys/devices/system/cpu/cpu0/cpuidle/%s/latency",
			    states.name[i]);
		long v = strtol(text, NULL, 10);
		most = v > most ? v : most;
	}
	return most;
}

static void governors(struct doctor *d)
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
	struct finding f =
		doctor_judge(!saving, DOCTOR_WARN, "frequency",
			     "processors at a low clock rate add tens of microseconds of latency",
			     "cpupower frequency-set -g performance");
	if (seen)
		doctor_say(d, &f, "%u of %u processors use the governor powersave", saving, seen);
}

void check_power(struct doctor *d)
{
	enum { LONG_US = 100 };
	long us = wakes_in_us(d);
	governors(d);
	struct finding f =
		doctor_judge(us < LONG_US, DOCTOR_WARN, "sleep",
			     "a command after an idle period waits this long",
			     "cpupower idle-set -D 50, if latency matters more than power");
	if (us)
		doctor_say(d, &f, "processors wake up within %ld us", us);
}
