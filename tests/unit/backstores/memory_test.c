// SPDX-License-Identifier: BSD-2-Clause
// What cgroups allow: the least of all above, with as much swap as there is and they let in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "backstores/memory.h"

static char root[64];

static void put(const char *path, const char *text)
{
	char file[128];
	snprintf(file, sizeof file, "%s%s", root, path);
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	char folder[80];
	snprintf(root, sizeof root, "/tmp/farblock-cgroup.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(folder, sizeof folder, "%s/a", root);
	int failed = mkdir(folder, 0700);
	snprintf(folder, sizeof folder, "%s/a/b", root);
	return failed | mkdir(folder, 0700);
}

static int teardown(void **state)
{
	static const char *const all[] = {
		"/a/b/memory.max", "/a/b/memory.swap.max", "/a/memory.max", "/a/b", "/a", ""
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		char path[128];
		snprintf(path, sizeof path, "%s%s", root, all[i]);
		remove(path);
	}
	return 0;
}

static void without_files_nothing_is_limited(void **state)
{
	assert_true(memory_of_cgroup(root, "/a/b", 5) == UINT64_MAX);
	assert_true(memory_of_cgroup("/nonexistent", "", 0) == UINT64_MAX);
}

static void max_limits_nothing(void **state)
{
	put("/a/b/memory.max", "max\n");
	assert_true(memory_of_cgroup(root, "/a/b", 5) == UINT64_MAX);
}

static void the_least_of_all_above_counts(void **state)
{
	put("/a/b/memory.max", "3000\n");
	assert_int_equal(memory_of_cgroup(root, "/a/b", 0), 3000);
	put("/a/memory.max", "2000\n");
	assert_int_equal(memory_of_cgroup(root, "/a/b", 0), 2000);
}

static void swap_counts_as_far_as_it_is_let_in(void **state)
{
	put("/a/b/memory.max", "3000\n");
	assert_int_equal(memory_of_cgroup(root, "/a/b", 500), 3500);
	put("/a/b/memory.swap.max", "100\n");
	assert_int_equal(memory_of_cgroup(root, "/a/b", 500), 3100);
	put("/a/b/memory.swap.max", "max\n");
	assert_int_equal(memory_of_cgroup(root, "/a/b", 500), 3500);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(without_files_nothing_is_limited),
		T(max_limits_nothing),
		T(the_least_of_all_above_counts),
		T(swap_counts_as_far_as_it_is_let_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
