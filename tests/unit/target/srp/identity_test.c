// SPDX-License-Identifier: BSD-2-Clause
// Which target a TARGET PORT IDENTIFIER means, and which ACL admits an initiator.
#include "target/srp/view_rig.h"

#define INITIATOR "ib.00000000000000001111222233334444"

static struct view *view;

static struct view_target *find(const char *name, struct err *e)
{
	uint8_t id[SRP_PORT_ID_LEN];
	id_of(name, id);
	return (struct view_target *)target_of_port(view, id, e);
}

static int setup(void **state)
{
	view = view_new(&srp_fabric, 2);
	view->targets[0] = make_target(TARGET_B, "192.0.2.1", PORTAL_RDMA, NULL);
	view->targets[1] = make_target(TARGET_A, "192.0.2.1", PORTAL_RDMA, NULL);
	return 0;
}

static int teardown(void **state)
{
	view_put(view);
	return 0;
}

static void a_name_has_the_digits_of_its_port(void **state)
{
	uint8_t id[SRP_PORT_ID_LEN];
	char name[PORT_NAME_SIZE], port[FABRIC_PORT_SIZE];
	id_of(TARGET_A, id);
	port_name(id, name);
	assert_string_equal(name, TARGET_A);
	srp_port_name(TARGET_A, 1, port);
	assert_string_equal(port, "eui.0011223344556677aabbccddeeff0011");
}

static void a_target_is_found_by_its_whole_identifier(void **state)
{
	struct err e;
	assert_string_equal(find(TARGET_B, &e)->name, TARGET_B);
	assert_null(find("ib.0000000000000002" GUID_B, &e));
	assert_non_null(strstr(e.text, "no such target"));
}

static void a_guid_twice_means_the_only_target_with_it(void **state)
{
	struct err e;
	assert_string_equal(find("ib." GUID_B GUID_B, &e)->name, TARGET_B);
	view_target_put(view->targets[1]);
	view->targets[1] =
		make_target("ib.0000000000000002" GUID_B, "192.0.2.1", PORTAL_RDMA, NULL);
	assert_null(find("ib." GUID_B GUID_B, &e));
	assert_string_equal(e.text, "2 targets have this ioc_guid (give the id_ext of one)");
}

// The name of the ACL that admits INITIATOR from 192.0.2.7.
static const char *admits(const char *const *names)
{
	static char ret[FABRIC_NAME_SIZE];
	struct tcp_addr peer = address("192.0.2.7:4000");
	struct view_target *t = make_target(TARGET_A, "192.0.2.1", PORTAL_RDMA, names);
	const struct view_acl *acl = acl_of_port(&t->tpgs[0], INITIATOR, &peer);
	strcpy(ret, acl ? acl->initiator : "none");
	view_target_put(t);
	return ret;
}

static void acls_are_tried_from_the_most_specific_on(void **state)
{
	static const char *const names[] = { INITIATOR, "1111:2222:3333:4444", "192.0.2.7", NULL };
	for (int i = 0; names[i]; i++)
		assert_string_equal(admits(names + i), names[i]);
	assert_string_equal(
		admits((const char *const[]){ "192.0.2.8", "1111:2222:3333:4445",
					      "ib.00000000000000011111222233334444", NULL }),
		"none");
}

static void an_acl_may_be_an_ipv6_address(void **state)
{
	struct tcp_addr peer = address("[2001:db8::0:7]:4000");
	struct view_target *t = make_target(TARGET_A, "192.0.2.1", PORTAL_RDMA,
					    (const char *const[]){ "2001:db8::7", NULL });
	assert_non_null(acl_of_port(&t->tpgs[0], INITIATOR, &peer));
	view_target_put(t);
}

#define CLAIM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(a_name_has_the_digits_of_its_port),
		CLAIM(a_target_is_found_by_its_whole_identifier),
		CLAIM(a_guid_twice_means_the_only_target_with_it),
		CLAIM(acls_are_tried_from_the_most_specific_on),
		CLAIM(an_acl_may_be_an_ipv6_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
