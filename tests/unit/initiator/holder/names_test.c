// SPDX-License-Identifier: BSD-2-Clause
// Names of attachments, their files, and requests on their sockets.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/holder/control.h"
#include "initiator/holder/holder.h"

static void a_name_is_that_of_a_file(void **state)
{
	static const char *const good[] = { "a", "disk0", "iqn.2025-01.org:x_1" };
	static const char *const bad[] = { "",	  ".",	 "..",	".a",	   "-a",
					   "a/b", "a b", "a\n", "\xc3\xa4" };
	char name[HOLDER_NAME_MAX + 2];
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(holder_name_is_valid(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(holder_name_is_valid(bad[i]));
	memset(name, 'a', sizeof name);
	name[HOLDER_NAME_MAX] = 0;
	assert_true(holder_name_is_valid(name));
	name[HOLDER_NAME_MAX] = 'a';
	name[HOLDER_NAME_MAX + 1] = 0;
	assert_false(holder_name_is_valid(name));
}

static void files_are_in_the_run_directory(void **state)
{
	struct holder_files f;
	struct err e;
	char dir[101];
	assert_int_equal(holder_files(&f, "/run/x", "disk", &e), 0);
	assert_string_equal(f.state, "/run/x/disk.json");
	assert_string_equal(f.socket, "/run/x/disk.sock");
	assert_int_equal(holder_files(&f, "/run/x", "../disk", &e), -EINVAL);
	memset(dir, 'a', sizeof dir);
	dir[100] = 0; // with "/d.sock" it is 107 bytes, the most that an address has room for
	assert_int_equal(holder_files(&f, dir, "d", &e), 0);
	assert_int_equal(holder_files(&f, dir, "dd", &e), -ENAMETOOLONG);
}

static void requests_are_whole_words(void **state)
{
	static const char *const bad[] = { "status", "status\n\n", "Status\n",
					   "",	     "\n",	   "detach force" };
	assert_int_equal(control_parse("status\n", 7), HOLDER_STATUS);
	assert_int_equal(control_parse("detach\n", 7), HOLDER_DETACH);
	assert_int_equal(control_parse("detach force\n", 13), HOLDER_DETACH_FORCE);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(control_parse(bad[i], (unsigned)strlen(bad[i])), -EINVAL);
	assert_int_equal(control_parse("status\n\0", 8), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_that_of_a_file),
		cmocka_unit_test(files_are_in_the_run_directory),
		cmocka_unit_test(requests_are_whole_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
