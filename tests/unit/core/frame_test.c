// SPDX-License-Identifier: BSD-2-Clause
// core/frame.c: lines out of whatever pieces arrive.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/frame.h"

enum { LINE_MAX_BYTES = 4 << 20 };

static void feed(struct frame *f, const char *text, size_t len)
{
	char *at;
	size_t room;
	assert_int_equal(frame_room(f, &at, &room), 0);
	assert_true(room >= len);
	memcpy(at, text, len);
	frame_filled(f, len);
}

static void a_line_in_pieces_is_whole_at_its_newline(void **state)
{
	static const char text[] = "{\"a\": 1}\n";
	struct frame f = { .max = LINE_MAX_BYTES };
	size_t len;
	for (size_t i = 0; i + 1 < sizeof text - 1; i++) {
		feed(&f, text + i, 1);
		assert_null(frame_next(&f, &len));
		assert_true(frame_is_partial(&f));
	}
	feed(&f, "\n", 1);
	assert_string_equal(frame_next(&f, &len), "{\"a\": 1}");
	assert_int_equal(len, 8);
	assert_false(frame_is_partial(&f));
	frame_done(&f);
}

static void many_lines_at_once_come_one_by_one(void **state)
{
	struct frame f = { .max = LINE_MAX_BYTES };
	size_t len;
	feed(&f, "a\n\nbc\nd", 7);
	assert_string_equal(frame_next(&f, &len), "a");
	assert_string_equal(frame_next(&f, &len), "");
	assert_string_equal(frame_next(&f, &len), "bc");
	assert_null(frame_next(&f, &len));
	feed(&f, "e\n", 2);
	assert_string_equal(frame_next(&f, &len), "de");
	frame_done(&f);
}

static void a_line_without_end_is_refused(void **state)
{
	struct frame f = { .max = LINE_MAX_BYTES };
	char *at;
	size_t room, sum = 0, len;
	int r;
	while (!(r = frame_room(&f, &at, &room)) && sum < 3u * LINE_MAX_BYTES) {
		memset(at, 'x', room);
		frame_filled(&f, room);
		sum += room;
		assert_null(frame_next(&f, &len));
	}
	assert_int_equal(r, -EMSGSIZE);
	frame_done(&f);
}

static void an_empty_frame_has_no_line(void **state)
{
	struct frame f = { .max = LINE_MAX_BYTES };
	size_t len;
	assert_null(frame_next(&f, &len));
	assert_false(frame_is_partial(&f));
	frame_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_in_pieces_is_whole_at_its_newline),
		cmocka_unit_test(many_lines_at_once_come_one_by_one),
		cmocka_unit_test(a_line_without_end_is_refused),
		cmocka_unit_test(an_empty_frame_has_no_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
