// SPDX-License-Identifier: BSD-2-Clause
// The options of farblock-initiator.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/program/iscsi.h"
#include "initiator/program/srp.h"
#include "transport/rdma/rnic.h"

static int parse(struct tool_options *o, unsigned verb, const char *a, const char *b, const char *c,
		 struct err *e)
{
	char *argv[] = { (char *)a, (char *)b, (char *)c };
	return tool_options_parse(o, verb, c ? 3 : b ? 2 : 1, argv, e);
}

static void options_are_read_in_every_form(void **state)
{
	struct tool_options o;
	struct err e;
	assert_int_equal(parse(&o, TOOL_READ, "--offset=4k", "-o", "-", &e), 0);
	assert_int_equal(o.offset, 4096);
	assert_string_equal(o.output, "-");
	assert_true(o.length == TOOL_UNSET);
	assert_int_equal(parse(&o, TOOL_BENCH, "url", "--depth", "7", &e), 0);
	assert_int_equal(o.depth, 7);
	assert_int_equal(o.arg_count, 1);
}

static void options_that_a_command_does_not_know_are_refused(void **state)
{
	struct tool_options o;
	struct err e;
	assert_int_equal(parse(&o, TOOL_READ, "--depth", "7", NULL, &e), -EINVAL);
	assert_int_equal(parse(&o, TOOL_BENCH, "--depth", "0", NULL, &e), -EINVAL);
	assert_int_equal(parse(&o, TOOL_BENCH, "--depth", NULL, NULL, &e), -EINVAL);
	assert_int_equal(parse(&o, TOOL_BENCH, "--json=1", NULL, NULL, &e), -EINVAL);
	assert_int_equal(parse(&o, TOOL_BENCH, "--chap-secret", "x", NULL, &e), -EINVAL);
	assert_int_equal(parse(&o, TOOL_BENCH, "--set", "x", NULL, &e), -EINVAL);
	assert_int_equal(parse(&o, TOOL_READ, "--offset", "1x", NULL, &e), -EINVAL);
}

static int transport(struct ini_config *c, const char *url, const char *a, const char *b,
		     struct err *e)
{
	struct tool t = { 0 };
	struct ini_url u;
	*c = (struct ini_config){ 0 };
	assert_int_equal(parse(&t.o, TOOL_BENCH, url, a, b, e), 0);
	assert_int_equal(ini_url_parse(url, &u, e), 0);
	return iscsi_transport(&t, u.is_iser, c, e);
}

static void url_and_options_choose_the_transport(void **state)
{
	struct ini_config c;
	struct err e;
	assert_int_equal(transport(&c, "iscsi://host/iqn.a:b/0", NULL, NULL, &e), 0);
	assert_int_equal(c.provider_count, 0);
	assert_int_equal(transport(&c, "iser://host/iqn.a:b/0", NULL, NULL, &e), 0);
	assert_true(c.provider_count > 0);
	assert_int_equal(transport(&c, "iser://host/iqn.a:b/0", "--transport=tcp", NULL, &e), 0);
	assert_int_equal(c.provider_count, 0);
	assert_int_equal(
		transport(&c, "iscsi://host/iqn.a:b/0", "--transport=iser", "--provider=iwarp", &e),
		0);
	assert_int_equal(c.provider_count, 1);
	assert_string_equal(c.providers[0]->name, "iwarp");
}

static void transports_that_do_not_exist_are_refused(void **state)
{
	struct ini_config c;
	struct err e;
	const char *url = "iser://host/iqn.a:b/0";
	assert_int_equal(transport(&c, url, "--transport=srp", NULL, &e), -EINVAL);
	assert_int_equal(transport(&c, url, "--provider=dpdk", NULL, &e), -EINVAL);
	assert_int_equal(transport(&c, url, "--transport=tcp", "--provider=iwarp", &e), -EINVAL);
}

static int srp(struct srps_config *c, const char *url, const char *a, const char *b, struct err *e)
{
	struct tool t = { 0 };
	struct srps_address at;
	assert_int_equal(parse(&t.o, TOOL_BENCH, url, a, b, e), 0);
	assert_int_equal(srps_address_parse(url, &at, e), 0);
	return srp_config(&t, &at, c, e);
}

#define SRP_URL "srp://host/200100e08b000000:00117500007ee3aa/0"

static void the_srp_port_of_an_initiator_is_made_from_its_name(void **state)
{
	struct srps_config a, b, other;
	struct err e;
	assert_int_equal(srp(&a, SRP_URL, "--initiator-name=iqn.2025-01.org:a", NULL, &e), 0);
	assert_int_equal(srp(&b, SRP_URL, "--initiator-name=iqn.2025-01.org:a", NULL, &e), 0);
	assert_int_equal(srp(&other, SRP_URL, "--initiator-name=iqn.2025-01.org:b", NULL, &e), 0);
	assert_memory_equal(a.initiator, b.initiator, SRP_PORT_ID_LEN);
	assert_memory_not_equal(a.initiator, other.initiator, SRP_PORT_ID_LEN);
	assert_memory_equal(a.initiator, "\0\0\0\0\0\0\0", 8);
}

static void srp_options_are_taken(void **state)
{
	struct srps_config c;
	struct err e;
	assert_int_equal(srp(&c, SRP_URL, "--initiator-port=0000000000000001:00000000000000ff",
			     "--channels=4", &e),
			 0);
	assert_int_equal(c.initiator[7], 1);
	assert_int_equal(c.initiator[15], 0xff);
	assert_int_equal(c.channels, 4);
	const char *string = "id_ext=0000000000000001,ioc_guid=0000000000000002,dest=1.2.3.4:5,"
			     "initiator_ext=00000000000000aa,ch_count=3,queue_size=9";
	assert_int_equal(
		srp(&c, string, "--initiator-port=0000000000000001:00000000000000ff", NULL, &e), 0);
	assert_int_equal(c.initiator[7], 0xaa);
	assert_int_equal(c.initiator[15], 0xff);
	assert_int_equal(c.channels, 3);
	assert_int_equal(c.channel_depth, 9);
}

static void options_of_the_other_protocol_are_refused(void **state)
{
	struct srps_config c;
	struct ini_config i;
	struct err e;
	assert_int_equal(srp(&c, SRP_URL, "--transport=tcp", NULL, &e), -EINVAL);
	assert_int_equal(srp(&c, SRP_URL, "--chap-user=me", NULL, &e), -EINVAL);
	assert_int_equal(srp(&c, SRP_URL, "--initiator-port=1:2", NULL, &e), -EINVAL);
	assert_int_equal(srp(&c, SRP_URL, "--provider=dpdk", NULL, &e), -EINVAL);
	assert_int_equal(transport(&i, "iscsi://host/iqn.a:b/0", "--channels=2", NULL, &e),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_read_in_every_form),
		cmocka_unit_test(options_that_a_command_does_not_know_are_refused),
		cmocka_unit_test(url_and_options_choose_the_transport),
		cmocka_unit_test(transports_that_do_not_exist_are_refused),
		cmocka_unit_test(the_srp_port_of_an_initiator_is_made_from_its_name),
		cmocka_unit_test(srp_options_are_taken),
		cmocka_unit_test(options_of_the_other_protocol_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
