// SPDX-License-Identifier: BSD-2-Clause
// See load.h.
#include "initiator/bench/load.h"

#include <errno.h>
#include <stdio.h>

#include "core/counter.h"

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

static void finish(struct load *l)
{
	note_use(l);
	sem_post(&l->over);
}

static void on_done(struct scsi_cmd *c);

static void submit(struct load_cmd *c, uint64_t now)
{
	struct load *l = c->load;
	l->next(l, c);
	c->cmd.done = on_done;
	c->cmd.arg = c;
	c->start_ns = now;
	if (scsi_cmd_submit(scsi_sync_session(l->sync), &c->cmd) == 0)
		l->flying++;
}

static void on_done(struct scsi_cmd *c)
{
	struct load_cmd *lc = c->arg;
	struct load *l = lc->load;
	uint64_t now = clock_ns();
	l->flying--;
	if (l->is_good(l, c)) {
		histogram_add(&l->histogram, now - lc->start_ns);
		l->last_ns = now;
		l->last_bytes = c->data_len;
	} else if (c->res != -ECANCELED) { // Ctrl-C
		if (!l->failed++)
			l->first_failed = *c;
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
	uint64_t now = clock_ns();
	l->end_ns = now + l->time_ns;
	l->begin_ns = l->last_ns = now;
	for (unsigned i = 0; i < l->depth; i++) {
		l->cmds[i].load = l;
		submit(&l->cmds[i], now);
	}
	if (!l->flying)
		finish(l);
}

void load_run(struct load *l)
{
	sem_init(&l->over, 0, 0);
	worker_call(scsi_sync_worker(l->sync), begin, l);
	while (sem_wait(&l->over) < 0)
		; // EINTR
}

double load_rate(const struct load *l)
{
	double s = (double)(l->last_ns - l->begin_ns) / 1e9;
	return s > 0 ? (double)l->histogram.count / s : 0;
}
