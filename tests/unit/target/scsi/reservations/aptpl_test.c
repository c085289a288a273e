// SPDX-License-Identifier: BSD-2-Clause
// APTPL: what survives a restart, what a kill or a failing disk leaves behind, damaged files.
// fsync() and renameat() are wrapped here, so that a step can be the last one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log.h"
#include "target/scsi/reservations/aptpl.h"
#include "target/scsi/reservations/pr_bench.h"
#include "target/scsi/state_file.h"

static char dir[64];
static int steps_left = -1; // -1: no limit
static bool fails;	    // at the limit: fail instead of dying

// False: this step is to fail.
static bool step(void)
{
	if (steps_left < 0 || steps_left-- > 0)
		return true;
	if (!fails)
		_exit(42);
	steps_left = 0;
	errno = EIO;
	return false;
}

int fsync(int fd)
{
	static int (*real)(int);
	if (!real)
		real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	return step() ? real(fd) : -1;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	static int (*real)(int, const char *, int, const char *);
	if (!real)
		real = (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
	return step() ? real(from_dir, from, to_dir, to) : -1;
}

static void quiet(void *arg, enum log_level level, const char *line)
{
}

static void start(void)
{
	bench_init(&b, &(struct bench_options){ .workers = 2, .nexuses = 2, .state_dir = dir });
}

static void restart(void)
{
	bench_done(&b);
	start();
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/pr_store_XXXXXX");
	steps_left = -1;
	fails = false;
	log_set_sink(quiet, NULL);
	return !mkdtemp(dir);
}

static int teardown(void **state)
{
	char cmd[96];
	snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
	return system(cmd);
}

static void path_of(char *out, size_t size, const char *suffix)
{
	snprintf(out, size, "%s/pr/aptpl_8d4ca6c4-55b6-4b7c-9f3f-0a1b2c3d4e5f%s", dir, suffix);
}

static void registrations_survive_with_aptpl(void **state)
{
	uint64_t key;
	start();
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, 0, 7, APTPL), 0);
	assert_int_equal(pr_out(1, OUT_REGISTER, 0, 0, 8, APTPL), 0);
	assert_int_equal(pr_out(0, OUT_RESERVE, PR_EA, 7, 0, 0), 0);
	restart();
	assert_int_equal(pr_keys(0), 2);
	assert_int_equal(pr_reserved(1, &key), PR_EA);
	assert_int_equal(key, 7);
	assert_int_equal(write_one(0), 0);
	assert_int_equal(write_one(1), STATUS_RESERVATION_CONFLICT);
	bench_done(&b);
}

static void without_aptpl_nothing_survives(void **state)
{
	start();
	pr_out(0, OUT_REGISTER, 0, 0, 7, 0);
	restart();
	assert_int_equal(pr_keys(0), 0);
	bench_done(&b);
}

static void taking_aptpl_back_forgets(void **state)
{
	start();
	pr_out(0, OUT_REGISTER, 0, 0, 7, APTPL);
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, 7, 9, 0), 0);
	restart();
	assert_int_equal(pr_keys(0), 0);
	bench_done(&b);
}

static void force_pr_aptpl_keeps_all(void **state)
{
	const char *attrs[] = { "force_pr_aptpl=1", NULL };
	bench_init(&b, &(struct bench_options){ .state_dir = dir, .attrs = attrs });
	pr_out(0, OUT_REGISTER, 0, 0, 7, 0);
	restart();
	assert_int_equal(pr_keys(0), 1);
	bench_done(&b);
}

static void capabilities_tell_of_persistence(void **state)
{
	start();
	pr_out(0, OUT_REGISTER, 0, 0, 7, APTPL);
	pr_in(0, 2, 8);
	assert_int_equal(c.data[2] & 1, 1);
	assert_int_equal(c.data[3] & 1, 1);
	bench_done(&b);
}

static void the_file_is_nobody_elses(void **state)
{
	char path[160];
	struct stat st;
	start();
	pr_out(0, OUT_REGISTER, 0, 0, 7, APTPL);
	bench_done(&b);
	path_of(path, sizeof path, "");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_damaged_file_is_put_aside(void **state)
{
	char path[160], aside[160];
	start();
	pr_out(0, OUT_REGISTER, 0, 0, 7, APTPL);
	bench_done(&b);
	path_of(path, sizeof path, "");
	path_of(aside, sizeof aside, ".damaged");
	int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "x", 1, 30), 1);
	close(fd);
	start();
	assert_int_equal(pr_keys(0), 0);
	bench_done(&b);
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_failing_disk_refuses_the_command_and_changes_nothing(void **state)
{
	start();
	pr_out(0, OUT_REGISTER, 0, 0, 7, APTPL);
	fails = true;
	steps_left = 0;
	pr_out(0, OUT_REGISTER, 0, 7, 9, APTPL);
	assert_int_equal(c.code, SENSE_INTERNAL_FAILURE);
	steps_left = -1;
	assert_int_equal(pr_out(0, OUT_RESERVE, PR_WE, 7, 0, 0), 0);
	bench_done(&b);
}

// A kill at each step of replacing "old" by "new" leaves one of them, whole.
static void a_kill_leaves_the_old_or_the_new_file(void **state)
{
	bool seen_old = false, seen_new = false;
	assert_int_equal(state_file_write(dir, "pr", "f", "old", 3, NULL), 0);
	for (int limit = 0;; limit++) {
		char *text;
		size_t len;
		int status;
		pid_t pid = fork();
		if (!pid) {
			steps_left = limit;
			_exit(state_file_write(dir, "pr", "f", "new", 3, NULL) ? 1 : 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(state_file_read(&text, &len, dir, "pr", "f", NULL), 0);
		assert_int_equal(len, 3);
		bool is_new = !memcmp(text, "new", 3);
		assert_true(is_new || !memcmp(text, "old", 3));
		seen_new |= is_new;
		seen_old |= !is_new;
		free(text);
		if (WEXITSTATUS(status) != 42)
			break;
	}
	assert_true(seen_old && seen_new);
}

static void names_that_are_paths_are_refused(void **state)
{
	assert_int_equal(state_file_write(dir, "pr", "../x", "a", 1, NULL), -EINVAL);
	assert_int_equal(state_file_write(dir, "pr", ".x", "a", 1, NULL), -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(registrations_survive_with_aptpl),
		T(without_aptpl_nothing_survives),
		T(taking_aptpl_back_forgets),
		T(force_pr_aptpl_keeps_all),
		T(capabilities_tell_of_persistence),
		T(the_file_is_nobody_elses),
		T(a_damaged_file_is_put_aside),
		T(a_failing_disk_refuses_the_command_and_changes_nothing),
		T(a_kill_leaves_the_old_or_the_new_file),
		T(names_that_are_paths_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
