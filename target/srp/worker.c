// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/worker.h"

#include "transport/srp/target.h"

#define TICK_US 1000000u

static struct srp_worker workers[WORKER_MAX];

struct srp_worker *srp_worker_at(unsigned index)
{
	return &workers[index];
}

struct srp_worker *srp_worker(void)
{
	return &workers[worker_index(worker_self())];
}

void srp_worker_wake(struct srp_worker *sw)
{
	if (!timer_is_armed(&sw->tick))
		timer_arm(sw->worker, &sw->tick, TICK_US);
}

void srp_worker_rest(struct srp_worker *sw)
{
	if (!list_empty(&sw->logins) || !list_empty(&sw->sessions) || !list_empty(&sw->discoveries))
		return;
	timer_cancel(sw->worker, &sw->tick);
	memory_trim_tick(&sw->trim, 0);
}

void srp_worker_count(struct srp_worker *sw, struct fabric_traffic *counted,
		      const struct srp_channel_info *k)
{
	const struct fabric_traffic now = { k->ius_in, k->ius_out, k->bytes_in, k->bytes_out, 0 };
	fabric_count_traffic(&sw->counters, counted, &now);
}
