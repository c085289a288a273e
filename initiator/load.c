// SPDX-License-Identifier: BSD-2-Clause
// See load.h.
#include "initiator/load.h"

#include <errno.h>

#include "core/counter.h"

// CPU time of the session's thread without the time that it spent polling for work. On the worker.
// Negative where others took its CPU while it polled.
static int64_t worked_ns(const struct load *l)
{
	struct worker *w = ini_sync_worker(l->sync);
	return (int64_t)(worker_cpu_ns(w) - counter_get(&worker_counters(w)->polled_ns));
}

static void finish(struct load *l)
{
	double worked = (double)(worked_ns(l) - l->worked_ns);
	double took = (double)(clock_ns() - l->begin_ns);
	l->busy = worked <= 0 || took <= 0 ? 0 : worked >= took ? 1 : worked / took;
	sem_post(&l->over);
}

static void on_done(struct ini_cmd *c);

static void submit(struct load_cmd *c, uint64_t now)
{
	struct load *l = c->load;
	l->next(l, c);
	c->cmd.done = on_done;
	c->cmd.arg = c;
	c->start_ns = now;
	if (ini_cmd_submit(ini_sync_session(l->sync), &c->cmd) == 0)
		l->flying++;
}

static void on_done(struct ini_cmd *c)
{
	struct load_cmd *lc = c->arg;
	struct load *l = lc->load;
	uint64_t now = clock_ns();
	l->flying--;
	if (l->is_good(l, c)) {
		histogram_add(&l->histogram, now - lc->start_ns);
		l->last_ns = now;
		l->last_bytes = c->task.data_len;
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
	uint64_t now = clock_ns();
	l->worked_ns = worked_ns(l);
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
	worker_call(ini_sync_worker(l->sync), begin, l);
	while (sem_wait(&l->over) < 0)
		; // EINTR
}

double load_rate(const struct load *l)
{
	double s = (double)(l->last_ns - l->begin_ns) / 1e9;
	return s > 0 ? (double)l->histogram.count / s : 0;
}
