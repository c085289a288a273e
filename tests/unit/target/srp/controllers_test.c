// SPDX-License-Identifier: BSD-2-Clause
// Which targets device management reports, and by which service id.
#include "target/srp/controllers.h"
#include "target/srp/view_rig.h"

static struct view *view;
static struct srp_controller found[4];

static int setup(void **state)
{
	view = view_new(&srp_fabric, 2);
	view->targets[0] = make_target(TARGET_B, "0.0.0.0", PORTAL_RDMA, NULL);
	view->targets[1] = make_target(TARGET_A, "[::]:3262", PORTAL_RDMA | PORTAL_IWARP, NULL);
	memset(found, 0, sizeof found);
	return 0;
}

static int teardown(void **state)
{
	view_put(view);
	return 0;
}

static unsigned look(unsigned max)
{
	return srp_controllers(view, found, max);
}

static void enabled_targets_are_reported_with_their_identifier_and_service(void **state)
{
	uint8_t id[SRP_PORT_ID_LEN];
	assert_int_equal(look(4), 2);
	id_of(TARGET_A, id);
	assert_memory_equal(found[1].id_ext, id, 8);
	assert_memory_equal(found[1].ioc_guid, id + 8, 8);
	assert_int_equal(found[0].service_id, 0x00000000013f0cbd);
	assert_int_equal(found[1].service_id, 0x00000000013f0cbe);
	assert_string_equal(found[1].name, "farblock " TARGET_A);
}

static void a_disabled_target_is_not_reported(void **state)
{
	view->targets[0]->tpgs[0].is_enabled = false;
	assert_int_equal(look(4), 1);
	assert_string_equal(found[0].name, "farblock " TARGET_A);
}

static void a_target_without_a_service_id_is_not_reported(void **state)
{
	view->targets[0]->tpgs[0].portals[0].addr = address("192.0.2.1");
	view->targets[1]->tpgs[0].portals[0].transports = PORTAL_IWARP;
	assert_int_equal(look(4), 0);
	view->targets[1]->tpgs[0].portal_count = 0;
	assert_int_equal(look(4), 0);
}

static void no_more_are_written_than_fit(void **state)
{
	assert_int_equal(look(1), 1);
	assert_int_equal(found[1].service_id, 0);
}

#define CLAIM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(enabled_targets_are_reported_with_their_identifier_and_service),
		CLAIM(a_disabled_target_is_not_reported),
		CLAIM(a_target_without_a_service_id_is_not_reported),
		CLAIM(no_more_are_written_than_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
