// SPDX-License-Identifier: BSD-2-Clause
// Portals: what is typed one level higher, what is told of a transport and of a wrong address.
#include "target/config/config_bench.h"

#define TARGET	"/iscsi/iqn.2025-01.org.example:disk1"
#define PORTALS TARGET "/tpg1/portals"
#define ONE	PORTALS "/192.0.2.77:3999"
#define TWO	PORTALS "/192.0.2.78:3999"

static void make(void)
{
	assert_int_equal(set("/", "global", "\"auto_add_default_portal\": \"false\""), 0);
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.example:disk1\"]"), 0);
}

static void create(const char *address)
{
	char values[100];
	snprintf(values, sizeof values, "[\"%s\", \"3999\"]", address);
	assert_int_equal(run(PORTALS, "create", values), 0);
}

static bool has_iser(const char *path)
{
	assert_int_equal(run(path, "info", NULL), 0);
	return json_object_get_boolean(json_field(reply.data, "iser"));
}

static void the_only_portal_takes_what_is_typed_above_it(void **state)
{
	make();
	assert_int_equal(run(PORTALS, "enable_iser", "[\"true\"]"), -ENOENT);
	create("192.0.2.77");
	assert_int_equal(run(PORTALS, "enable_iser", "[\"false\"]"), 0);
	assert_false(has_iser(ONE));
	assert_int_equal(run(PORTALS, "enable_iser", "[\"true\"]"), 0);
	assert_string_equal(message(0), "iSER enable now: True");
	assert_true(has_iser(ONE));
	assert_int_equal(run(PORTALS, "transport", "[\"tcp\"]"), 0);
	assert_false(has_iser(ONE));
	assert_int_equal(run(PORTALS, "enable_offload", "[\"true\"]"), 0);
}

static void with_several_the_command_to_type_is_told(void **state)
{
	make();
	create("192.0.2.77");
	create("192.0.2.78");
	assert_int_equal(run(PORTALS, "enable_iser", "[\"false\"]"), -EBADRQC);
	assert_non_null(strstr(error.text, "Type " ONE " enable_iser false"));
	assert_true(has_iser(ONE));
	assert_true(has_iser(TWO));
	assert_int_equal(run(PORTALS, "transport", "[\"tcp\"]"), -EBADRQC);
	assert_non_null(strstr(error.text, "Type " ONE " transport tcp"));
}

static void a_portal_that_offers_iser_says_so(void **state)
{
	make();
	create("192.0.2.77");
	assert_true(has_iser(ONE));
	assert_int_equal(run(ONE, "transport", "[\"tcp\"]"), 0);
	assert_false(has_iser(ONE));
	assert_int_equal(run(ONE, "transport", "[\"rdma\"]"), 0);
	assert_true(has_iser(ONE));
}

// Runs create with each example of the error's "such as ONE or TWO".
static void a_missing_interface_is_told_with_addresses_that_create_takes(void **state)
{
	char one[40], two[40];
	make();
	assert_int_equal(run(PORTALS, "create", "[\"nosuch0\"]"), -EINVAL);
	const char *at = strstr(error.text, "such as ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "such as %39s or %39[0-9a-f.:]", one, two), 2);
	create(one);
	create(two);
}

static void what_a_child_has_is_told_one_level_higher(void **state)
{
	make();
	assert_int_equal(run(TARGET, "enable", NULL), -ENOSYS);
	assert_non_null(strstr(error.text, "(" TARGET "/tpg1 has it)"));
	assert_int_equal(set(TARGET, "attribute", "\"authentication\": \"0\""), -ENOENT);
	assert_non_null(strstr(error.text, "(" TARGET "/tpg1 has it)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_only_portal_takes_what_is_typed_above_it),
		T(with_several_the_command_to_type_is_told),
		T(a_portal_that_offers_iser_says_so),
		T(a_missing_interface_is_told_with_addresses_that_create_takes),
		T(what_a_child_has_is_told_one_level_higher),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
