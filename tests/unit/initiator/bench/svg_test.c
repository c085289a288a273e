// SPDX-License-Identifier: BSD-2-Clause
// The picture of a run: axes, texts, and runs without a command or a whole second.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/bench/svg.h"

static char *drawn(const struct svg_run *run)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	assert_non_null(f);
	svg_write(f, run);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void a_quarter_of_an_axis_has_at_most_two_digits(void **state)
{
	assert_true(svg_axis_end(0) == 1);
	assert_true(svg_axis_end(1) == 1);
	assert_true(svg_axis_end(1.3) == 1.6);
	assert_true(svg_axis_end(2100) == 2400);
	assert_true(svg_axis_end(81) == 100);
}

static void a_picture_has_both_charts_with_their_units(void **state)
{
	struct histogram reads = { 0 }, writes = { 0 };
	struct load_second seconds[] = {
		{1000,	0, 50},
		 { 2000, 0, 60}
	};
	histogram_add(&reads, 50000);
	struct svg_run run = { "a", 4096, seconds, 2, &reads, &writes };
	char *text = drawn(&run);
	assert_non_null(strstr(text, "time (s)"));
	assert_non_null(strstr(text, "throughput (MB/s)"));
	assert_non_null(strstr(text, "latency (logarithmic)"));
	assert_non_null(strstr(text, "share of the commands (%)"));
	assert_non_null(strstr(text, ">reads<"));
	assert_non_null(strstr(text, ">p50 "));
	assert_non_null(strstr(text, ">p99.9 "));
	assert_null(strstr(text, ">writes<"));
	free(text);
}

static void a_run_without_commands_has_no_figure_that_is_not_a_number(void **state)
{
	struct histogram none = { 0 };
	struct svg_run run = { "a", 512, NULL, 0, &none, &none };
	char *text = drawn(&run);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	assert_non_null(strstr(text, "</svg>"));
	free(text);
}

static void the_title_is_escaped(void **state)
{
	struct histogram none = { 0 };
	struct svg_run run = { "<b>&\"\x01\xff", 512, NULL, 0, &none, &none };
	char *text = drawn(&run);
	assert_non_null(strstr(text, ">&#60;b&#62;&#38;&#34;&#63;&#255;<"));
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quarter_of_an_axis_has_at_most_two_digits),
		cmocka_unit_test(a_picture_has_both_charts_with_their_units),
		cmocka_unit_test(a_run_without_commands_has_no_figure_that_is_not_a_number),
		cmocka_unit_test(the_title_is_escaped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
