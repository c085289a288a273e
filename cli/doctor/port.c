// SPDX-License-Identifier: BSD-2-Clause
// State, cable, address and partitions of ports.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/doctor/doctor.h"

// Beginnings of a state file: "4: ACTIVE".
struct meaning {
	const char *begins;
	enum verdict verdict;
	const char *why, *fix;
};

static void judge(struct doctor *d, const struct doctor_port *p, const char *file,
		  const struct meaning *rows)
{
	char state[64];
	if (!doctor_read(d, state, sizeof state, "%s/%s", p->path, file)) {
		doctor_skip(d, p->object, "cannot read %s: %m", file);
		return;
	}
	while (rows->begins && strncmp(state, rows->begins, strlen(rows->begins)))
		rows++;
	char fix[DOCTOR_FIX_SIZE];
	struct finding f = { rows->verdict, p->object, rows->why, NULL };
	if (rows->fix)
		f.fix = doctor_fill(fix, rows->fix, p, NULL);
	doctor_say(d, &f, "%s", *state ? state : "unreadable");
}

void check_state(struct doctor *d, const struct doctor_port *p)
{
	// clang-format off
	static const struct meaning rows[] = {
		{ "4:", DOCTOR_OK, NULL, NULL },
		{ "1:", DOCTOR_FAIL, "the port has no link (see cable)", NULL },
		{ "2:", DOCTOR_FAIL, "the link is up, but no subnet manager has configured the port",
		  "systemctl start opensm on one host of the fabric, or enable the switch's subnet manager" },
		{ "3:", DOCTOR_WARN, "a subnet manager is configuring the port", "wait a minute, then run sminfo" },
		{ NULL, DOCTOR_WARN, "unknown port state", NULL },
	};
	// clang-format on
	judge(d, p, "state", rows);
}

void check_cable(struct doctor *d, const struct doctor_port *p)
{
	// clang-format off
	static const struct meaning rows[] = {
		{ "5:", DOCTOR_OK, NULL, NULL },
		{ "2:", DOCTOR_FAIL,
		  "no signal: the cable or its other end is unplugged, the port there is off, the speeds "
		  "differ, or one end uses Ethernet",
		  "check the cable and the other end; ibportstate -C DEVICE -P PORT -D 0 PORT query; "
		  "to lower the speed: ibportstate -C DEVICE -P PORT -D 0 PORT speed 1" },
		{ "1:", DOCTOR_FAIL, "the port is asleep", "ibportstate -C DEVICE -P PORT -D 0 PORT enable" },
		{ "3:", DOCTOR_FAIL, "the port is disabled", "ibportstate -C DEVICE -P PORT -D 0 PORT enable" },
		{ "4:", DOCTOR_WARN, "the link is training; if this persists, the cable is faulty",
		  "replace the cable, or lower the speed: ibportstate -C DEVICE -P PORT -D 0 PORT speed 1" },
		{ "6:", DOCTOR_WARN, "the link fails and recovers (see counters)",
		  "replace the cable" },
		{ NULL, DOCTOR_WARN, "unknown physical state", NULL },
	};
	// clang-format on
	judge(d, p, "phys_state", rows);
}

// An adapter for both link layers finds no peer if it is set to the wrong one.
void check_link(struct doctor *d, const struct doctor_port *p)
{
	char layer[32], state[32], fix[DOCTOR_FIX_SIZE];
	if (!doctor_read(d, layer, sizeof layer, "%s/link_layer", p->path))
		return;
	doctor_read(d, state, sizeof state, "%s/phys_state", p->path);
	bool has_mlx4 = doctor_exists(d, "/sys/class/infiniband/%s/device/mlx4_port%s", p->device,
				      p->number);
	bool is_lone = (!p->is_infiniband || has_mlx4) && *state == '2';
	struct finding f = { is_lone ? DOCTOR_WARN : DOCTOR_OK, p->object, NULL, NULL };
	if (is_lone) {
		f.why = p->is_infiniband ? "no link: if the other end is Ethernet, the port is set "
					   "to the wrong link layer"
					 : "no link: if the other end is InfiniBand, the port is "
					   "set to the wrong link layer";
		f.fix = has_mlx4 ? p->is_infiniband
					   ? "echo eth > "
					     "/sys/class/infiniband/DEVICE/device/mlx4_portPORT"
					   : "echo ib > "
					     "/sys/class/infiniband/DEVICE/device/mlx4_portPORT"
				 : "mlxconfig -d DEVICE set LINK_TYPE_PPORT=1 (2 is Ethernet), "
				   "then reboot";
		f.fix = doctor_fill(fix, f.fix, p, NULL);
	}
	doctor_say(d, &f, "link layer %s", *layer ? layer : "unknown");
}

void check_subnet(struct doctor *d, const struct doctor_port *p)
{
	char lid[32], sm[32];
	if (!p->is_infiniband || !doctor_read(d, lid, sizeof lid, "%s/lid", p->path) ||
	    !doctor_read(d, sm, sizeof sm, "%s/sm_lid", p->path))
		return;
	bool has_lid = strtoul(lid, NULL, 16) != 0, has_sm = strtoul(sm, NULL, 16) != 0;
	struct finding f = doctor_judge(
		has_lid && has_sm, DOCTOR_FAIL, p->object,
		"no subnet manager has configured the port, so it passes no traffic",
		"systemctl start opensm on one host of the fabric, or enable the switch's subnet "
		"manager");
	doctor_say(d, &f, "LID %s, subnet manager at LID %s", lid, sm);
}

void check_pkey(struct doctor *d, const struct doctor_port *p)
{
	struct doctor_names entries;
	char key[32], list[200] = "";
	unsigned full = 0, limited = 0;
	if (!p->is_infiniband)
		return;
	doctor_list(d, &entries, "%s/pkeys", p->path);
	for (unsigned i = 0; i < entries.count; i++) {
		doctor_read(d, key, sizeof key, "%s/pkeys/%s", p->path, entries.name[i]);
		unsigned long v = strtoul(key, NULL, 16);
		if (!v)
			continue;
		*(v & 0x8000 ? &full : &limited) += 1;
		size_t have = strlen(list);
		snprintf(list + have, sizeof list - have, "%s%s", have ? " " : "", key);
	}
	struct finding f = doctor_judge(
		full, DOCTOR_WARN, p->object,
		"limited members of a partition cannot communicate with each other",
		"make this port, or all its peers, a full member in the subnet manager's "
		"partitions.conf");
	doctor_say(d, &f, "partitions %s", *list ? list : "none");
}

// ---- errors ----

// clang-format off
static const struct {
	const char *file, *why, *fix;
	bool is_usual; // a non-zero value is normal; only a rise is reported
} counters[] = {
	{ "counters/symbol_error", "bits are corrupted in transit", "replace the cable, or use another port", false },
	{ "counters/link_error_recovery", "the link retrains repeatedly", "replace the cable", false },
	{ "counters/link_downed", "the link goes down", "replace the cable", false },
	{ "counters/port_rcv_errors", "packets arrive damaged", "replace the cable, or use another port", false },
	{ "counters/port_xmit_discards", "the fabric does not accept packets", "check the switch", false },
	{ "counters/port_xmit_wait", "packets wait for buffers: the fabric is congested",
	  "run perfquery on the ports of the path; reduce the number of senders to one port", true },
	{ "counters/local_link_integrity_errors", "bits are corrupted in transit", "replace the cable", false },
	{ "counters/excessive_buffer_overrun_errors", "the other end sends too much",
	  "check the switch", false },
	{ "counters/VL15_dropped", "management packets are lost", "check the subnet manager's log", true },
	{ "hw_counters/out_of_sequence", "packets are lost: the Ethernet is lossy",
	  "enable flow control (PFC) or ECN on the path", false },
	{ "hw_counters/local_ack_timeout_err", "acknowledgements do not arrive in time",
	  "enable flow control (PFC); check the firewall for UDP port 4791", false },
	{ "hw_counters/rnr_nak_retry_err", "a receiver has no buffers", "report it to the developers", false },
};
// clang-format on
enum { COUNTERS = sizeof counters / sizeof counters[0], SAMPLES = 32 };

// Samples of all ports, taken together; doctor runs on one thread.
static unsigned long long samples[SAMPLES][COUNTERS];
static unsigned sample_at;

static void read_counters(struct doctor *d, const struct doctor_port *p, unsigned long long ret[])
{
	char value[32];
	for (unsigned i = 0; i < COUNTERS; i++) {
		doctor_read(d, value, sizeof value, "%s/%s", p->path, counters[i].file);
		ret[i] = strtoull(value, NULL, 10);
	}
}

static void sample(struct doctor *d, const struct doctor_port *p)
{
	if (sample_at < SAMPLES)
		read_counters(d, p, samples[sample_at++]);
}

static void count(struct doctor *d, const struct doctor_port *p)
{
	unsigned long long now[COUNTERS];
	unsigned bad = 0;
	if (sample_at == SAMPLES)
		return;
	const unsigned long long *before = samples[sample_at++];
	read_counters(d, p, now);
	for (unsigned i = 0; i < COUNTERS; i++) {
		bool is_rising = now[i] != before[i];
		if (!now[i] || (counters[i].is_usual && !is_rising))
			continue;
		struct finding f = { is_rising && !counters[i].is_usual ? DOCTOR_FAIL : DOCTOR_WARN,
				     p->object, counters[i].why, counters[i].fix };
		doctor_say(d, &f, "%s %llu, %s", strchr(counters[i].file, '/') + 1, now[i],
			   is_rising ? "rising" : "not rising");
		bad++;
	}
	if (!bad)
		doctor_ok(d, p->object, "no errors");
}

void check_counters(struct doctor *d)
{
	struct timespec pause = { d->sample_ms / 1000, d->sample_ms % 1000 * 1000000L };
	sample_at = 0;
	doctor_each_port(d, sample);
	if (sample_at && d->sample_ms)
		nanosleep(&pause, NULL);
	sample_at = 0;
	doctor_each_port(d, count);
}
