// SPDX-License-Identifier: BSD-2-Clause
// Who uses a block device: what can be told without one of one's own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/attach/use.h"

static void what_is_no_block_device_is_named(void **state)
{
	struct err e;

	assert_int_equal(use_check("/dev/null", &e), -ENOTBLK);
	assert_string_equal(e.text, "/dev/null: not a block device");
}

static void a_missing_device_is_an_error(void **state)
{
	struct err e;

	assert_int_equal(use_check("/dev/farblock-none", &e), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_block_device_is_named),
		cmocka_unit_test(a_missing_device_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
