// SPDX-License-Identifier: BSD-2-Clause
// State, cable, address and partitions of ports.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/doctor/doctor.h"

// What a state file may begin with: "4: ACTIVE".
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
		doctor_say(d, &(struct finding){ DOCTOR_SKIP, .object = p->object },
			   "%s cannot be read: %m", file);
		return;
	}
	while (rows->begins && strncmp(state, rows->begins, strlen(rows->begins)))
		rows++;
	char fix[DOCTOR_FIX_SIZE];
	struct finding f = { rows->verdict, p->object, rows->why, NULL };
	if (rows->fix)
		f.fix = doctor_fill(fix, rows->fix, p, NULL);
	doctor_say(d, &f, "%s", *state ? state : "nothing that can be read");
}

static void state(struct doctor *d, const struct doctor_port *p)
{
	// clang-format off
	static const struct meaning rows[] = {
		{ "4:", DOCTOR_OK, NULL, NULL },
		{ "1:", DOCTOR_FAIL, "the port has no link (see cable)", NULL },
		{ "2:", DOCTOR_FAIL, "the link is up and no subnet manager has set it up",
		  "systemctl start opensm on one host of the fabric, or switch on the switch's" },
		{ "3:", DOCTOR_WARN, "a subnet manager is at it", "wait a minute; then sminfo" },
		{ NULL, DOCTOR_WARN, "no state that this program knows", NULL },
	};
	// clang-format on
	judge(d, p, "state", rows);
}

void check_state(struct doctor *d)
{
	doctor_each_port(d, state);
}

static void cable(struct doctor *d, const struct doctor_port *p)
{
	// clang-format off
	static const struct meaning rows[] = {
		{ "5:", DOCTOR_OK, NULL, NULL },
		{ "2:", DOCTOR_FAIL,
		  "nothing answers: no cable, its other end, a port that is off, different speeds, "
		  "or one end speaks Ethernet",
		  "check the cable and the other end; ibportstate -C DEVICE -P PORT -D 0 PORT query; "
		  "a lower speed: ibportstate -C DEVICE -P PORT -D 0 PORT speed 1" },
		{ "1:", DOCTOR_FAIL, "the port was put to sleep", "ibportstate -C DEVICE -P PORT -D 0 PORT enable" },
		{ "3:", DOCTOR_FAIL, "the port is disabled", "ibportstate -C DEVICE -P PORT -D 0 PORT enable" },
		{ "4:", DOCTOR_WARN, "the link is being set up; if it stays so, the cable is bad",
		  "another cable, or a lower speed: ibportstate -C DEVICE -P PORT -D 0 PORT speed 1" },
		{ "6:", DOCTOR_WARN, "the link is lost and found again: see counters",
		  "another cable" },
		{ NULL, DOCTOR_WARN, "no physical state that this program knows", NULL },
	};
	// clang-format on
	judge(d, p, "phys_state", rows);
}

void check_cable(struct doctor *d)
{
	doctor_each_port(d, cable);
}

// A card that can do both and is set to the wrong one finds no partner.
static void link_layer(struct doctor *d, const struct doctor_port *p)
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
		f.why = p->is_infiniband ? "no partner: if the other end is Ethernet, this one "
					   "speaks another language"
					 : "no partner: if the other end is InfiniBand, this one "
					   "speaks another language";
		f.fix = has_mlx4 ? p->is_infiniband
					   ? "echo eth > "
					     "/sys/class/infiniband/DEVICE/device/mlx4_portPORT"
					   : "echo ib > "
					     "/sys/class/infiniband/DEVICE/device/mlx4_portPORT"
				 : "mlxconfig -d DEVICE set LINK_TYPE_PPORT=1 (2 is Ethernet), "
				   "then reboot";
		f.fix = doctor_fill(fix, f.fix, p, NULL);
	}
	doctor_say(d, &f, "speaks %s", *layer ? layer : "nothing that is known");
}

void check_link(struct doctor *d)
{
	doctor_each_port(d, link_layer);
}

static void subnet(struct doctor *d, const struct doctor_port *p)
{
	char lid[32], sm[32];
	if (!p->is_infiniband || !doctor_read(d, lid, sizeof lid, "%s/lid", p->path) ||
	    !doctor_read(d, sm, sizeof sm, "%s/sm_lid", p->path))
		return;
	bool has_lid = strtoul(lid, NULL, 16) != 0, has_sm = strtoul(sm, NULL, 16) != 0;
	struct finding f = { has_lid && has_sm ? DOCTOR_OK : DOCTOR_FAIL, p->object, NULL, NULL };
	if (f.verdict == DOCTOR_FAIL) {
		f.why = "no subnet manager has been here: without one nothing gets through";
		f.fix = "systemctl start opensm on one host of the fabric, or switch on the "
			"switch's";
	}
	doctor_say(d, &f, "LID %s, subnet manager at LID %s", lid, sm);
}

void check_subnet(struct doctor *d)
{
	doctor_each_port(d, subnet);
}

static void pkey(struct doctor *d, const struct doctor_port *p)
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
	struct finding f = { full ? DOCTOR_OK : DOCTOR_WARN, p->object, NULL, NULL };
	if (!full) {
		f.why = "two limited members of a partition cannot talk to each other";
		f.fix = "make this port, or all its peers, a full member in the subnet manager's "
			"partitions.conf";
	}
	doctor_say(d, &f, "partitions %s", *list ? list : "none");
}

void check_pkey(struct doctor *d)
{
	doctor_each_port(d, pkey);
}

// ---- errors ----

// clang-format off
static const struct {
	const char *file, *why, *fix;
	bool is_usual; // that it is not 0; only that it rises is told
} counters[] = {
	{ "counters/symbol_error", "bits get lost on the way", "another cable or port", false },
	{ "counters/link_error_recovery", "the link is trained again and again", "another cable", false },
	{ "counters/link_downed", "the link goes down", "another cable", false },
	{ "counters/port_rcv_errors", "packets come in damaged", "another cable or port", false },
	{ "counters/port_xmit_discards", "the fabric does not take packets", "see the switch", false },
	{ "counters/port_xmit_wait", "packets wait for room: the fabric is congested",
	  "perfquery of the ports on the way; fewer who send to one port", true },
	{ "counters/local_link_integrity_errors", "bits get lost on the way", "another cable", false },
	{ "counters/excessive_buffer_overrun_errors", "the other end sends too much",
	  "see the switch", false },
	{ "counters/VL15_dropped", "management packets get lost", "see the subnet manager's log", true },
	{ "hw_counters/out_of_sequence", "packets are lost: a lossy Ethernet",
	  "flow control (PFC) or ECN on the way", false },
	{ "hw_counters/local_ack_timeout_err", "answers do not come",
	  "flow control (PFC), firewall of UDP port 4791", false },
	{ "hw_counters/rnr_nak_retry_err", "a receiver has no buffers", "tell the developers", false },
};
// clang-format on
enum { COUNTERS = sizeof counters / sizeof counters[0], SAMPLES = 32 };

// Of all ports at once, so that they are looked at together; doctor runs on one thread.
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
			   is_rising ? "and rising" : "not rising now");
		bad++;
	}
	if (!bad)
		doctor_say(d, &(struct finding){ DOCTOR_OK, .object = p->object }, "no errors");
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
