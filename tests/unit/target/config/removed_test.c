// SPDX-License-Identifier: BSD-2-Clause
// A file that is removed or replaced while it is served.
#include <fcntl.h>

#include "target/config/config_bench.h"

#define DISK "/backstores/fileio/f0"

static char path[128], last[400];
static unsigned lines;

static void count_line(void *arg, enum log_level level, const char *line)
{
	lines++;
	snprintf(last, sizeof last, "%s", line);
}

static void look(void *arg)
{
	config->storage->look.fn(&config->storage->look);
}

// As the timer does, twice.
static void look_twice(void)
{
	lines = 0;
	log_set_sink(count_line, NULL);
	log_threshold = LOG_LVL_INFO;
	worker_call(control, look, NULL);
	worker_call(control, look, NULL);
	log_threshold = LOG_LVL_ERROR;
	log_set_sink(NULL, NULL);
}

static int setup_disk(void **state)
{
	char values[200];
	if (setup(state))
		return -1;
	snprintf(path, sizeof path, "%s/f0.img", dir);
	snprintf(values, sizeof values, "[\"f0\", \"%s\", \"1M\"]", path);
	return run("/backstores/fileio", "create", values);
}

static void a_file_that_is_removed_is_shown_and_logged_once(void **state)
{
	look_twice();
	assert_int_equal(lines, 0);
	assert_null(strstr(summary(DISK), "removed"));
	assert_int_equal(unlink(path), 0);
	look_twice();
	assert_int_equal(lines, 1);
	assert_non_null(strstr(last, path));
	assert_non_null(strstr(last, "was removed while in use"));
	assert_non_null(strstr(summary(DISK), ", its file was removed while in use"));
	assert_string_equal(json_text(reply.data, "backing"), "removed");
}

static void a_file_that_is_replaced_is_shown(void **state)
{
	assert_int_equal(unlink(path), 0);
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	look_twice();
	assert_int_equal(lines, 1);
	assert_non_null(strstr(summary(DISK), ", its file was replaced while in use"));
}

static void a_file_that_comes_back_is_fine(void **state)
{
	char other[140];
	snprintf(other, sizeof other, "%s.other", path);
	assert_int_equal(rename(path, other), 0);
	look_twice();
	assert_non_null(strstr(summary(DISK), "removed"));
	assert_int_equal(rename(other, path), 0);
	look_twice();
	assert_int_equal(lines, 1);
	assert_null(strstr(summary(DISK), "removed"));
}

#define D(f) cmocka_unit_test_setup_teardown(f, setup_disk, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		D(a_file_that_is_removed_is_shown_and_logged_once),
		D(a_file_that_is_replaced_is_shown),
		D(a_file_that_comes_back_is_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
