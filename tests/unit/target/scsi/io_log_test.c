// SPDX-License-Identifier: BSD-2-Clause
// Failures of the storage in the log. Through the store of held_store.h, which fails as it is told.
#include "target/scsi/held_store.h"

#include <errno.h>
#include <stdio.h>

#include "core/log.h"
#include "target/scsi/io_log.h"

static char lines[64][200];
static unsigned line_count; // atomic: workers log

static void take(void *arg, enum log_level level, const char *line)
{
	unsigned i = __atomic_fetch_add(&line_count, 1, __ATOMIC_SEQ_CST);
	if (i < 64 && level == LOG_LVL_WARN)
		snprintf(lines[i], sizeof lines[0], "%s", line);
}

static int begin(void **state)
{
	struct bench_options o = { 0 };
	held_start(&o);
	memset(lines, 0, sizeof lines);
	line_count = 0;
	log_set_sink(take, NULL);
	return 0;
}

static int end(void **state)
{
	stop(state);
	log_set_sink(NULL, NULL);
	return 0;
}

// A command of one block at LBA lba that the storage answers with res.
static void answered(uint8_t opcode, uint8_t lba, int res)
{
	static const uint8_t block[512];
	memset(&c, 0, sizeof c);
	memcpy(c.cdb, (uint8_t[]){ opcode, 0, 0, 0, 0, lba, 0, 0, 1, 0 }, 10);
	c.cdb_len = 10;
	c.out = opcode == 0x2a ? block : NULL;
	c.out_len = opcode == 0x2a ? 512 : 0;
	c.expected_in = opcode == 0x28 ? 512 : 0;
	bench_start(&b, 0, &c);
	held_wait(1);
	bench_on_nexus(&b, 0, held_release_all, &res);
	bench_wait(&c);
	assert_int_equal(c.status == STATUS_GOOD, res == 0);
}

static void written(uint8_t lba, int res)
{
	answered(0x2a, lba, res);
}

static void sweep(void *lu)
{
	io_log_sweep(lu);
}

static void sweep_now(void)
{
	bench_on_control(&b, sweep, b.lu);
}

#define SAID(...)                                                                                  \
	said(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *),                             \
	     (const char *[]){ __VA_ARGS__ })
static void said(unsigned n, const char *const *texts)
{
	assert_int_equal(line_count, n);
	for (unsigned i = 0; i < n; i++)
		assert_string_equal(lines[i], texts[i]);
}

static void the_first_failure_names_object_operation_range_and_cause(void **state)
{
	written(9, -ENOSPC);
	SAID("held disk: write of LBA 9: No space left on device");
}

static void several_blocks_are_a_range(void **state)
{
	struct bs_io io = { .op = BS_UNMAP, .offset = 8 * 512, .length = 8 * 512 };
	io_log_note(b.lu, &io, -EIO);
	SAID("held disk: unmap of LBA 8 to 15: Input/output error");
}

static void more_of_the_same_is_one_line_a_sweep(void **state)
{
	for (uint8_t i = 0; i < 5; i++)
		written(i, -ENOSPC);
	sweep_now();
	SAID("held disk: write of LBA 0: No space left on device",
	     "held disk: write: No space left on device: 4 more in the last 1 s, "
	     "the last one of LBA 4");
}

static void another_cause_is_said_at_once(void **state)
{
	written(1, -ENOSPC);
	written(1, -EIO);
	SAID("held disk: write of LBA 1: No space left on device",
	     "held disk: write of LBA 1: Input/output error");
}

static void causes_that_alternate_do_not_fill_the_log(void **state)
{
	for (int i = 0; i < 20; i++)
		written(1, i % 2 ? -EIO : -ENOSPC);
	assert_int_equal(line_count, 2);
}

static void another_operation_is_said_at_once(void **state)
{
	written(1, -EIO);
	answered(0x28, 2, -EIO);
	answered(0x35, 0, -EIO);
	SAID("held disk: write of LBA 1: Input/output error",
	     "held disk: read of LBA 2: Input/output error",
	     "held disk: flush: Input/output error");
}

static void what_works_again_is_said_once(void **state)
{
	written(1, -EIO);
	written(1, 0);
	sweep_now(); // it has failed in this interval
	assert_int_equal(line_count, 1);
	written(1, 0);
	sweep_now();
	sweep_now();
	SAID("held disk: write of LBA 1: Input/output error", "held disk: write: recovered");
}

static void what_was_not_tried_does_not_work_again(void **state)
{
	written(1, -EIO);
	sweep_now();
	answered(0x28, 1, 0);
	sweep_now();
	assert_int_equal(line_count, 1);
}

static void a_failure_after_the_end_of_the_last_is_said_at_once(void **state)
{
	written(1, -EIO);
	sweep_now();
	written(1, 0);
	sweep_now();
	written(7, -EIO);
	assert_int_equal(line_count, 3);
	assert_string_equal(lines[2], "held disk: write of LBA 7: Input/output error");
}

static void a_cause_that_comes_back_is_said_again(void **state)
{
	written(1, -ENOSPC);
	sweep_now();
	written(1, -EIO);
	sweep_now();
	written(1, -ENOSPC);
	SAID("held disk: write of LBA 1: No space left on device",
	     "held disk: write of LBA 1: Input/output error",
	     "held disk: write of LBA 1: No space left on device");
}

static void what_is_not_the_storages_fault_is_not_said(void **state)
{
	written(1, -EOPNOTSUPP);
	written(1, -ERANGE);
	assert_int_equal(line_count, 0);
}

static void an_aborted_command_hides_nothing(void **state)
{
	static const uint8_t block[512];
	int res = -EIO;
	memset(&c, 0, sizeof c);
	memcpy(c.cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 3, 0, 0, 1, 0 }, 10);
	c.cdb_len = 10;
	c.out = block;
	c.out_len = 512;
	bench_start(&b, 0, &c);
	held_wait(1);
	bench_abort(&c, false);
	bench_on_nexus(&b, 0, held_release_all, &res);
	bench_wait(&c);
	SAID("held disk: write of LBA 3: Input/output error");
}

int main(void)
{
#define LOGGED(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		LOGGED(the_first_failure_names_object_operation_range_and_cause),
		LOGGED(several_blocks_are_a_range),
		LOGGED(more_of_the_same_is_one_line_a_sweep),
		LOGGED(another_cause_is_said_at_once),
		LOGGED(causes_that_alternate_do_not_fill_the_log),
		LOGGED(another_operation_is_said_at_once),
		LOGGED(what_works_again_is_said_once),
		LOGGED(what_was_not_tried_does_not_work_again),
		LOGGED(a_failure_after_the_end_of_the_last_is_said_at_once),
		LOGGED(a_cause_that_comes_back_is_said_again),
		LOGGED(what_is_not_the_storages_fault_is_not_said),
		LOGGED(an_aborted_command_hides_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
