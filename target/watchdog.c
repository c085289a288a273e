// SPDX-License-Identifier: BSD-2-Clause
// Sends a message to each worker twice per watchdog interval. The manager gets "WATCHDOG=1" when
// all workers have responded to the last one.
#include "target/watchdog.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/log.h"
#include "core/notify.h"

uint64_t watchdog_interval(const char *usec, const char *wanted_pid, long pid)
{
	char *end;
	if (!usec || *usec < '0' || *usec > '9')
		return 0;
	if (wanted_pid && strtol(wanted_pid, NULL, 10) != pid)
		return 0;
	errno = 0;
	uint64_t us = strtoull(usec, &end, 10);
	return *end || errno ? 0 : us;
}

static void answered(struct msg *m)
{
	struct watchdog_beat *b = container_of(m, struct watchdog_beat, answer);
	if (b->is_reported)
		log_info("farblockd: worker recovered");
	b->is_out = b->is_reported = false;
}

static void asked(struct msg *m)
{
	struct watchdog_beat *b = container_of(m, struct watchdog_beat, ask);
	worker_post(b->owner->control, &b->answer);
}

static bool all_answered(struct watchdog *d)
{
	bool all = true;
	for (unsigned i = 0; i < d->worker_count; i++) {
		struct watchdog_beat *b = &d->beats[i];
		if (!b->is_out)
			continue;
		all = false;
		if (!b->is_reported)
			log_error("farblockd: worker%u: no response for %lu ms (the service "
				  "manager will restart the daemon)",
				  i, (unsigned long)(d->interval_us / 2000));
		b->is_reported = true;
	}
	return all;
}

static void ask(struct watchdog *d)
{
	for (unsigned i = 0; i < d->worker_count; i++) {
		struct watchdog_beat *b = &d->beats[i];
		if (b->is_out)
			continue;
		b->is_out = true;
		worker_post(worker_at(i), &b->ask);
	}
}

static void on_time(struct timer *t)
{
	struct watchdog *d = container_of(t, struct watchdog, timer);
	if (all_answered(d))
		notify_manager("WATCHDOG=1");
	ask(d);
	timer_arm(d->control, &d->timer, d->interval_us / 2);
}

void watchdog_init(struct watchdog *d, struct worker *control)
{
	*d = (struct watchdog){
		.control = control,
		.interval_us = watchdog_interval(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"),
						 getpid()),
		.worker_count = worker_count(),
	};
	timer_init(&d->timer, on_time);
	if (!d->interval_us)
		return;
	for (unsigned i = 0; i < d->worker_count; i++)
		d->beats[i] = (struct watchdog_beat){
			.ask = { .fn = asked },
			.answer = { .fn = answered },
			.owner = d,
		};
	ask(d);
	timer_arm(control, &d->timer, d->interval_us / 2);
}

void watchdog_done(struct watchdog *d)
{
	if (d->control)
		timer_cancel(d->control, &d->timer);
}
