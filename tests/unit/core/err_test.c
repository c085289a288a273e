// SPDX-License-Identifier: BSD-2-Clause
// An error's text, whatever it quotes, is one line of UTF-8 within its buffer.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/err.h"
#include "core/utf8.h"

static void what_it_quotes_cannot_move_a_cursor(void **state)
{
	struct err e;
	assert_int_equal(err_set(&e, -EINVAL, "%s: no", "a\033[2J\xc2\x9b\nb"), -EINVAL);
	assert_string_equal(e.text, "a?[2J???b: no");
}

// Names of two bytes a letter, at every offset.
static void a_text_that_is_cut_stays_utf8(void **state)
{
	char name[2 * sizeof(((struct err *)0)->text) + 1];
	for (size_t i = 0; i + 1 < sizeof name; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	name[sizeof name - 1] = 0;
	for (int pad = 0; pad < 2; pad++) {
		struct err e;
		err_errno(&e, -ENOENT, "%.*s%s", pad, "x", name);
		assert_true(utf8_is_fine(e.text));
		err_prefix(&e, "%s", name);
		assert_true(utf8_is_fine(e.text));
		assert_int_equal(strlen(e.text), sizeof e.text - 1);
	}
}

static void the_cause_stands_behind_it(void **state)
{
	struct err e;
	err_errno(&e, -ENOENT, "disk %s: open", "d0");
	err_prefix(&e, "lun 3");
	assert_string_equal(e.text, "lun 3: disk d0: open: No such file or directory");
	assert_int_equal(e.code, -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_quotes_cannot_move_a_cursor),
		cmocka_unit_test(a_text_that_is_cut_stays_utf8),
		cmocka_unit_test(the_cause_stands_behind_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
