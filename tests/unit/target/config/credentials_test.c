// SPDX-License-Identifier: BSD-2-Clause
// An ACL that refuses every login is reported: when it arises, in the tree, and with the cure.
#include "target/config/config_bench.h"

#define TPG "/iscsi/iqn.2025-01.org.example:disk1/tpg1"
#define ACL TPG "/acls/iqn.2025-01.org.example:host1"

static void make(void)
{
	assert_int_equal(set("/", "global", "\"auto_add_default_portal\": \"false\""), 0);
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.example:disk1\"]"), 0);
	assert_int_equal(run(TPG "/acls", "create", "[\"iqn.2025-01.org.example:host1\"]"), 0);
}

static bool says(const char *text)
{
	for (unsigned i = 0; *message(i); i++)
		if (strstr(message(i), text))
			return true;
	return false;
}

// As a program sees it; "": nothing.
static const char *warning(const char *path)
{
	assert_int_equal(run(path, "ls", "[\"1\"]"), 0);
	struct json_object *o = json_tokener_parse(json_object_to_json_string(reply.data));
	bool is_healthy = json_object_get_boolean(json_field(o, "healthy"));
	assert_int_equal(is_healthy, !json_text(o, "warning"));
	json_object_put(o);
	assert_int_equal(run(path, "info", NULL), 0);
	const char *in_info = json_text(reply.data, "warning");
	assert_int_equal(!in_info, is_healthy);
	return in_info ? in_info : "";
}

static void creating_it_tells_both_ways_out(void **state)
{
	make();
	assert_true(says("CHAP is required, but the ACL has no credentials"));
	assert_true(says(ACL " set auth userid=NAME password=SECRET"));
	assert_true(says(ACL " set attribute authentication=0"));
	assert_non_null(strstr(warning(ACL), "no credentials"));
	assert_non_null(strstr(summary(ACL), "auth required, no credentials"));
}

static void either_way_ends_it(void **state)
{
	make();
	assert_int_equal(set(TPG, "attribute", "\"authentication\": \"0\""), 0);
	assert_string_equal(warning(ACL), "");
	assert_int_equal(set(TPG, "attribute", "\"authentication\": \"1\""), 0);
	assert_true(says("CHAP is required, but the ACL"));
	assert_int_equal(set(ACL, "auth", "\"userid\": \"u\", \"password\": \"secret-of-12\""), 0);
	assert_false(says("Warning"));
	assert_string_equal(warning(ACL), "");
}

static void a_name_without_a_password_admits_nobody(void **state)
{
	make();
	assert_int_equal(set(ACL, "auth", "\"userid\": \"u\""), 0);
	assert_true(says("have no password"));
	assert_non_null(strstr(warning(ACL), "have no password"));
	assert_non_null(strstr(summary(ACL), "auth required, no password"));
}

static void the_group_s_credentials_count(void **state)
{
	make();
	assert_int_equal(set(TPG, "auth", "\"userid\": \"u\", \"password\": \"secret-of-12\""), 0);
	assert_string_equal(warning(ACL), "");
	assert_non_null(strstr(summary(ACL), "auth via tpg"));
}

static void demo_mode_needs_those_of_the_group(void **state)
{
	make();
	assert_int_equal(set(TPG, "attribute", "\"generate_node_acls\": \"1\""), 0);
	assert_true(says("CHAP is required for initiators without an ACL"));
	assert_non_null(strstr(warning(TPG), "without an ACL"));
	assert_non_null(strstr(warning(ACL), "CHAP is required, but the ACL"));
	assert_int_equal(set(TPG, "auth", "\"userid\": \"u\", \"password\": \"secret-of-12\""), 0);
	assert_string_equal(warning(TPG), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(creating_it_tells_both_ways_out),	    T(either_way_ends_it),
		T(a_name_without_a_password_admits_nobody), T(the_group_s_credentials_count),
		T(demo_mode_needs_those_of_the_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
