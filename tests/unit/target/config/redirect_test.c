// SPDX-License-Identifier: BSD-2-Clause
// The attribute redirect: initiators must be able to connect to what it holds.
#include "target/config/config_bench.h"

#define TPG "/iscsi/iqn.2025-01.org.example:disk1/tpg1"

static int redirect(const char *to)
{
	char values[200];
	snprintf(values, sizeof values, "\"redirect\": \"%s\"", to);
	return set(TPG, "attribute", values);
}

static int setup_tpg(void **state)
{
	if (setup(state) || set("/", "global", "\"auto_add_default_portal\": \"false\"") < 0)
		return -1;
	return run("/iscsi", "create", "[\"iqn.2025-01.org.example:disk1\"]");
}

static void an_address_is_accepted(void **state)
{
	static const char *const good[] = {
		"192.0.2.1", "192.0.2.1:3261", "[2001:db8::1]",	 "[2001:db8::1]:3260",
		"host",	     "host:860",       "host-1.example", "3.example.org:3260",
		"",
	};
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		if (redirect(good[i]) < 0)
			fail_msg("%s: %s", good[i], error.text);
		assert_string_equal(get(TPG, "attribute", "redirect"), good[i]);
	}
}

static void what_is_not_an_address_is_refused(void **state)
{
	static const char *const bad[] = {
		"::::",	      "foo:99999", "foo:0",	"foo:",	   ":3260",	      "256.0.0.1",
		"192.0.2",    "0.0.0.0",   "[::]:3260", "[::1",	   "2001:db8::1",     "a b",
		"a/b",	      "-a",	   "a:1:2",	"host:1x", "192.0.2.1:99999", "[host]:1",
		"h\\u00e9:1",
	};
	assert_int_equal(redirect("192.0.2.1"), 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (redirect(bad[i]) != -EINVAL)
			fail_msg("%s is accepted", bad[i]);
		assert_non_null(strstr(error.text, "redirect: '"));
	}
	assert_string_equal(get(TPG, "attribute", "redirect"), "192.0.2.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_address_is_accepted, setup_tpg, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_an_address_is_refused, setup_tpg,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
