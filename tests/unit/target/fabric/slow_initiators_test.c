// SPDX-License-Identifier: BSD-2-Clause
// The table of initiators that have kept others waiting.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "target/fabric/slow_initiators.h"

static void one_is_known_for_a_while(void **state)
{
	slow_initiator_note("iqn.a", 1000);
	assert_true(slow_initiator_is_known("iqn.a", 1000));
	assert_true(slow_initiator_is_known("iqn.a", 1000 + SLOW_SECONDS - 1));
	assert_false(slow_initiator_is_known("iqn.a", 1000 + SLOW_SECONDS));
	assert_false(slow_initiator_is_known("iqn.b", 1000));
}

static void each_time_counts_anew(void **state)
{
	slow_initiator_note("iqn.c", 3000);
	slow_initiator_note("iqn.c", 3100);
	assert_true(slow_initiator_is_known("iqn.c", 3000 + SLOW_SECONDS));
}

static void nobody_is_forgotten_by_a_crowd(void **state)
{
	char who[32];
	for (unsigned i = 0; i < 10 * SLOW_KEPT; i++) {
		snprintf(who, sizeof who, "10.0.%u.%u", i >> 8, i & 255);
		slow_initiator_note(who, 9000);
	}
	for (unsigned i = 0; i < 10 * SLOW_KEPT; i++) {
		snprintf(who, sizeof who, "10.0.%u.%u", i >> 8, i & 255);
		assert_true(slow_initiator_is_known(who, 9001));
	}
	assert_false(slow_initiator_is_known(who, 9000 + SLOW_SECONDS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_known_for_a_while),
		cmocka_unit_test(each_time_counts_anew),
		cmocka_unit_test(nobody_is_forgotten_by_a_crowd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
