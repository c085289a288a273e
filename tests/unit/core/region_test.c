// SPDX-License-Identifier: BSD-2-Clause
// Regions: watchers hear of those that are there, those that come, and those that go.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include "core/region.h"

struct seen {
	struct region_watch watch;
	int added, removed;
	bool pins;
};

static void on_added(struct region_watch *w, struct region *r)
{
	struct seen *s = container_of(w, struct seen, watch);

	s->added++;
	if (s->pins)
		region_pin(r);
}

static void on_removed(struct region_watch *w, struct region *r)
{
	struct seen *s = container_of(w, struct seen, watch);

	s->removed++;
	if (s->pins)
		region_unpin(r);
}

#define SEEN                                                                                       \
	{                                                                                          \
		.watch = {.added = on_added, .removed = on_removed }                               \
	}

static void a_watcher_hears_of_what_is_there_and_what_comes(void **state)
{
	static uint8_t memory[2][64];
	struct region a = { .addr = memory[0], .len = 64 }, b = { .addr = memory[1], .len = 64 };
	struct seen s = SEEN;

	region_add(&a);
	region_watch_add(&s.watch);
	assert_int_equal(s.added, 1);
	region_add(&b);
	assert_int_equal(s.added, 2);
	region_remove(&a);
	assert_int_equal(s.removed, 1);
	region_watch_remove(&s.watch);
	assert_int_equal(s.removed, 2);
	region_remove(&b);
	assert_int_equal(s.removed, 2);
}

static void a_region_is_pinned_while_someone_pins_it(void **state)
{
	static uint8_t memory[64];
	struct region r = { .addr = memory, .len = 64 };
	struct seen s = SEEN;

	s.pins = true;
	region_add(&r);
	assert_false(region_is_pinned(&r));
	region_watch_add(&s.watch);
	assert_true(region_is_pinned(&r));
	region_watch_remove(&s.watch);
	assert_false(region_is_pinned(&r));
	region_remove(&r);
}

static void removing_one_that_was_not_added_does_nothing(void **state)
{
	struct region r = { 0 };
	struct seen s = SEEN;

	region_watch_add(&s.watch);
	region_remove(&r);
	assert_int_equal(s.removed, 0);
	region_watch_remove(&s.watch);
}

static void no_hole_is_punched_while_someone_pins(void **state)
{
	struct region r = { 0 };

	assert_true(region_hole_begin(&r));
	region_hole_end(&r);
	region_pin(&r);
	assert_false(region_hole_begin(&r));
	region_unpin(&r);
	assert_true(region_hole_begin(&r));
	region_hole_end(&r);
}

static struct region contended;
static bool is_pinned_now;

static void *pin_it(void *arg)
{
	region_pin(&contended);
	__atomic_store_n(&is_pinned_now, true, __ATOMIC_RELEASE);
	return NULL;
}

// The thread announces its pin, then waits; no hole begins after that.
static void pinning_waits_for_the_holes_that_are_being_punched(void **state)
{
	pthread_t thread;

	assert_true(region_hole_begin(&contended));
	assert_int_equal(pthread_create(&thread, NULL, pin_it, NULL), 0);
	while (!region_is_pinned(&contended))
		sched_yield();
	assert_false(region_hole_begin(&contended));
	assert_false(__atomic_load_n(&is_pinned_now, __ATOMIC_ACQUIRE));
	region_hole_end(&contended);
	pthread_join(thread, NULL);
	assert_true(is_pinned_now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_hole_is_punched_while_someone_pins),
		cmocka_unit_test(pinning_waits_for_the_holes_that_are_being_punched),
		cmocka_unit_test(a_watcher_hears_of_what_is_there_and_what_comes),
		cmocka_unit_test(a_region_is_pinned_while_someone_pins_it),
		cmocka_unit_test(removing_one_that_was_not_added_does_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
