// SPDX-License-Identifier: BSD-2-Clause
// Storage that cannot be opened: how soon it is tried again.
#include <fcntl.h>

#include "target/config/config_bench.h"

enum { ROUNDS = 9 };
static uint64_t delays[ROUNDS];

// Everything within one call, so that no timer runs in between.
static void load_and_retry(void *arg)
{
	assert_int_equal(config_load(config, &error), 0);
	for (int i = 0; i < ROUNDS; i++) {
		delays[i] = config->storage->retry_usec;
		timer_cancel(control, &config->storage->retry);
		storage_retry(&config->storage->retry);
	}
}

static void write_disk(const char *path)
{
	char text[400];
	snprintf(
		text, sizeof text,
		"{\"storage_objects\": [{\"plugin\": \"fileio\", \"name\": \"f0\", \"dev\": \"%s\","
		" \"size\": 1048576}]}",
		path);
	write_saved(text);
}

static int make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	return fd;
}

static void a_file_that_is_held_is_tried_again_at_once_and_then_less_often(void **state)
{
	static const uint64_t expected[ROUNDS] = { 20000,  40000,   80000,   160000, 320000,
						   640000, 1280000, 2560000, 5120000 };
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[128];
	snprintf(path, sizeof path, "%s/f0.img", dir);
	int fd = make_file(path);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &whole), 0);
	write_disk(path);
	worker_call(control, load_and_retry, NULL);
	assert_memory_equal(delays, expected, sizeof expected);
	assert_non_null(strstr(summary("/backstores/fileio/f0"), "locked by another program"));
	close(fd);
	assert_int_equal(run("/", "refresh", NULL), 0);
	while (strstr(summary("/backstores/fileio/f0"), "waiting"))
		;
}

static void a_file_that_is_missing_is_looked_for_every_second_and_then_less_often(void **state)
{
	static const uint64_t expected[ROUNDS] = { 1000000,  2000000,  4000000,	 8000000, 16000000,
						   16000000, 16000000, 16000000, 16000000 };
	char path[128];
	snprintf(path, sizeof path, "%s/missing/f0.img", dir);
	write_disk(path);
	worker_call(control, load_and_retry, NULL);
	assert_memory_equal(delays, expected, sizeof expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_that_is_held_is_tried_again_at_once_and_then_less_often),
		T(a_file_that_is_missing_is_looked_for_every_second_and_then_less_often),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
