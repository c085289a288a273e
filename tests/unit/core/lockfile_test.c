// SPDX-License-Identifier: BSD-2-Clause
// core/lockfile.c: one at a time, and folders on the way.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/lockfile.h"

static char dir[32], path[64];

static const char *in_dir(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static int setup(void **state)
{
	snprintf(dir, sizeof dir, "/tmp/lockfile-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const folders[] = { "a/b/c", "a/b", "a" };
	unlink(in_dir("lock"));
	unlink(in_dir("file"));
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		rmdir(in_dir(folders[i]));
	return rmdir(dir);
}

static void a_lock_has_one_holder_at_a_time(void **state)
{
	struct err e = { 0 };
	int first, second;
	assert_int_equal(lockfile_take(in_dir("lock"), &first, &e), 0);
	assert_int_equal(lockfile_take(in_dir("lock"), &second, &e), -EADDRINUSE);
	close(first);
	assert_int_equal(lockfile_take(in_dir("lock"), &second, &e), 0);
	close(second);
}

static void the_holder_of_a_lock_is_told(void **state)
{
	struct err e = { 0 };
	int fd;
	pid_t pid;
	assert_false(lockfile_is_held(in_dir("lock"), &pid));
	assert_int_equal(lockfile_take(in_dir("lock"), &fd, &e), 0);
	assert_true(lockfile_is_held(in_dir("lock"), &pid));
	assert_true(pid == getpid() || !pid); // 0: a file system whose numbers /proc/locks has not
	close(fd);
	assert_false(lockfile_is_held(in_dir("lock"), &pid));
	assert_int_equal(pid, 0);
}

static void a_lock_without_its_folder_says_so(void **state)
{
	struct err e = { 0 };
	int fd;
	assert_int_equal(lockfile_take(in_dir("none/lock"), &fd, &e), -ENOENT);
	assert_non_null(strstr(e.text, "No such file"));
}

static void folders_on_the_way_are_made(void **state)
{
	struct err e = { 0 };
	struct stat st;
	assert_int_equal(folder_make(in_dir("a/b"), 0700, &e), 0);
	assert_int_equal(folder_make(in_dir("a/b"), 0700, &e), 0);
	assert_int_equal(folder_make_for(in_dir("a/b/c/file"), 0700, &e), 0);
	assert_int_equal(stat(in_dir("a/b/c"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(folder_make_for("file", 0700, &e), 0);
	assert_int_equal(folder_make_for("/file", 0700, &e), 0);
}

static void a_file_in_the_way_is_told(void **state)
{
	struct err e = { 0 };
	fclose(fopen(in_dir("file"), "w"));
	assert_int_equal(folder_make(in_dir("file"), 0700, &e), -ENOTDIR);
	assert_int_equal(folder_make(in_dir("file/x"), 0700, &e), -ENOTDIR);
	assert_int_equal(folder_make_for(in_dir("file/x"), 0700, &e), -ENOTDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lock_has_one_holder_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(the_holder_of_a_lock_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lock_without_its_folder_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(folders_on_the_way_are_made, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_in_the_way_is_told, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
