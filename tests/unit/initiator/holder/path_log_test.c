// SPDX-License-Identifier: BSD-2-Clause
// What the log says of a path that is tried again for ever.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/holder/path_log.h"

static struct path_log l;
static bool is_unsteady;

static bool is_news(enum disk_path_state s, const char *why)
{
	struct err e = { 0 };
	if (why)
		err_set(&e, -EIO, "%s", why);
	return path_log_is_news(&l, s, &e, is_unsteady);
}

static int begin(void **state)
{
	memset(&l, 0, sizeof l);
	is_unsteady = false;
	return 0;
}

static void the_states_of_a_first_login_are_news(void **state)
{
	assert_true(is_news(DISK_PATH_CHECKING, NULL));
	assert_true(is_news(DISK_PATH_UP, NULL));
}

static void a_fault_is_news_once(void **state)
{
	for (int i = 0; i < 3; i++) {
		assert_int_equal(is_news(DISK_PATH_FAULTY, "no LUN 3"), i == 0);
		assert_false(is_news(DISK_PATH_CONNECTING, NULL));
		assert_false(is_news(DISK_PATH_CHECKING, NULL));
	}
}

static void a_loss_and_a_fault_in_turn_are_news_once_each(void **state)
{
	for (int i = 0; i < 3; i++) {
		assert_int_equal(is_news(DISK_PATH_CONNECTING, "reset"), i == 0);
		assert_int_equal(is_news(DISK_PATH_FAULTY, "no LUN 3"), i == 0);
	}
}

static void another_reason_is_news(void **state)
{
	assert_true(is_news(DISK_PATH_FAULTY, "no LUN 3"));
	assert_true(is_news(DISK_PATH_FAULTY, "login refused"));
}

static void reasons_that_never_end_are_cut_off(void **state)
{
	char text[16];
	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof text, "reason %d", i);
		assert_int_equal(is_news(DISK_PATH_CONNECTING, text), i < PATH_LOG_REASONS);
	}
}

static void a_path_that_serves_again_is_news_and_so_is_its_next_loss(void **state)
{
	assert_true(is_news(DISK_PATH_CONNECTING, "reset"));
	assert_true(is_news(DISK_PATH_UP, NULL));
	assert_true(is_news(DISK_PATH_CONNECTING, "reset"));
}

static void a_path_that_serves_but_does_not_last_is_no_news(void **state)
{
	assert_true(is_news(DISK_PATH_CONNECTING, "reset, again"));
	is_unsteady = true;
	for (int i = 0; i < 3; i++) {
		assert_false(is_news(DISK_PATH_UP, NULL));
		assert_false(is_news(DISK_PATH_CONNECTING, "reset, again"));
	}
	is_unsteady = false;
	assert_true(is_news(DISK_PATH_UP, NULL));
}

#define T(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_states_of_a_first_login_are_news),
		T(a_fault_is_news_once),
		T(a_loss_and_a_fault_in_turn_are_news_once_each),
		T(another_reason_is_news),
		T(reasons_that_never_end_are_cut_off),
		T(a_path_that_serves_again_is_news_and_so_is_its_next_loss),
		T(a_path_that_serves_but_does_not_last_is_no_news),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
