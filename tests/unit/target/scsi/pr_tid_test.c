// SPDX-License-Identifier: BSD-2-Clause
// TransportIDs both ways: what is made for a nexus is the canonical form of what PERSISTENT RESERVE
// OUT names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "target/scsi/reservations/transport_id.h"

static void a_made_transport_id_is_canonical(void **state)
{
	static const char *const ports[] = {
		"iqn.a,i,0x000000000000",
		"iqn.2026-01.org.example:a-host,i,0x00023d000001",
	};
	for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
		uint8_t made[PR_TID_MAX] = { 0 };
		struct pr_tid tid;
		size_t used;
		unsigned len = pr_tid_put_iscsi(made, ports[i]);
		assert_int_equal(pr_tid_parse(&tid, made, len, &used), 0);
		assert_int_equal(used, len);
		assert_int_equal(tid.len, len);
		assert_memory_equal(tid.bytes, made, len);
		assert_true(tid.has_isid);
	}
}

static void a_made_transport_id_is_never_too_short(void **state)
{
	uint8_t made[PR_TID_MAX] = { 0 };
	assert_int_equal(pr_tid_put_iscsi(made, "iqn.a,i,0x0"), 24);
}

static void the_transport_id_of_an_srp_port_is_canonical(void **state)
{
	static const uint8_t id[16] = { 0xfe, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
	uint8_t made[PR_TID_MAX] = { 0 };
	struct pr_tid tid;
	size_t used;
	assert_int_equal(pr_tid_put_srp(made, id), 24);
	assert_int_equal(made[0], 4);
	assert_memory_equal(made + 8, id, sizeof id);
	assert_int_equal(pr_tid_parse(&tid, made, 24, &used), 0);
	assert_int_equal(tid.len, 24);
	assert_memory_equal(tid.bytes, made, 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_made_transport_id_is_canonical),
		cmocka_unit_test(a_made_transport_id_is_never_too_short),
		cmocka_unit_test(the_transport_id_of_an_srp_port_is_canonical),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
