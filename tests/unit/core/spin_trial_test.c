// SPDX-License-Identifier: BSD-2-Clause
// Longer polling is kept where requests come clearly faster with it.
#include "core/spin_trial.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define USEC	     1000ull
#define TRIAL_ROUNDS ((SPIN_WINDOWS + 2) * SPIN_WINDOW)

// A client: how long after a round its next requests come, and how many at once.
struct client {
	uint64_t without_ns, with_ns;
	unsigned batch_without, batch_with;
};

// So many rounds; how many of them with polling.
static unsigned polled(struct spin_trial *t, const struct client *c, unsigned rounds)
{
	static uint64_t now = 1000 * USEC, requests;
	unsigned ret = 0;
	for (unsigned i = 0; i < rounds; i++) {
		now += t->is_polling ? c->with_ns : c->without_ns;
		requests += t->is_polling ? c->batch_with : c->batch_without;
		ret += t->is_polling;
		spin_trial_note(t, now, requests);
	}
	return ret;
}

static void it_is_kept_where_it_makes_requests_faster(void **state)
{
	struct spin_trial t = { 0 };
	struct client waits = { 700 * USEC, 400 * USEC, 1, 1 };
	polled(&t, &waits, TRIAL_ROUNDS);
	assert_true(t.is_polling);
	assert_true(polled(&t, &waits, 10000) > 9000);
}

static void a_fixed_rate_ends_it(void **state)
{
	struct spin_trial t = { 0 };
	struct client fixed = { 100 * USEC, 100 * USEC, 1, 1 };
	unsigned n = polled(&t, &fixed, 1000000); // 100 s: rests of 1, 2, 4, 8, 16, 32, 32 s
	assert_true(n > 0);
	assert_true(n <= SPIN_WINDOWS / 2 * SPIN_WINDOW * 8);
	assert_false(t.is_polling);
}

static void it_ends_when_it_does_not_pay_off_any_more(void **state)
{
	struct spin_trial t = { 0 };
	struct client waits = { 700 * USEC, 400 * USEC, 1, 1 },
		      fixed = { 500 * USEC, 500 * USEC, 1, 1 };
	polled(&t, &waits, 10000);
	assert_true(t.is_polling);
	polled(&t, &fixed, SPIN_LONG_NS / fixed.with_ns + TRIAL_ROUNDS);
	assert_false(t.is_polling);
}

// Polling makes batches smaller, so that rounds are more while requests are fewer.
static void requests_count_not_rounds(void **state)
{
	struct spin_trial t = { 0 };
	struct client deep = { 900 * USEC, 300 * USEC, 9, 2 };
	polled(&t, &deep, TRIAL_ROUNDS);
	assert_false(t.is_polling);
}

static void many_requests_a_round_are_not_tried(void **state)
{
	struct spin_trial t = { 0 };
	struct client deep = { 900 * USEC, 100 * USEC, SPIN_DEEP, 1 };
	assert_int_equal(polled(&t, &deep, 10000), 0);
}

static void after_many_requests_a_round_few_are_tried(void **state)
{
	struct spin_trial t = { 0 };
	struct client deep = { 900 * USEC, 100 * USEC, SPIN_DEEP, 1 };
	struct client waits = { 700 * USEC, 400 * USEC, 1, 1 };
	polled(&t, &deep, 10000);
	polled(&t, &waits, TRIAL_ROUNDS);
	assert_true(t.is_polling);
}

static void rare_requests_are_not_tried(void **state)
{
	struct spin_trial t = { 0 };
	struct client rare = { 2 * SPIN_REQUEST_NS, SPIN_REQUEST_NS, 1, 1 };
	assert_int_equal(polled(&t, &rare, 10000), 0);
}

static void a_pause_ends_it(void **state)
{
	struct spin_trial t = { 0 };
	struct client waits = { 700 * USEC, 400 * USEC, 1, 1 };
	struct client pauses = { 1, (uint64_t)SPIN_WINDOW * SPIN_REQUEST_NS + 1, 1, 1 };
	polled(&t, &waits, TRIAL_ROUNDS);
	assert_true(t.is_polling);
	polled(&t, &pauses, 1);
	assert_false(t.is_polling);
}

static void after_a_pause_it_goes_on(void **state)
{
	struct spin_trial t = { 0 };
	struct client waits = { 700 * USEC, 400 * USEC, 1, 1 };
	struct client pauses = { 1, (uint64_t)SPIN_WINDOW * SPIN_REQUEST_NS + 1, 1, 1 };
	polled(&t, &waits, TRIAL_ROUNDS);
	polled(&t, &pauses, 1);
	polled(&t, &waits, SPIN_WINDOW + 1);
	assert_true(t.is_polling);
	assert_false(t.is_trying);
}

static void after_a_pause_another_client_is_tried_soon(void **state)
{
	struct spin_trial t = { 0 };
	struct client waits = { 700 * USEC, 400 * USEC, 1, 1 },
		      fixed = { 500 * USEC, 500 * USEC, 1, 1 };
	struct client pauses = { 1000000 * USEC, 1000000 * USEC, 1, 1 };
	polled(&t, &fixed, 100000); // 50 s: rests of up to 32 s
	assert_false(t.is_polling);
	polled(&t, &pauses, 6); // longer than the rest that the length of the trial asks for
	polled(&t, &waits, TRIAL_ROUNDS);
	assert_true(t.is_polling);
}

static void a_disturbed_window_does_not_matter(void **state)
{
	struct spin_trial t = { 0 };
	for (unsigned i = 0; i < SPIN_WINDOWS + 2; i++) {
		unsigned factor = i == SPIN_WINDOWS ? 3 : 1; // one with polling
		struct client c = { 700 * USEC, 560 * USEC * factor, 1, 1 };
		polled(&t, &c, SPIN_WINDOW);
	}
	assert_true(t.is_polling);
	assert_false(t.is_trying);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_kept_where_it_makes_requests_faster),
		cmocka_unit_test(a_fixed_rate_ends_it),
		cmocka_unit_test(it_ends_when_it_does_not_pay_off_any_more),
		cmocka_unit_test(requests_count_not_rounds),
		cmocka_unit_test(many_requests_a_round_are_not_tried),
		cmocka_unit_test(after_many_requests_a_round_few_are_tried),
		cmocka_unit_test(rare_requests_are_not_tried),
		cmocka_unit_test(a_pause_ends_it),
		cmocka_unit_test(after_a_pause_it_goes_on),
		cmocka_unit_test(after_a_pause_another_client_is_tried_soon),
		cmocka_unit_test(a_disturbed_window_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
