// SPDX-License-Identifier: BSD-2-Clause
// What a line of progress shows, and what it leaves out where there is no room.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/tool/progress_line.h"

#define GIB (1ull << 30)

static const struct progress_state half = {
	.what = "write", .total = 4 * GIB, .done = 2 * GIB, .rate = 5e8, .seconds = 4
};

static void is_line(const struct progress_state *s, unsigned columns, const char *expected)
{
	char text[PROGRESS_LINE_MAX];
	progress_line(s, columns, text);
	assert_string_equal(text, expected);
}

static void a_wide_terminal_has_all(void **state)
{
	is_line(&half, 100,
		"write [####################--------------------]   50%  2.0GiB of 4.0GiB  "
		"500.0 MB/s  0:04 left");
	is_line(&half, 80,
		"write [##########----------]   50%  2.0GiB of 4.0GiB  500.0 MB/s  0:04 left");
}

static void a_narrow_one_has_what_matters(void **state)
{
	is_line(&half, 60, "write   50%  2.0GiB of 4.0GiB  500.0 MB/s  0:04 left");
	is_line(&half, 40, "write   50%  500.0 MB/s  0:04 left");
	is_line(&half, 30, "write  500.0 MB/s  0:04 left");
	is_line(&half, 20, "write  0:04 left");
	is_line(&half, 10, "write");
	is_line(&half, 4, "wri");
}

static void no_width_is_exceeded(void **state)
{
	struct progress_state s = half;
	char text[PROGRESS_LINE_MAX];
	strcpy(s.note, "12345678 IOPS  98765.4 MB/s  p99 123456.7 us");
	for (unsigned columns = 1; columns < 400; columns++) {
		progress_line(&s, columns, text);
		assert_true(strlen(text) < columns);
	}
}

static void a_line_of_a_file_has_no_bar(void **state)
{
	is_line(&half, 0, "write:  50%  2.0GiB of 4.0GiB  500.0 MB/s  0:04 left");
}

static void without_a_total_there_is_a_time(void **state)
{
	const struct progress_state s = {
		.what = "write", .done = GIB, .rate = 1e9, .seconds = 3725
	};
	is_line(&s, 80, "write  1.0GiB  1000.0 MB/s  1:02:05");
}

static void what_stands_says_so(void **state)
{
	struct progress_state s = half;
	s.stalled = 7;
	s.rate = 0;
	is_line(&s, 0, "write:  50%  2.0GiB of 4.0GiB  0.0 MB/s  stalled for 0:07");
}

static void a_time_has_no_bytes(void **state)
{
	const struct progress_state s = { .what = "bench",
					  .is_time = true,
					  .total = 10000000000,
					  .done = 4000000000,
					  .note = "100 IOPS" };
	is_line(&s, 0, "bench:  40%  4 of 10 s  100 IOPS  0:06 left");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wide_terminal_has_all),
		cmocka_unit_test(a_narrow_one_has_what_matters),
		cmocka_unit_test(no_width_is_exceeded),
		cmocka_unit_test(a_line_of_a_file_has_no_bar),
		cmocka_unit_test(without_a_total_there_is_a_time),
		cmocka_unit_test(what_stands_says_so),
		cmocka_unit_test(a_time_has_no_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
