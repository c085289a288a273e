// SPDX-License-Identifier: BSD-2-Clause
// What limited a bench, decided from figures, and its text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/bench/limit.h"

// A disk behind a loopback that does a tenth of what the session does without it.
static struct limit_figures slow_disk(void)
{
	return (struct limit_figures){
		.depth = 32,
		.rate = 20000,
		.bytes = 4096,
		.trips = 1,
		.busy = 0.05,
		.bare_rate = 500000,
		.data_rate = 400000,
		.data_bytes = 1024,
		.link = {"lo", true, 0},
	};
}

static void expect(const struct limit_figures *f, enum limit limit, const char *name,
		   const char *line)
{
	char text[LIMIT_TEXT];
	assert_int_equal(limit_of(f), limit);
	assert_string_equal(limit_name(limit), name);
	assert_string_equal(limit_text(f, text), line);
}

static void a_disk_far_below_the_session_without_it_is_the_limit(void **state)
{
	struct limit_figures f = slow_disk();
	// 2 us for a command, and 4 x 0.5 us for its data.
	expect(&f, LIMIT_DISK, "disk",
	       "the disk; commands that do not use it would reach about 250,000/s");
}

static void a_busy_thread_is_the_limit(void **state)
{
	struct limit_figures f = slow_disk();
	f.busy = 0.98;
	expect(&f, LIMIT_CPU, "cpu", "this program's CPU (its thread was busy 98 % of the time)");
}

static void a_thread_without_a_cpu_of_its_own_is_the_limit(void **state)
{
	struct limit_figures f = slow_disk();
	f.busy = 0.6;
	f.waited = 0.35;
	expect(&f, LIMIT_CPU, "cpu",
	       "this program's CPU (its thread was busy 60 % of the time, and waited 35 % for a "
	       "CPU that others used)");
}

// The bursts had the CPU that the run had to share.
static void the_disk_is_not_blamed_for_what_others_took_of_the_cpu(void **state)
{
	struct limit_figures f = slow_disk();
	assert_int_equal(limit_of(&f), LIMIT_DISK);
	f.busy = 0.2;
	f.waited = 0.44;
	assert_int_equal(limit_of(&f), LIMIT_DISK_OR_TARGET);
}

static void a_full_link_is_the_limit_however_busy_the_thread_is(void **state)
{
	struct limit_figures f = slow_disk();
	f.link = (struct link){ "eth0", false, 125e6 };
	f.busy = 1;
	f.rate = 27500;
	expect(&f, LIMIT_NETWORK, "network",
	       "the network; eth0 runs at 1.00 Gb/s and carried 0.90 Gb/s of data");
}

static void a_link_that_is_not_full_is_not_the_limit(void **state)
{
	struct limit_figures f = slow_disk();
	f.link = (struct link){ "eth0", false, 1250e6 };
	assert_int_equal(limit_of(&f), LIMIT_DISK);
}

static void a_link_of_unknown_rate_is_not_called_full(void **state)
{
	struct limit_figures f = slow_disk();
	f.link = (struct link){ "eth0", false, 0 };
	assert_int_equal(limit_of(&f), LIMIT_DISK);
}

static void one_command_at_a_time_is_limited_by_its_latency(void **state)
{
	struct limit_figures f = slow_disk();
	f.depth = 1;
	f.rate = 1e6 / 115;
	f.bare_rate = 1e6 / 38;
	expect(&f, LIMIT_LATENCY, "latency",
	       "the latency; one command at a time takes 115 us, without disk and data 38 us (use "
	       "a greater depth)");
}

static void commands_that_are_as_slow_without_the_disk_have_another_limit(void **state)
{
	struct limit_figures f = slow_disk();
	f.rate = 300000;
	f.busy = 0.5;
	expect(&f, LIMIT_TARGET, "target",
	       "the target's CPU; commands that use neither disk nor data are not much faster "
	       "(500,000/s)");
}

static void over_a_network_the_target_is_not_blamed_alone(void **state)
{
	struct limit_figures f = slow_disk();
	char text[LIMIT_TEXT];
	f.rate = 300000;
	f.link.is_loopback = false;
	assert_string_equal(
		limit_text(&f, text),
		"the target's CPU or the network; commands that use neither disk nor data are "
		"not much faster (500,000/s)");
}

static void large_blocks_whose_transfer_may_take_as_long_are_not_blamed_on_the_disk(void **state)
{
	struct limit_figures f = slow_disk();
	f.bytes = 131072;
	f.rate = 10000; // 66 us for the data
	expect(&f, LIMIT_DISK_OR_TARGET, "disk-or-target",
	       "the disk or the target's CPU; commands that use neither disk nor data reach "
	       "500,000/s");
}

static void large_blocks_that_take_far_longer_than_their_transfer_wait_for_the_disk(void **state)
{
	struct limit_figures f = slow_disk();
	f.bytes = 131072;
	f.rate = 1500;
	assert_int_equal(limit_of(&f), LIMIT_DISK);
}

static void the_disk_is_not_blamed_where_no_data_moves_without_it(void **state)
{
	struct limit_figures f = slow_disk();
	f.data_rate = f.data_bytes = 0; // the target refuses the command
	assert_int_equal(limit_of(&f), LIMIT_DISK_OR_TARGET);
}

static void a_burst_with_data_that_was_the_faster_one_does_not_make_data_free(void **state)
{
	struct limit_figures f = slow_disk();
	f.bytes = 131072;
	f.data_rate = 600000;
	f.rate = 20000;
	assert_int_equal(limit_of(&f), LIMIT_DISK_OR_TARGET);
}

static void writes_that_ask_for_their_data_take_more_round_trips(void **state)
{
	struct limit_figures f = slow_disk();
	f.bare_rate = f.data_rate = 4000; // 1 ms away at depth 4
	f.rate = 1500;
	assert_int_equal(limit_of(&f), LIMIT_DISK);
	f.trips = 2;
	assert_int_equal(limit_of(&f), LIMIT_DISK_OR_TARGET);
}

static void an_interrupted_session_says_nothing_about_the_limit(void **state)
{
	struct limit_figures f = slow_disk();
	f.was_interrupted = true;
	expect(&f, LIMIT_UNKNOWN, "unknown", "unknown; the session was interrupted");
}

static void without_a_burst_the_limit_is_unknown(void **state)
{
	struct limit_figures f = slow_disk();
	f.bare_rate = 0;
	expect(&f, LIMIT_UNKNOWN, "unknown", "unknown; TEST UNIT READY failed after the run");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_far_below_the_session_without_it_is_the_limit),
		cmocka_unit_test(a_busy_thread_is_the_limit),
		cmocka_unit_test(a_thread_without_a_cpu_of_its_own_is_the_limit),
		cmocka_unit_test(the_disk_is_not_blamed_for_what_others_took_of_the_cpu),
		cmocka_unit_test(a_full_link_is_the_limit_however_busy_the_thread_is),
		cmocka_unit_test(a_link_that_is_not_full_is_not_the_limit),
		cmocka_unit_test(a_link_of_unknown_rate_is_not_called_full),
		cmocka_unit_test(one_command_at_a_time_is_limited_by_its_latency),
		cmocka_unit_test(commands_that_are_as_slow_without_the_disk_have_another_limit),
		cmocka_unit_test(over_a_network_the_target_is_not_blamed_alone),
		cmocka_unit_test(
			large_blocks_whose_transfer_may_take_as_long_are_not_blamed_on_the_disk),
		cmocka_unit_test(
			large_blocks_that_take_far_longer_than_their_transfer_wait_for_the_disk),
		cmocka_unit_test(the_disk_is_not_blamed_where_no_data_moves_without_it),
		cmocka_unit_test(a_burst_with_data_that_was_the_faster_one_does_not_make_data_free),
		cmocka_unit_test(writes_that_ask_for_their_data_take_more_round_trips),
		cmocka_unit_test(an_interrupted_session_says_nothing_about_the_limit),
		cmocka_unit_test(without_a_burst_the_limit_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
