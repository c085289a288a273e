// SPDX-License-Identifier: BSD-2-Clause
// Lines that peers cause: the first is said, the rest is counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/fabric/peer_log.h"

static char lines[400][200];
static unsigned line_count;

static void take(void *arg, enum log_level level, const char *line)
{
	assert_true(line_count < sizeof lines / sizeof lines[0]);
	snprintf(lines[line_count++], sizeof lines[0], "%s", line);
}

static bool heard(const char *cause, const char *from)
{
	struct tcp_addr a;
	assert_int_equal(tcp_addr_parse(&a, from, 1, NULL), 0);
	return peer_log_permits(LOG_LVL_WARN, "iscsi", cause, &a);
}

static int begin(void **state)
{
	peer_log_init(NULL); // not started: done logs the counts
	line_count = 0;
	log_set_sink(take, NULL);
	return 0;
}

static int end(void **state)
{
	log_set_sink(NULL, NULL);
	return 0;
}

static void the_first_of_a_cause_and_an_address_is_said(void **state)
{
	assert_true(heard("login refused", "10.0.0.1"));
	assert_false(heard("login refused", "10.0.0.1"));
	assert_true(heard("login dropped", "10.0.0.1"));
	assert_true(heard("login refused", "10.0.0.2"));
	assert_false(heard("login refused", "10.0.0.2:99"));
}

static void the_rest_is_one_line(void **state)
{
	for (int i = 0; i < 58; i++)
		heard("login refused", "10.0.0.1");
	heard("login refused", "10.0.0.2");
	peer_log_done();
	assert_int_equal(line_count, 1);
	assert_string_equal(lines[0],
			    "iscsi: login refused: 57 more from 10.0.0.1 in the last 1 s");
}

static void what_was_quiet_is_said_again(void **state)
{
	assert_true(heard("login refused", "10.0.0.1"));
	peer_log_done();
	assert_true(heard("login refused", "10.0.0.1"));
	assert_int_equal(line_count, 0);
}

static void what_goes_on_is_not(void **state)
{
	heard("login refused", "10.0.0.1");
	heard("login refused", "10.0.0.1");
	peer_log_done();
	assert_int_equal(line_count, 1);
	assert_false(heard("login refused", "10.0.0.1"));
}

static void more_addresses_than_fit_are_counted_together(void **state)
{
	unsigned said = 0;
	for (int i = 0; i < 10000; i++) {
		char from[32];
		snprintf(from, sizeof from, "10.0.%d.%d", i / 250, i % 250);
		said += heard("login refused", from);
	}
	assert_in_range(said, 1, 300);
	peer_log_done();
	assert_int_equal(line_count, 1);
	char want[100];
	snprintf(want, sizeof want, "iscsi: refusals: %u more from other addresses", 10000 - said);
	assert_memory_equal(lines[0], want, strlen(want));
}

static void some_are_said_again_in_each_sweep(void **state)
{
	struct tcp_addr a;
	tcp_addr_parse(&a, "10.0.0.1", 1, NULL);
	for (unsigned sweep = 1; sweep <= 3; sweep++) {
		unsigned said = 0;
		for (int i = 0; i < 100; i++)
			said += peer_log_permits_some(LOG_LVL_WARN, "iscsi", "login ok", &a, 16);
		assert_int_equal(said, 16);
		peer_log_done();
		assert_int_equal(line_count, sweep);
		assert_memory_equal(lines[sweep - 1], "iscsi: login ok: 84 more from 10.0.0.1", 38);
	}
}

static void what_the_log_does_not_show_is_not_counted(void **state)
{
	struct tcp_addr a;
	tcp_addr_parse(&a, "10.0.0.1", 1, NULL);
	for (int i = 0; i < 3; i++)
		assert_false(peer_log_permits(LOG_LVL_DEBUG, "iscsi", "pinged", &a));
	peer_log_done();
	assert_int_equal(line_count, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(the_first_of_a_cause_and_an_address_is_said),
		T(the_rest_is_one_line),
		T(what_was_quiet_is_said_again),
		T(what_goes_on_is_not),
		T(more_addresses_than_fit_are_counted_together),
		T(some_are_said_again_in_each_sweep),
		T(what_the_log_does_not_show_is_not_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
