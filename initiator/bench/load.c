// SPDX-License-Identifier: BSD-2-Clause
// See load.h.
#include "initiator/bench/load.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "core/counter.h"

#define NS_PER_SEC 1000000000ull

// How long the calling thread was ready to run while others had its CPU (schedstat: sched-stats in
// the kernel's documentation). ns, 0: unknown.
static uint64_t waited_ns(void)
{
	unsigned long long ns = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	if (f && fscanf(f, "%*s %llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

// On the worker; blocks shortly.
static struct load_clock clock_of(const struct load *l)
{
	struct worker *w = scsi_sync_worker(l->sync);
	return (struct load_clock){ clock_ns(), worker_cpu_ns(w), waited_ns(),
				    counter_get(&worker_counters(w)->polled_ns) };
}

// The time that it polled is not work, whether it had its CPU then or waited for it.
static void note_use(struct load *l)
{
	struct load_clock from = l->begin, to = clock_of(l);
	double wall = (double)(to.ns - from.ns), wait = (double)(to.waited_ns - from.waited_ns);
	double all =
		(double)(to.cpu_ns - from.cpu_ns) + wait - (double)(to.polled_ns - from.polled_ns);
	all = wall <= 0 || all < 0 ? 0 : all > wall ? 1 : all / wall;
	l->waited = wall <= 0 || wait < 0 ? 0 : wait > all * wall ? all : wait / wall;
	l->busy = all - l->waited;
}

// --- seconds ---

static void close_second(struct load *l)
{
	unsigned n = l->second_count;
	if (n == l->seconds_max)
		return;
	l->second.p99_us = histogram_us(&l->second_histogram, 0.99);
	l->seconds[n] = l->second;
	l->second = (struct load_second){ 0 };
	l->second_histogram = (struct histogram){ 0 };
	l->second_end_ns += NS_PER_SEC;
	__atomic_store_n(&l->second_count, n + 1, __ATOMIC_RELEASE);
}

// Commands of a rate all end before their last second does.
static void finish(struct load *l)
{
	if (l->second_histogram.count && clock_ns() + NS_PER_SEC / 2 >= l->second_end_ns)
		close_second(l);
	note_use(l);
	timer_cancel(scsi_sync_worker(l->sync), &l->timer);
	sem_post(&l->over);
}

static void note(struct load *l, const struct load_cmd *c, uint64_t now)
{
	uint64_t ns = now - c->start_ns;
	histogram_add(c->cmd.is_write ? &l->writes : &l->reads, ns);
	l->last_ns = now;
	l->last_bytes = c->cmd.data_len;
	if (!l->seconds_max)
		return;
	while (now >= l->second_end_ns && l->second_count < l->seconds_max)
		close_second(l);
	histogram_add(&l->second_histogram, ns);
	(*(c->cmd.is_write ? &l->second.writes : &l->second.reads))++;
}

// --- commands ---

static void on_done(struct scsi_cmd *c);

static void submit(struct load_cmd *c, uint64_t start)
{
	struct load *l = c->load;
	l->next(l, c);
	c->cmd.done = on_done;
	c->cmd.arg = c;
	c->start_ns = start;
	if (scsi_cmd_submit(scsi_sync_session(l->sync), &c->cmd) == 0)
		l->flying++;
	else
		l->end_ns = 0; // the session takes no more
}

// At a rate: starts what is due, and is called again when the next one is. A command that has to
// wait for a place counts from the time at which it was due.
static void pace(struct load *l, uint64_t now)
{
	while (l->due_ns <= now && now < l->end_ns && l->free && l->failed < l->failed_max) {
		struct load_cmd *c = l->free;
		l->free = c->next_free;
		submit(c, l->due_ns);
		l->due_ns += l->interval_ns;
	}
	bool is_over = now >= l->end_ns || l->due_ns >= l->end_ns || l->failed >= l->failed_max;
	if (!is_over && l->due_ns > now)
		timer_arm(scsi_sync_worker(l->sync), &l->timer, (l->due_ns - now + 999) / 1000);
	if (is_over && !l->flying) {
		uint64_t until = now < l->end_ns ? now : l->end_ns;
		if (l->due_ns < until)
			l->unsent = (until - l->due_ns - 1) / l->interval_ns + 1;
		finish(l);
	}
}

static void on_due(struct timer *t)
{
	pace(container_of(t, struct load, timer), clock_ns());
}

static void on_done(struct scsi_cmd *c)
{
	struct load_cmd *lc = c->arg;
	struct load *l = lc->load;
	uint64_t now = clock_ns();
	l->flying--;
	if (l->is_good(l, c)) {
		note(l, lc, now);
	} else if (c->res == -ECANCELED) { // Ctrl-C
		l->end_ns = 0;
	} else if (!l->failed++) {
		l->first_failed = *c;
	}
	if (l->interval_ns) {
		lc->next_free = l->free;
		l->free = lc;
		pace(l, now);
		return;
	}
	if (now < l->end_ns && l->failed < l->failed_max)
		submit(lc, now);
	if (!l->flying)
		finish(l);
}

static void begin(void *arg)
{
	struct load *l = arg;
	l->begin = clock_of(l);
	timer_init(&l->timer, on_due);
	uint64_t now = clock_ns();
	l->end_ns = now + l->time_ns;
	l->begin_ns = l->last_ns = l->due_ns = now;
	l->second_end_ns = now + NS_PER_SEC;
	for (unsigned i = 0; i < l->depth; i++) {
		l->cmds[i].load = l;
		l->cmds[i].next_free = l->free;
		l->free = &l->cmds[i];
		if (!l->interval_ns && l->end_ns)
			submit(&l->cmds[i], now);
	}
	if (l->interval_ns)
		pace(l, now);
	else if (!l->flying)
		finish(l);
}

// --- the program's thread ---

void load_start(struct load *l)
{
	sem_init(&l->over, 0, 0);
	worker_call(scsi_sync_worker(l->sync), begin, l);
}

static void nothing(void *arg)
{
}

bool load_wait(struct load *l, uint64_t until_ns)
{
	struct timespec t = { .tv_sec = (time_t)(until_ns / NS_PER_SEC),
			      .tv_nsec = (long)(until_ns % NS_PER_SEC) };
	if (sem_clockwait(&l->over, CLOCK_MONOTONIC, &t) < 0)
		return false;
	// After another call the worker has left the post that woke us.
	worker_call(scsi_sync_worker(l->sync), nothing, NULL);
	return true;
}

unsigned load_seconds(const struct load *l)
{
	return __atomic_load_n(&l->second_count, __ATOMIC_ACQUIRE);
}

void load_run(struct load *l)
{
	load_start(l);
	while (!load_wait(l, UINT64_MAX))
		; // EINTR
}

uint64_t load_count(const struct load *l)
{
	return l->reads.count + l->writes.count;
}

double load_rate(const struct load *l)
{
	double s = (double)(l->last_ns - l->begin_ns) / 1e9;
	return s > 0 ? (double)load_count(l) / s : 0;
}
