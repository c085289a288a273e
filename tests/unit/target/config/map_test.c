// SPDX-License-Identifier: BSD-2-Clause
// target/config/map.c: objects by scope and name.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "target/config/tree/map.h"

enum { MANY = 5000 };
static char names[MANY][12];
static int scopes[2];

static void fill(struct map *m)
{
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof names[i], "lun%d", i);
		assert_int_equal(map_put(m, scopes, names[i], names[i]), 0);
	}
}

static void every_object_is_found_again(void **state)
{
	struct map m = { 0 };
	fill(&m);
	for (int i = 0; i < MANY; i++)
		assert_ptr_equal(map_get(&m, scopes, names[i]), names[i]);
	map_done(&m);
}

static void scopes_are_apart(void **state)
{
	struct map m = { 0 };
	assert_int_equal(map_put(&m, &scopes[0], "a", &scopes[0]), 0);
	assert_null(map_get(&m, &scopes[1], "a"));
	assert_int_equal(map_put(&m, &scopes[1], "a", &scopes[1]), 0);
	assert_ptr_equal(map_get(&m, &scopes[0], "a"), &scopes[0]);
	map_done(&m);
}

static void a_taken_name_is_refused(void **state)
{
	struct map m = { 0 };
	assert_int_equal(map_put(&m, scopes, "a", names), 0);
	assert_int_equal(map_put(&m, scopes, "a", names), -EEXIST);
	map_done(&m);
}

static void removed_objects_are_gone_and_the_rest_stays(void **state)
{
	struct map m = { 0 };
	fill(&m);
	for (int i = 0; i < MANY; i += 2)
		map_remove(&m, scopes, names[i]);
	for (int i = 0; i < MANY; i++)
		assert_true(map_get(&m, scopes, names[i]) == (i % 2 ? names[i] : NULL));
	assert_int_equal(m.count, MANY / 2);
	map_done(&m);
}

static void coming_and_going_does_not_fill_the_table(void **state)
{
	struct map m = { 0 };
	for (int i = 0; i < 100000; i++) {
		assert_int_equal(map_put(&m, scopes, "x", names), 0);
		map_remove(&m, scopes, "x");
	}
	assert_true(m.size <= 128);
	map_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_object_is_found_again),
		cmocka_unit_test(scopes_are_apart),
		cmocka_unit_test(a_taken_name_is_refused),
		cmocka_unit_test(removed_objects_are_gone_and_the_rest_stays),
		cmocka_unit_test(coming_and_going_does_not_fill_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
