// SPDX-License-Identifier: BSD-2-Clause
// Descriptors by purpose: each kind stops below the next one's mark.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/fds.h"

static void limit_to(rlim_t soft, rlim_t hard)
{
	struct rlimit l = { .rlim_cur = soft, .rlim_max = hard };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &l), 0);
	fds_init();
}

static void the_soft_limit_becomes_the_hard_one(void **state)
{
	limit_to(64, 512);
	struct rlimit l;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &l), 0);
	assert_int_equal(l.rlim_cur, 512);
	assert_int_equal(fds_limit(), 512);
}

static void marks_leave_room_above_them(void **state)
{
	limit_to(256, 256);
	assert_int_equal(fds_mark(FDS_STORAGE), 256 - 32);
	assert_int_equal(fds_mark(FDS_CONNECTIONS), 256 - 64);
}

static void room_ends_at_the_mark(void **state)
{
	int used[64], n = 0;
	limit_to(64, 64);
	unsigned before = fds_in_use();
	while (fds_have_room(FDS_CONNECTIONS))
		used[n++] = dup(STDERR_FILENO);
	assert_int_equal(fds_in_use(), fds_mark(FDS_CONNECTIONS));
	assert_true(fds_have_room(FDS_STORAGE));
	while (fds_have_room(FDS_STORAGE))
		used[n++] = dup(STDERR_FILENO);
	assert_int_equal(fds_in_use(), fds_mark(FDS_STORAGE));
	while (n)
		close(used[--n]);
	assert_int_equal(fds_in_use(), before);
}

int main(void)
{
	// Each lowers the limit further: the hard one cannot be raised again without rights.
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_soft_limit_becomes_the_hard_one),
		cmocka_unit_test(marks_leave_room_above_them),
		cmocka_unit_test(room_ends_at_the_mark),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
