// SPDX-License-Identifier: BSD-2-Clause
// Which workers there are, which one this thread runs, and what others read of one.
#include "core/worker_priv.h"

#include <errno.h>

static _Thread_local struct worker *self;
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct worker *) registry[WORKER_MAX];
static atomic_uint registry_count; // 1 + highest index in use

int worker_register(struct worker *w)
{
	int r = -EMFILE;

	pthread_mutex_lock(&registry_lock);
	for (unsigned i = 0; i < WORKER_MAX && r < 0; i++) {
		if (registry[i])
			continue;
		w->index = i;
		registry[i] = w;
		if (registry_count <= i)
			registry_count = i + 1;
		r = 0;
	}
	pthread_mutex_unlock(&registry_lock);
	return r;
}

void worker_unregister(struct worker *w)
{
	if (w->index >= WORKER_MAX)
		return;
	pthread_mutex_lock(&registry_lock);
	registry[w->index] = NULL;
	while (registry_count && !registry[registry_count - 1])
		registry_count--;
	pthread_mutex_unlock(&registry_lock);
}

void worker_set_self(struct worker *w)
{
	self = w;
}

struct worker *worker_self(void)
{
	return self;
}

unsigned worker_index(const struct worker *w)
{
	return w->index;
}

unsigned worker_count(void)
{
	return registry_count;
}

struct worker *worker_at(unsigned index)
{
	return index < WORKER_MAX ? registry[index] : NULL;
}

uint64_t worker_now(const struct worker *w)
{
	return w->now;
}

struct worker_counters *worker_counters(struct worker *w)
{
	return &w->counters;
}

uint64_t worker_cpu_ns(const struct worker *w)
{
	clockid_t clock;
	struct timespec t;
	if (!w->has_thread || pthread_getcpuclockid(w->thread, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

struct buf_pool *worker_pool(struct worker *w)
{
	return w->pool;
}
