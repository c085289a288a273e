// SPDX-License-Identifier: BSD-2-Clause
// Exit statuses: each has one row, and errors have those of iscsiadm.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "initiator/tool/status.h"

static void each_status_has_one_row_in_order(void **state)
{
	for (const struct tool_status_row *r = tool_status_rows; r[1].meaning; r++)
		assert_true(r[0].status < r[1].status);
}

static void every_error_has_a_status_with_a_row(void **state)
{
	for (int code = 1; code < 200; code++) {
		struct err e = { .code = -code };
		int status = tool_status_of(&e);
		const struct tool_status_row *r = tool_status_rows;
		while (r->meaning && r->status != status)
			r++;
		assert_non_null(r->meaning);
		assert_int_not_equal(status, TOOL_OK);
	}
}

static void errors_have_the_statuses_of_iscsiadm(void **state)
{
	static const struct {
		int code, status;
	} rows[] = {
		{-ENOMEM,	   3 },
		 { -ECONNREFUSED, 4 },
		       { -ECONNABORTED, 5 },
		     { -ETIMEDOUT,	   8 },
		{ -EACCES,	   13},
		 { -EEXIST,	    15},
		       { -ENXIO,	 19},
		     { -EKEYREJECTED, 24},
		{ -EBUSY,	  28},
		 { -EXDEV,	   1 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err e = { .code = rows[i].code };
		assert_int_equal(tool_status_of(&e), rows[i].status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_status_has_one_row_in_order),
		cmocka_unit_test(every_error_has_a_status_with_a_row),
		cmocka_unit_test(errors_have_the_statuses_of_iscsiadm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
