// SPDX-License-Identifier: BSD-2-Clause
// What limits the load that farblockd serves now: a worker's CPU, the network, a disk, or the
// initiators; from two readings of its counters.
#include <string.h>
#include <time.h>

#include "cli/doctor/change.h"

#define MOST 0.5 // of the commands' time
// Commands under way on average, from which one speaks of load; or commands a second.
#define LOAD_FLYING 0.5
#define LOAD_RATE   1000
// Output that is sent at once waits for less.
#define UNTAKEN_US 1000

// Of commands, all disks together or one.
struct work {
	double commands, flying; // a second; under way on average
	double storage, writing; // of flying: with the disk; WRITEs
};

// --- disks ---

static struct work work_of(const struct change *c, struct json_object *now,
			   struct json_object *before)
{
	static const char *const ops[] = { "read", "write", "other" };
	struct work w = { .storage = change_growth(now, before, "storage_us") / c->seconds / 1e6 };
	for (int i = 0; i < 3; i++) {
		struct json_object *a = json_field(now, ops[i]), *b = json_field(before, ops[i]);
		double flying = change_growth(a, b, "latency_sum_us") / c->seconds / 1e6;
		w.commands += change_growth(a, b, "commands") / c->seconds;
		w.flying += flying;
		w.writing += i == 1 ? flying : 0;
	}
	return w;
}

static struct work work_of_all(const struct change *c)
{
	struct json_object *old = json_field(c->before, "storage_objects");
	struct json_object *disks = json_field(c->now, "storage_objects");
	struct work sum = { 0 };
	if (!json_object_is_type(disks, json_type_object))
		return sum;
	json_object_object_foreach(disks, path, disk)
	{
		struct work w = work_of(c, disk, json_field(old, path));
		sum.commands += w.commands;
		sum.flying += w.flying;
		sum.storage += w.storage;
		sum.writing += w.writing;
	}
	return sum;
}

static unsigned disks_slow(const struct change *c)
{
	struct json_object *old = json_field(c->before, "storage_objects");
	unsigned slow = 0;
	json_object_object_foreach(json_field(c->now, "storage_objects"), path, disk)
	{
		struct work w = work_of(c, disk, json_field(old, path));
		struct finding f = { DOCTOR_OK, path, "commands wait for the file or device",
				     "use a faster disk, or spread the load over several" };
		if (w.flying < LOAD_FLYING || w.storage < MOST * w.flying)
			continue;
		doctor_say(c->d, &f,
			   "the limit is the disk: of %.1f commands in flight %.1f are with it "
			   "(%.0f commands/s)",
			   w.flying, w.storage < w.flying ? w.storage : w.flying, w.commands);
		slow++;
	}
	return slow;
}

// --- initiators and network ---

static struct json_object *session(struct json_object *status, const char *sid)
{
	json_each (s, json_field(status, "sessions"))
		if (!strcmp(text_field(s, "sid"), sid))
			return s;
	return NULL;
}

static bool has_output(struct json_object *session)
{
	return json_object_get_double(json_field(session, "output_waits_us")) >= UNTAKEN_US;
}

// Sessions whose output waited both times.
static unsigned sessions_untaken(const struct change *c)
{
	struct json_object *list = json_field(c->now, "sessions"), *first = NULL;
	unsigned n = 0;
	json_each (s, list) {
		if (!has_output(s) || !has_output(session(c->before, text_field(s, "sid"))))
			continue;
		first = n++ ? first : s;
	}
	struct finding f = { DOCTOR_OK, text_field(first, "initiator"),
			     "the network, or the initiator, does not take data as fast as "
			     "farblockd has it",
			     "compare the rate of each link between them (doctor rate), and the "
			     "initiator's CPU" };
	if (n)
		doctor_say(c->d, &f,
			   "the limit is the network or the initiator: data of %u session%s waits "
			   "to be sent, here for %.1f ms",
			   n, n == 1 ? "" : "s",
			   json_object_get_double(json_field(first, "output_waits_us")) / 1e3);
	return n;
}

// WRITEs that the disk does not have wait for their data above all.
static unsigned data_is_late(const struct change *c, const struct work *w)
{
	double waiting = w->writing - w->storage;
	struct finding f = { DOCTOR_OK, NULL, "WRITEs wait for their data",
			     "compare the rate of each link between them (doctor rate), and the "
			     "initiators' CPU" };
	if (w->flying < LOAD_FLYING || waiting < MOST * w->flying)
		return 0;
	doctor_say(c->d, &f,
		   "the limit is the network or the initiators: WRITEs without their data have "
		   "%.0f %% of the commands' time",
		   waiting / w->flying * 100);
	return 1;
}

static void nothing_is_full(const struct change *c, const struct work *w)
{
	struct finding f = { DOCTOR_OK, NULL,
			     "workers, disks and links have room: initiators send no more "
			     "commands, or wait for each one",
			     "use more commands in flight, or more sessions, for more throughput" };
	doctor_say(c->d, &f,
		   "the limit is not farblockd: %.0f commands/s, the busiest worker has %.0f %% of "
		   "its time in use",
		   w->commands, change_busiest(c) * 100);
}

// --- the check ---

static void judge(const struct change *c, const struct doctor_links *links,
		  const struct doctor_links *links_before)
{
	struct work w = work_of_all(c);
	unsigned found = doctor_links_full(c->d, links, links_before, c->seconds);
	found += change_workers_full(c);
	found += sessions_untaken(c);
	if (!found && w.commands < LOAD_RATE && w.flying < LOAD_FLYING) {
		doctor_skip(c->d, NULL, "no load to judge: %.0f commands/s", w.commands);
		return;
	}
	// A busy worker finds what a disk has completed late: then the disk's time is not its own.
	if (!found)
		found = disks_slow(c);
	if (!found)
		found = data_is_late(c, &w);
	if (!found)
		nothing_is_full(c, &w);
}

static void read_twice(struct doctor *d, struct change *c)
{
	static struct doctor_links before, now;
	struct timespec pause = { d->sample_ms / 1000, d->sample_ms % 1000 * 1000000L };
	doctor_links_read(d, &before);
	change_cpu_waits(d, c->waits_before);
	nanosleep(&pause, NULL);
	c->now = doctor_ask(d, "status.get");
	change_cpu_waits(d, c->waits);
	doctor_links_read(d, &now);
	c->seconds = change_growth(c->now, c->before, "clock_us") / 1e6;
	if (c->seconds > 0)
		judge(c, &now, &before);
	else
		doctor_skip(d, NULL, "farblockd has restarted");
}

void check_limit(struct doctor *d)
{
	struct change c = { .d = d, .before = doctor_ask(d, "status.get") };
	if (!c.before)
		doctor_skip(d, NULL, "farblockd does not answer");
	else if (!d->sample_ms)
		doctor_skip(d, NULL, "needs two readings (interval=1)");
	else
		read_twice(d, &c);
	json_object_put(c.before);
	json_object_put(c.now);
}
