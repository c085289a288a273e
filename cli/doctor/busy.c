// SPDX-License-Identifier: BSD-2-Clause
// How busy farblockd's workers are, and how long they were ready to run while other threads had
// their CPU.
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/change.h"

// Of its time: below 1 by what the clocks and the pauses between commands hide.
#define WORKER_FULL 0.9
#define WAIT_SHOWN  0.05

void change_cpu_waits(struct doctor *d, double ret_s[CHANGE_WORKERS_MAX])
{
	struct doctor_names threads;
	int pid = doctor_daemon_pid(d);
	memset(ret_s, 0, CHANGE_WORKERS_MAX * sizeof *ret_s);
	doctor_list(d, &threads, "/proc/%d/task", pid);
	for (unsigned i = 0; pid && i < threads.count; i++) {
		char name[32], text[64];
		unsigned worker;
		unsigned long long ns;
		if (doctor_read(d, name, sizeof name, "/proc/%d/task/%s/comm", pid,
				threads.name[i]) &&
		    sscanf(name, "worker%u", &worker) == 1 && worker < CHANGE_WORKERS_MAX &&
		    doctor_read(d, text, sizeof text, "/proc/%d/task/%s/schedstat", pid,
				threads.name[i]) &&
		    sscanf(text, "%*s %llu", &ns) == 1)
			ret_s[worker] = (double)ns / 1e9;
	}
}

// What a worker did with its time, as shares.
struct use {
	double working, waiting; // waiting: for a CPU that others used
};

// The time that it polled is not work, whether it had its CPU then or waited for it.
static struct use use_of(const struct change *c, size_t i)
{
	struct json_object *now, *before;
	now = json_object_array_get_idx(json_field(c->now, "workers"), i);
	before = json_object_array_get_idx(json_field(c->before, "workers"), i);
	double cpu = change_growth(now, before, "cpu_us") / 1e6 / c->seconds;
	double polled = change_growth(now, before, "polled_us") / 1e6 / c->seconds;
	double wait = i < CHANGE_WORKERS_MAX ? (c->waits[i] - c->waits_before[i]) / c->seconds : 0;
	double all = cpu + wait - polled;
	all = all < 0 ? 0 : all > 1 ? 1 : all;
	wait = wait < 0 ? 0 : wait > all ? all : wait;
	return (struct use){ all - wait, wait };
}

static double share_of(const struct change *c, size_t i)
{
	struct use u = use_of(c, i);
	return u.working + u.waiting;
}

static size_t worker_total(const struct change *c)
{
	size_t count = json_count(json_field(c->now, "workers"));
	return count == json_count(json_field(c->before, "workers")) ? count : 0;
}

double change_busiest(const struct change *c)
{
	double most = 0;
	for (size_t i = 0; i < worker_total(c); i++)
		most = share_of(c, i) > most ? share_of(c, i) : most;
	return most;
}

static const char *cure(const struct use *u, bool are_all_full)
{
	if (u->waiting > u->working)
		return "give farblockd CPUs that no other program uses (--cpus)";
	return are_all_full
		       ? "start farblockd with more --workers on further CPUs (--cpus); set MTU "
			 "9000 at both ends; do without digests"
		       : "log in with more sessions (multipath), since a session stays on its "
			 "worker; set MTU 9000 at both ends; do without digests";
}

static void say_worker(const struct change *c, size_t i, bool are_all_full)
{
	char name[32], wait[60] = "";
	struct use u = use_of(c, i);
	struct finding f = { DOCTOR_OK, name, "the commands of its sessions wait for it",
			     cure(&u, are_all_full) };
	snprintf(name, sizeof name, "worker %zu", i);
	if (u.waiting >= WAIT_SHOWN)
		snprintf(wait, sizeof wait, ", and waits %.0f %% for a CPU that others use",
			 u.waiting * 100);
	doctor_say(c->d, &f, "the limit is the CPU: it works %.0f %% of the time%s",
		   u.working * 100, wait);
}

unsigned change_workers_full(const struct change *c)
{
	size_t count = worker_total(c);
	unsigned full = 0;
	for (size_t i = 0; i < count; i++)
		full += share_of(c, i) >= WORKER_FULL;
	for (size_t i = 0; full && i < count; i++)
		if (share_of(c, i) >= WORKER_FULL)
			say_worker(c, i, full == count);
	return full;
}
