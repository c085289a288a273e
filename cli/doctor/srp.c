// SPDX-License-Identifier: BSD-2-Clause
// SRP: what keeps initiators from the daemon's targets, whether srp_daemon finds them, and options
// of this machine's own initiator.
#include <dirent.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"

// ---- targets ----

static void judge_target(struct doctor *d, void *arg, const char *path, struct json_object *node)
{
	unsigned *count = arg;
	char fix[DOCTOR_FIX_SIZE];
	++*count;
	if (!strstr(text_field(node, "summary"), "no portals"))
		return;
	snprintf(fix, sizeof fix, "farblock %s/portals create", path);
	doctor_say(d,
		   &(struct finding){ DOCTOR_FAIL, path, "initiators have no address to log in to",
				      fix },
		   "the target has no portal");
}

static void judge_acls(struct doctor *d, void *arg, const char *path, struct json_object *node)
{
	char fix[DOCTOR_FIX_SIZE];
	if (strncmp(path, "/srpt/", 6) || json_count(json_field(node, "children")))
		return;
	snprintf(fix, sizeof fix,
		 "farblock %s create PORT-ID, GUID or ADDRESS; create --from-seen lists refused "
		 "initiators",
		 path);
	doctor_say(d,
		   &(struct finding){ DOCTOR_WARN, path,
				      "every login is refused: SRP has no logins without an ACL",
				      fix },
		   "the target has no ACL");
}

// ---- device management ----

// The port's capability IsDeviceManagementSupported [IBA 14.2.5.6], by which srp_daemon selects
// ports. Only kernel code can set it.
static void judge_port(struct doctor *d, const struct doctor_port *p)
{
	enum { DEVICE_MANAGEMENT = 19 };
	char text[32];
	if (!p->is_infiniband || !doctor_read(d, text, sizeof text, "%s/cap_mask", p->path))
		return;
	bool has = strtoul(text, NULL, 16) >> DEVICE_MANAGEMENT & 1;
	struct finding f = doctor_judge(
		has, DOCTOR_WARN, p->object,
		"srp_daemon and ibsrpdm of other machines do not look for SRP targets at this port",
		"give initiators the add_target line: farblock /srpt/TARGET info");
	doctor_say(d, &f, has ? "announces device management" : "announces no device management");
}

// The name of the port's device file, "umad0". False: none.
static bool find_umad(struct doctor *d, const struct doctor_port *p, char ret[DOCTOR_NAME_SIZE])
{
	struct doctor_names nodes;
	char device[DOCTOR_NAME_SIZE], number[8];
	doctor_list(d, &nodes, "/sys/class/infiniband_mad");
	for (unsigned i = 0; i < nodes.count; i++) {
		const char *name = nodes.name[i];
		if (strncmp(name, "umad", 4) ||
		    !doctor_read(d, device, sizeof device, "/sys/class/infiniband_mad/%s/ibdev",
				 name) ||
		    !doctor_read(d, number, sizeof number, "/sys/class/infiniband_mad/%s/port",
				 name) ||
		    strcmp(device, p->device) || strcmp(number, p->number))
			continue;
		snprintf(ret, DOCTOR_NAME_SIZE, "%s", name);
		return true;
	}
	return false;
}

// Whether a process has a file of /dev/infiniband open: 1, 0, or -1: not to be seen.
static int has_open(struct doctor *d, int pid, const char *name)
{
	char path[PATH_MAX], place[64], target[64], wanted[100];
	struct dirent *e = NULL;
	ssize_t n = 0;
	snprintf(place, sizeof place, "/proc/%d/fd", pid);
	snprintf(wanted, sizeof wanted, "/dev/infiniband/%s", name);
	DIR *fds = pid && doctor_place(d, path, place) ? opendir(path) : NULL;
	if (!fds)
		return -1;
	while ((e = readdir(fds))) {
		n = readlinkat(dirfd(fds), e->d_name, target, sizeof target - 1);
		target[n > 0 ? n : 0] = 0;
		if (!strcmp(target, wanted))
			break;
	}
	closedir(fds);
	return e ? 1 : 0;
}

// The daemon answers ibsrpdm and srp_daemon through the port's umad device.
static void judge_agent(struct doctor *d, const struct doctor_port *p)
{
	static const char why[] = "srp_daemon and ibsrpdm get no answer from this port";
	char name[DOCTOR_NAME_SIZE];
	if (!p->is_infiniband)
		return;
	if (!find_umad(d, p, name)) {
		doctor_say(d,
			   &(struct finding){ DOCTOR_WARN, p->object, why,
					      "modprobe ib_umad; for the next start: echo ib_umad "
					      "> /etc/modules-load.d/ib_umad.conf" },
			   "no umad device");
		return;
	}
	int is_open = has_open(d, doctor_daemon_pid(d), name);
	if (is_open < 0)
		return;
	struct finding f = doctor_judge(
		is_open, DOCTOR_WARN, p->object, why,
		"journalctl -u farblockd shows why. For access: SUBSYSTEM==\"infiniband_mad\", "
		"KERNEL==\"umad*\", GROUP=\"farblock\", MODE=\"0660\" in "
		"/etc/udev/rules.d/60-farblock.rules");
	doctor_say(d, &f,
		   is_open ? "farblockd answers device management (%s)"
			   : "farblockd does not answer device management (%s)",
		   name);
}

static void judge_one_port(struct doctor *d, const struct doctor_port *p)
{
	judge_port(d, p);
	judge_agent(d, p);
}

// ---- the kernel's initiator ----

static void judge_options(struct doctor *d)
{
	static const struct {
		const char *name, *bad, *why, *fix;
	} rows[] = {
		{"use_imm_data",	  "N",   "the target has to fetch the data of small writes",
		  "options ib_srp use_imm_data=Y in /etc/modprobe.d"										     },
		{ "reconnect_delay",  "off", "a lost connection does not come back by itself",
		  "options ib_srp reconnect_delay=10 in /etc/modprobe.d"										 },
		{ "fast_io_fail_tmo", "off",
		  "commands of a lost path fail late, so that multipath uses another one late",	  "options ib_srp fast_io_fail_tmo=15 in /etc/modprobe.d"},
	};
	char text[32];
	unsigned bad = 0;
	if (!doctor_exists(d, "/sys/module/ib_srp"))
		return;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (!doctor_read(d, text, sizeof text, "/sys/module/ib_srp/parameters/%s",
				 rows[i].name) ||
		    strcmp(text, rows[i].bad))
			continue;
		struct finding f = { DOCTOR_WARN, "ib_srp", rows[i].why, rows[i].fix };
		doctor_say(d, &f, "option %s is %s", rows[i].name, text);
		bad++;
	}
	if (!bad)
		doctor_ok(d, "ib_srp", "the kernel's initiator is loaded");
}

void check_srp(struct doctor *d)
{
	unsigned count = 0;
	struct json_object *tree = doctor_ask(d, "tree.ls");
	doctor_each_node(d, tree, "srpt_target", &count, judge_target);
	doctor_each_node(d, tree, "acls", NULL, judge_acls);
	// With another machine's files the daemon is not known to have no target.
	if (count || !d->ask)
		doctor_each_port(d, judge_one_port);
	if (tree)
		doctor_ok(d, NULL, "%u SRP target%s", count, count == 1 ? "" : "s");
	judge_options(d);
	json_object_put(tree);
}
