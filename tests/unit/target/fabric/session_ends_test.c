// SPDX-License-Identifier: BSD-2-Clause
// The table of ended sessions: the newest first, and a crowd of one address displaces itself.
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/fabric/session_ends.h"

#define TABLE 64

static struct session_end got[TABLE];

static void note(uint64_t id, const char *peer)
{
	struct session_end s = { .id = id };
	snprintf(s.peer, sizeof s.peer, "%s", peer);
	session_end_note(&s);
}

static bool has(unsigned n, uint64_t id)
{
	for (unsigned i = 0; i < n; i++)
		if (got[i].id == id)
			return true;
	return false;
}

static void the_newest_is_first(void **state)
{
	note(1, "10.0.0.1:1");
	note(2, "10.0.0.1:2");
	assert_int_equal(sessions_ended(got, TABLE), 2);
	assert_int_equal(got[0].id, 2);
	assert_int_equal(sessions_ended(got, 1), 1);
	assert_int_equal(got[0].id, 2);
}

static void a_crowd_displaces_its_own_oldest(void **state)
{
	note(3, "[fe80::1]:1");
	for (unsigned i = 0; i < 1000; i++)
		note(1000 + i, i % 2 ? "10.9.9.9:1" : "10.9.9.9:2");
	unsigned n = sessions_ended(got, TABLE);
	assert_int_equal(n, TABLE);
	assert_true(has(n, 1) && has(n, 2) && has(n, 3));
	assert_int_equal(got[0].id, 1999);
	assert_true(has(n, 1999 - TABLE + 4));
	assert_false(has(n, 1999 - TABLE + 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_is_first),
		cmocka_unit_test(a_crowd_displaces_its_own_oldest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
