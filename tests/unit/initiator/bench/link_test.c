// SPDX-License-Identifier: BSD-2-Clause
// The interface of a connection and its rate, from a prepared sysfs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/bench/link.h"
#include "fake_root.h"

static void an_interface_has_the_rate_that_sysfs_shows(void **state)
{
	static char sysfs[] = "/tmp/farblock-link.XXXXXX";
	char command[100];
	assert_non_null(mkdtemp(sysfs));
	fake_root_put(sysfs, "/class/net/eth0/type", "1\n");
	fake_root_put(sysfs, "/class/net/eth0/speed", "1000\n");
	fake_root_put(sysfs, "/class/net/virtual/speed", "-1\n");
	fake_root_put(sysfs, "/class/net/ib0/type", "32\n");
	fake_root_put(sysfs, "/class/net/ib0/dev_port", "0x1\n");
	fake_root_put(sysfs, "/class/net/ib0/speed", "40000\n");
	fake_root_put(sysfs, "/class/net/ib0/device/infiniband/mlx4_0/node_type", "1: CA\n");
	fake_root_put(sysfs, "/class/infiniband/mlx4_0/ports/1/rate", "2.5 Gb/sec (1X SDR)\n");
	fake_root_put(sysfs, "/class/infiniband/mlx4_0/ports/2/rate", "40 Gb/sec (4X QDR)\n");
	fake_root_put(sysfs, "/class/net/ib1/type", "32\n");
	fake_root_put(sysfs, "/class/net/ib1/device/infiniband/mlx5_1/node_type", "1: CA\n");
	fake_root_put(sysfs, "/class/infiniband/mlx5_1/ports/1/rate", "200 Gb/sec (4X HDR)\n");
	double eth0 = link_rate(sysfs, "eth0"), none = link_rate(sysfs, "virtual");
	double ib0 = link_rate(sysfs, "ib0"), ib1 = link_rate(sysfs, "ib1");
	snprintf(command, sizeof command, "rm -rf %s", sysfs);
	assert_int_equal(system(command), 0);
	assert_true(eth0 == 125e6 && none == 0);
	assert_true(ib0 == 4e9); // 8b/10b
	assert_true(ib1 == 25e9);
}

static void loopback_has_no_rate(void **state)
{
	struct link l;
	link_find(&l, "127.0.0.1:40000", "127.0.0.1:3260");
	assert_true(l.is_loopback && l.bytes == 0);
	assert_string_equal(l.name, "lo");
}

static void a_connection_to_an_address_of_this_machine_is_a_loopback(void **state)
{
	struct link l;
	link_find(&l, "192.0.2.1:40000", "192.0.2.1:3260");
	assert_true(l.is_loopback && l.bytes == 0);
	link_find(&l, "192.0.2.1:40000", "192.0.2.2:3260");
	assert_false(l.is_loopback);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interface_has_the_rate_that_sysfs_shows),
		cmocka_unit_test(loopback_has_no_rate),
		cmocka_unit_test(a_connection_to_an_address_of_this_machine_is_a_loopback),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
