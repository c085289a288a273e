// SPDX-License-Identifier: BSD-2-Clause
// The transmission flags of a disk.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "initiator/attach/nbd_flags.h"

static void flags_follow_what_the_disk_can(void **state)
{
	struct disk_facts f = { .blocks = 1, .block_size = 512 };

	assert_int_equal(nbd_flags_of(&f), 1);
	f.has_fua = true;
	assert_int_equal(nbd_flags_of(&f), 1);
	f.has_write_cache = true;
	f.unmap_max = f.zeroes_max = 4096;
	assert_int_equal(nbd_flags_of(&f), 1 | 4 | 8 | 32 | 64);
	f.is_read_only = f.is_rotational = true;
	assert_int_equal(nbd_flags_of(&f), 1 | 2 | 4 | 8 | 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_follow_what_the_disk_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
