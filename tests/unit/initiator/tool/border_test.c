// SPDX-License-Identifier: BSD-2-Clause
// The verbs of farblock-initiator over a protocol that is not iSCSI: what they and the session
// above the border promise for a loss, a return and a replacement.
#include "initiator/tool/fake_session.h"

#include <unistd.h>

#include "initiator/tool/tool.h"

enum { BYTES = 6 << 20 }; // six WRITEs of 1 MiB

static uint8_t content[BYTES];
static char path[] = "/tmp/farblock-border-XXXXXX";

static int fake_path(const struct tool *t, const char *url, bool needs_lun, struct tool_path *ret,
		     struct err *e)
{
	char none = 0;
	return tool_path_set(ret, fake_open, &none, 1, e);
}

static int run_verb(int (*verb)(struct tool *t), unsigned bit, int argc, const char **argv)
{
	struct tool t = { .path = fake_path };
	struct err e;
	assert_int_equal(tool_options_parse(&t.o, bit, argc, (char **)(uintptr_t)argv, &e), 0);
	int status = verb(&t);
	tool_close(&t);
	return status;
}

static int write_all(const char *option)
{
	const char *argv[] = { "fake", "-i", path, "--force", option };
	return run_verb(tool_write, TOOL_WRITE, option ? 5 : 4, argv);
}

static int setup(void **state)
{
	memset(&far, 0, sizeof far);
	far.serial = 'a';
	return 0;
}

static void a_write_needs_no_iscsi(void **state)
{
	assert_int_equal(write_all(NULL), TOOL_OK);
	assert_memory_equal(far.disk, content, BYTES);
	assert_int_equal(far.ups, 1);
}

static void a_write_continues_when_the_session_returns(void **state)
{
	far.lost_at = 3;
	assert_int_equal(write_all(NULL), TOOL_OK);
	assert_int_equal(far.downs, 1);
	assert_int_equal(far.ups, 2);
	assert_memory_equal(far.disk, content, BYTES);
}

static void a_write_fails_when_the_disk_was_replaced(void **state)
{
	far.lost_at = 3;
	far.new_serial = 'b';
	assert_int_equal(write_all(NULL), TOOL_FAILED);
	assert_int_equal(far.ups, 2);
	for (size_t i = 0; i < sizeof far.disk; i++)
		assert_int_equal(far.disk[i], 0xee);
}

static void a_write_may_continue_on_another_disk(void **state)
{
	far.lost_at = 3;
	far.new_serial = 'b';
	assert_int_equal(write_all("--allow-replaced"), TOOL_OK);
	assert_memory_equal(far.disk + (3 << 20), content + (3 << 20), BYTES - (3 << 20));
}

static void bench_needs_no_iscsi(void **state)
{
	const char *argv[] = { "fake", "--time", "1", "--json" };
	assert_int_equal(run_verb(tool_bench, TOOL_BENCH, 4, argv), TOOL_OK);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(a_write_needs_no_iscsi),
		T(a_write_continues_when_the_session_returns),
		T(a_write_fails_when_the_disk_was_replaced),
		T(a_write_may_continue_on_another_disk),
		T(bench_needs_no_iscsi),
	};
	for (int i = 0; i < BYTES; i++)
		content[i] = (uint8_t)(i * 7 + i / 4096);
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, content, BYTES) != BYTES)
		return 1;
	close(fd);
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r;
}
