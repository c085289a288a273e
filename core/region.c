// SPDX-License-Identifier: BSD-2-Clause
// The list of regions and of their watchers, under one lock.
#include "core/region.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list regions = { &regions, &regions };
static struct list watches = { &watches, &watches };

void region_add(struct region *r)
{
	pthread_mutex_lock(&lock);
	list_push_back(&regions, &r->link);
	list_for_each_safe (it, &watches) {
		struct region_watch *w = list_entry(it, struct region_watch, link);
		w->added(w, r);
	}
	pthread_mutex_unlock(&lock);
}

void region_remove(struct region *r)
{
	pthread_mutex_lock(&lock);
	if (list_linked(&r->link)) {
		list_for_each_safe (it, &watches) {
			struct region_watch *w = list_entry(it, struct region_watch, link);
			w->removed(w, r);
		}
		list_remove(&r->link);
	}
	pthread_mutex_unlock(&lock);
}

void region_watch_add(struct region_watch *w)
{
	pthread_mutex_lock(&lock);
	list_push_back(&watches, &w->link);
	list_for_each_safe (it, &regions)
		w->added(w, list_entry(it, struct region, link));
	pthread_mutex_unlock(&lock);
}

void region_watch_remove(struct region_watch *w)
{
	pthread_mutex_lock(&lock);
	if (list_linked(&w->link)) {
		list_for_each_safe (it, &regions)
			w->removed(w, list_entry(it, struct region, link));
		list_remove(&w->link);
	}
	pthread_mutex_unlock(&lock);
}

// One side announces a pin, then looks for holes; the other announces a hole, then looks for pins:
// at least one sees the other.
void region_pin(struct region *r)
{
	const struct timespec while_it_lasts = { .tv_nsec = 100000 };

	__atomic_add_fetch(&r->pins, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&r->holes, __ATOMIC_SEQ_CST))
		nanosleep(&while_it_lasts, NULL);
}

bool region_hole_begin(struct region *r)
{
	__atomic_add_fetch(&r->holes, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&r->pins, __ATOMIC_SEQ_CST))
		return true;
	region_hole_end(r);
	return false;
}

void region_hole_end(struct region *r)
{
	__atomic_sub_fetch(&r->holes, 1, __ATOMIC_SEQ_CST);
}

void region_unpin(struct region *r)
{
	__atomic_sub_fetch(&r->pins, 1, __ATOMIC_RELAXED);
}

bool region_is_pinned(const struct region *r)
{
	return __atomic_load_n(&r->pins, __ATOMIC_RELAXED) != 0;
}
