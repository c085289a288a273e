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
	struct finding f = { rows->verdict, p->object, rows->why, rows->fix };
	doctor_say(d, &f, "%s", state);
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
		  "check the cable and ibportstate of the other end; mlxconfig -d DEVICE query | grep "
		  "LINK_TYPE" },
		{ "1:", DOCTOR_FAIL, "the port was put to sleep", "ibportstate LID PORT enable" },
		{ "3:", DOCTOR_FAIL, "the port is disabled", "ibportstate LID PORT enable" },
		{ "4:", DOCTOR_WARN, "the link is being set up; if it stays so, the cable is bad",
		  "another cable, or a lower speed by ibportstate LID PORT speed 1" },
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
} counters[] = {
	{ "counters/symbol_error", "bits get lost on the way", "another cable or port" },
	{ "counters/link_error_recovery", "the link is trained again and again", "another cable" },
	{ "counters/link_downed", "the link goes down", "another cable" },
	{ "counters/port_rcv_errors", "packets come in damaged", "another cable or port" },
	{ "counters/port_xmit_discards", "the fabric does not take packets", "see the switch" },
	{ "counters/local_link_integrity_errors", "bits get lost on the way", "another cable" },
	{ "counters/excessive_buffer_overrun_errors", "the other end sends too much",
	  "see the switch" },
	{ "hw_counters/out_of_sequence", "packets are lost: a lossy Ethernet",
	  "flow control (PFC) or ECN on the way" },
	{ "hw_counters/local_ack_timeout_err", "answers do not come",
	  "flow control (PFC), firewall of UDP port 4791" },
	{ "hw_counters/rnr_nak_retry_err", "a receiver has no buffers", "tell the developers" },
};
// clang-format on
enum { COUNTERS = sizeof counters / sizeof counters[0] };

static void read_counters(struct doctor *d, const struct doctor_port *p, unsigned long long ret[])
{
	char value[32];
	for (unsigned i = 0; i < COUNTERS; i++) {
		doctor_read(d, value, sizeof value, "%s/%s", p->path, counters[i].file);
		ret[i] = strtoull(value, NULL, 10);
	}
}

static void count(struct doctor *d, const struct doctor_port *p)
{
	unsigned long long before[COUNTERS], now[COUNTERS];
	unsigned bad = 0;
	read_counters(d, p, before);
	if (d->sample_ms) {
		struct timespec pause = { d->sample_ms / 1000, d->sample_ms % 1000 * 1000000L };
		nanosleep(&pause, NULL);
	}
	read_counters(d, p, now);
	for (unsigned i = 0; i < COUNTERS; i++) {
		bool is_rising = now[i] != before[i];
		if (!now[i])
			continue;
		struct finding f = { is_rising ? DOCTOR_FAIL : DOCTOR_WARN, p->object,
				     counters[i].why, counters[i].fix };
		doctor_say(d, &f, "%s %llu, %s", strchr(counters[i].file, '/') + 1, now[i],
			   is_rising ? "and rising" : "not rising now");
		bad++;
	}
	if (!bad)
		doctor_say(d, &(struct finding){ DOCTOR_OK, .object = p->object }, "no errors");
}

void check_counters(struct doctor *d)
{
	doctor_each_port(d, count);
}
