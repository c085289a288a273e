// SPDX-License-Identifier: BSD-2-Clause
// Storage on a device with sectors of 4096 bytes. Without root or loop devices the program skips
// (77).
#include "backstores/loop_util.h"
#include "target/config/config_bench.h"

static struct loop loop;

static void a_new_device_has_blocks_of_its_sectors_also_after_a_restart(void **state)
{
	char values[80];
	snprintf(values, sizeof values, "[\"b0\", \"%s\"]", loop.path);
	assert_int_equal(run("/backstores/block", "create", values), 0);
	assert_string_equal(get("/backstores/block/b0", "attribute", "block_size"), "4096");
	restart();
	assert_string_equal(get("/backstores/block/b0", "attribute", "hw_block_size"), "4096");
}

// The loop device keeps the file.
static int attach(void)
{
	char path[] = "/tmp/farblock-sectors.XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0)
		return -errno;
	int r = ftruncate(fd, 16 << 20) < 0 ? -errno : loop_attach(&loop, path, 4096, false);
	close(fd);
	unlink(path);
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_new_device_has_blocks_of_its_sectors_also_after_a_restart),
	};
	int r = attach();
	if (r < 0) {
		print_message("skipped: no loop device: %s (needs root)\n", strerror(-r));
		return 77;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	loop_detach(&loop);
	return failed;
}
