// SPDX-License-Identifier: BSD-2-Clause
// cli/edit/prompt.c: how long a path in the prompt is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/edit/prompt.h"

static void expect(const char *path, size_t most, const char *wanted)
{
	char *text = prompt_path(path, most);
	assert_string_equal(text, wanted);
	free(text);
}

#define LONG "/iscsi/iqn.2025-01.org.example:disk1/tpg1"

static void a_long_path_loses_its_middle(void **state)
{
	expect(LONG, 30, "/iscsi/iqn.20...le:disk1/tpg1");
	expect(LONG, 11, "/isc...tpg1");
}

static void a_path_that_fits_is_whole(void **state)
{
	expect(LONG, 41, LONG);
	expect(LONG, 40, "/iscsi/iqn.2025-01...example:disk1/tpg1");
	expect(LONG, 0, LONG);
	expect("/", 1, "/");
}

static void next_to_no_room_is_dots(void **state)
{
	expect(LONG, 1, "...");
	expect(LONG, 4, "...");
	expect(LONG, 5, "/...1");
}

static void characters_stay_whole(void **state)
{
	expect("/\xc3\xa4\xc3\xb6\xc3\xbc", 4, "/\xc3\xa4\xc3\xb6\xc3\xbc");
	expect("/\xc3\xa4/bcdefgh\xc3\xb6\xc3\xbc", 8, "/\xc3\xa4...\xc3\xb6\xc3\xbc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_path_loses_its_middle),
		cmocka_unit_test(a_path_that_fits_is_whole),
		cmocka_unit_test(next_to_no_room_is_dots),
		cmocka_unit_test(characters_stay_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
