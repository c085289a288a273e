// SPDX-License-Identifier: BSD-2-Clause
// Which carrier is chosen without --via. What this machine has is not known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/attach/carrier.h"

static void a_root_disk_has_a_carrier_that_can_recover(void **state)
{
	struct err e;
	const struct carrier_ops *via = carrier_choose(true, &e);

	if (via) {
		assert_true(via->can_recover);
		return;
	}
	assert_int_equal(e.code, -ENODEV);
	assert_non_null(strstr(e.text, "no way to make a root disk: "));
	assert_non_null(strstr(e.text, "nbd"));
	assert_null(strstr(e.text, "fuse"));
	assert_null(strstr(e.text, "--via socket"));
}

static void another_disk_has_the_first_carrier(void **state)
{
	struct err e;
	const struct carrier_ops *root = carrier_choose(true, NULL);
	const struct carrier_ops *via = carrier_choose(false, &e);

	if (root)
		assert_ptr_equal(via, root);
	else if (via)
		assert_false(via->can_recover);
	else
		assert_non_null(strstr(e.text, "--via socket works for any user"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_root_disk_has_a_carrier_that_can_recover),
		cmocka_unit_test(another_disk_has_the_first_carrier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
