// SPDX-License-Identifier: BSD-2-Clause
// InfiniBand ports of prepared folders.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "transport/rdma/ib_ports.h"

static char folder[32];

static int setup(void **state)
{
	strcpy(folder, "ib_ports_test.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	return remove(path);
}

static int teardown(void **state)
{
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

// Creates the file and its folders.
static void put(const char *file, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, file);
	for (char *at = path; (at = strchr(at + 1, '/'));) {
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_port(const char *port, const char *layer, const char *state, const char *gid)
{
	char path[128];
	snprintf(path, sizeof path, "%s/link_layer", port);
	put(path, layer);
	snprintf(path, sizeof path, "%s/state", port);
	put(path, state);
	snprintf(path, sizeof path, "%s/gids/0", port);
	put(path, gid);
}

#define GID "fe80:0000:0000:0000:0002:c903:000a:1b2d\n"

static void ports_of_infiniband_come_in_order_with_their_gid(void **state)
{
	static const uint8_t gid[] = { 0xfe, 0x80, 0,	 0, 0, 0,  0,	 0,
				       0,    2,	   0xc9, 3, 0, 10, 0x1b, 0x2d };
	struct ib_port p[4];
	put_port("mlx5_1/ports/1", "InfiniBand\n", "4: ACTIVE\n", GID);
	put_port("mlx5_0/ports/2", "InfiniBand\n", "4: ACTIVE\n", GID);
	put_port("mlx5_0/ports/1", "InfiniBand\n", "2: INIT\n", "");
	put_port("mlx5_2/ports/1", "Ethernet\n", "4: ACTIVE\n", GID);
	assert_int_equal(ib_ports_in(folder, p, 4), 3);
	assert_string_equal(p[0].device, "mlx5_0");
	assert_int_equal(p[0].number, 1);
	assert_false(p[0].is_active);
	assert_int_equal(p[0].gid[0], 0);
	assert_int_equal(p[1].number, 2);
	assert_true(p[1].is_active);
	assert_memory_equal(p[1].gid, gid, sizeof gid);
	assert_string_equal(p[2].device, "mlx5_1");
}

static void no_more_are_written_than_fit(void **state)
{
	struct ib_port p[3];
	memset(p, 0xaa, sizeof p);
	for (int i = 1; i < 9; i++) {
		char port[32];
		snprintf(port, sizeof port, "mlx5_%d/ports/%d", i % 2, i);
		put_port(port, "InfiniBand\n", "4: ACTIVE\n", GID);
	}
	assert_int_equal(ib_ports_in(folder, p, 2), 2);
	assert_int_equal(p[2].gid[0], 0xaa);
	assert_int_equal(ib_ports_in(folder, p, 0), 0);
}

static void odd_files_are_survived(void **state)
{
	static char text[5000];
	struct ib_port p[4];
	memset(text, 'x', sizeof text - 1);
	put_port("odd/ports/1", "", text, text);
	put_port("odd/ports/x", "InfiniBand\n", "4: ACTIVE\n", GID);
	put_port("other/ports/1", text, text, text);
	put("file", "");
	assert_int_equal(ib_ports_in(folder, p, 4), 1);
	assert_false(p[0].is_active);
	assert_int_equal(p[0].gid[15], 0);
}

static void without_sysfs_there_are_no_ports(void **state)
{
	struct ib_port p[1];
	assert_int_equal(ib_ports_in("ib_ports_test.absent", p, 1), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(ports_of_infiniband_come_in_order_with_their_gid),
		T(no_more_are_written_than_fit),
		T(odd_files_are_survived),
		T(without_sysfs_there_are_no_ports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
