// SPDX-License-Identifier: BSD-2-Clause
// target/metrics/text.c: the text format.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "target/metrics/text.h"

static char *text;
static size_t size;
static FILE *out;

static void begin(void)
{
	free(text);
	out = open_memstream(&text, &size);
}

static const struct family gauge = { "g", "gauge", NULL, "Help." };

static void is_written_as(const char *value, const char *expected)
{
	const struct label labels[] = {
		{"l", value },
		{ 0 },
	};
	begin();
	metric_number(out, &gauge, labels, 1);
	fclose(out);
	assert_string_equal(text, expected);
}

static void labels_are_escaped(void **state)
{
	is_written_as("a\"b\\c\nd", "g{l=\"a\\\"b\\\\c\\nd\"} 1\n");
	is_written_as("", "g{l=\"\"} 1\n");
}

#define UNKNOWN "\xef\xbf\xbd"

// What goes out and comes back as 0.0.4.
static void is_plainly(const char *rich, const char *expected)
{
	size_t len;
	char *plain = metrics_plain(rich, &len);
	assert_string_equal(plain, expected);
	assert_int_equal(len, strlen(expected));
	free(plain);
}

static void plain_text_calls_families_as_their_samples(void **state)
{
	is_plainly("# TYPE a_bytes counter\n# UNIT a_bytes bytes\n# HELP a_bytes So many.\n"
		   "a_bytes_total{l=\"# TYPE \"} 1\n# EOF\n",
		   "# TYPE a_bytes_total counter\n# HELP a_bytes_total So many.\n"
		   "a_bytes_total{l=\"# TYPE \"} 1\n");
	is_plainly(
		"# TYPE b info\n# HELP b B.\nb_info 1\n# TYPE c gauge\n# HELP c C.\nc 1\n# EOF\n",
		"# TYPE b_info gauge\n# HELP b_info B.\nb_info 1\n"
		"# TYPE c gauge\n# HELP c C.\nc 1\n");
	is_plainly("# EOF\n", "");
}

static void labels_are_utf8_whatever_they_were(void **state)
{
	is_written_as("h\xc3\xa9 \xf0\x9f\x98\x80", "g{l=\"h\xc3\xa9 \xf0\x9f\x98\x80\"} 1\n");
	is_written_as("\xff", "g{l=\"" UNKNOWN "\"} 1\n");
	is_written_as("\xc3", "g{l=\"" UNKNOWN "\"} 1\n");
	is_written_as("\xc0\x80", "g{l=\"" UNKNOWN UNKNOWN "\"} 1\n");
	is_written_as("\xed\xa0\x80", "g{l=\"" UNKNOWN UNKNOWN UNKNOWN "\"} 1\n");
	is_written_as("\xf0\x9f\"", "g{l=\"" UNKNOWN UNKNOWN "\\\"\"} 1\n");
}

static void a_family_says_type_unit_and_help(void **state)
{
	static const struct family f = { "x_bytes", "counter", "bytes", "So\nmany." };
	begin();
	metric_family(out, &f);
	metric_number(out, &f, NULL, UINT64_MAX);
	metric_end(out);
	fclose(out);
	assert_string_equal(text, "# TYPE x_bytes counter\n# UNIT x_bytes bytes\n"
				  "# HELP x_bytes So\\nmany.\n"
				  "x_bytes_total 18446744073709551615\n# EOF\n");
}

static void fractions_are_exact(void **state)
{
	static const struct family f = { "t_seconds", "counter", "seconds", "T." };
	begin();
	metric_fraction(out, &f, NULL, UINT64_C(12345678901234567), 1000000000);
	metric_fraction(out, &f, NULL, 5, 1000000000);
	fclose(out);
	assert_string_equal(text, "t_seconds_total 12345678.901234567\n"
				  "t_seconds_total 0.000000005\n");
}

static void histograms_count_up_to_infinity(void **state)
{
	static const struct family f = { "d_seconds", "histogram", "seconds", "D." };
	static const uint64_t buckets[] = { 1, 0, 2, 4 };
	static const struct label labels[] = {
		{"op", "read" },
		{ 0  },
	};
	begin();
	metric_histogram(out, &f, labels, buckets, 4, 1500000);
	fclose(out);
	assert_string_equal(text, "d_seconds_bucket{op=\"read\",le=\"1e-06\"} 1\n"
				  "d_seconds_bucket{op=\"read\",le=\"2e-06\"} 1\n"
				  "d_seconds_bucket{op=\"read\",le=\"4e-06\"} 3\n"
				  "d_seconds_bucket{op=\"read\",le=\"+Inf\"} 7\n"
				  "d_seconds_count{op=\"read\"} 7\n"
				  "d_seconds_sum{op=\"read\"} 1.500000\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_escaped),
		cmocka_unit_test(plain_text_calls_families_as_their_samples),
		cmocka_unit_test(labels_are_utf8_whatever_they_were),
		cmocka_unit_test(a_family_says_type_unit_and_help),
		cmocka_unit_test(fractions_are_exact),
		cmocka_unit_test(histograms_count_up_to_infinity),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(text);
	return failed;
}
