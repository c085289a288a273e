// SPDX-License-Identifier: BSD-2-Clause
// URLs of logical units and the options of farblock-initiator.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/tool/tool.h"
#include "initiator/iscsi/url.h"
#include "transport/rdma/rnic.h"

static void a_whole_url_is_taken_apart(void **state)
{
	struct ini_url u;
	struct err e;
	assert_int_equal(
		ini_url_parse("iscsi://me@[::1]:3261/iqn.2003-01.org.Example:Disk/300", &u, &e), 0);
	assert_string_equal(u.user, "me");
	assert_string_equal(u.portal.host, "::1");
	assert_int_equal(u.portal.port, 3261);
	assert_string_equal(u.target, "iqn.2003-01.org.example:disk");
	assert_true(u.has_lun);
	assert_int_equal(u.lun, 300);
}

static void what_is_not_said_is_left_open(void **state)
{
	struct ini_url u;
	struct err e;
	assert_int_equal(ini_url_parse("iscsi://host", &u, &e), 0);
	assert_string_equal(u.target, "");
	assert_int_equal(u.portal.port, 3260);
	assert_int_equal(ini_url_parse("iscsi://host/iqn.a:b/", &u, &e), 0);
	assert_string_equal(u.target, "iqn.a:b");
	assert_false(u.has_lun);
}

static void the_scheme_says_how_to_get_there(void **state)
{
	struct ini_url u;
	struct err e;
	assert_int_equal(ini_url_parse("iscsi://host/iqn.a:b/1", &u, &e), 0);
	assert_false(u.is_iser);
	assert_int_equal(ini_url_parse("iser://host/iqn.a:b/1", &u, &e), 0);
	assert_true(u.is_iser);
	assert_int_equal(u.lun, 1);
}

static void malformed_urls_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"iscsi:/host",
		"http://host",
		"iser:/host",
		"isers://host",
		"iscsi://",
		"iscsi:///iqn.a:b/0",
		"iscsi://@host/x",
		"iscsi://host:0/iqn.a:b/0",
		"iscsi://host:65536/iqn.a:b/0",
		"iscsi://[::1/iqn.a:b/0",
		"iscsi://host/iqn.a b/0",
		"iscsi://host/iqn.a:b/x",
		"iscsi://host/iqn.a:b/16384",
		"iscsi://host/iqn.a:b/-1",
		"iscsi://host/iqn.a:b/0/0",
		"iscsi://ho`st/iqn.a:b/0",
	};
	struct ini_url u;
	struct err e;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (ini_url_parse(bad[i], &u, &e) != -EINVAL)
			fail_msg("%s was taken", bad[i]);
}

static void a_password_in_a_url_is_refused_and_not_repeated(void **state)
{
	struct ini_url u;
	struct err e;
	assert_int_equal(ini_url_parse("iscsi://me%hunter2@host/iqn.a:b/0", &u, &e), -EINVAL);
	assert_null(strstr(e.text, "hunter2"));
	assert_int_equal(ini_url_parse("iscsi://me:hunter2@host/iqn.a:b/0", &u, &e), -EINVAL);
	assert_null(strstr(e.text, "hunter2"));
}

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

static int transport(struct tool *t, const char *url, const char *a, const char *b, struct err *e)
{
	*t = (struct tool){ 0 };
	assert_int_equal(parse(&t->o, TOOL_BENCH, url, a, b, e), 0);
	assert_int_equal(ini_url_parse(url, &t->url, e), 0);
	return tool_transport(t, e);
}

static void url_and_options_choose_the_transport(void **state)
{
	struct tool t;
	struct err e;
	assert_int_equal(transport(&t, "iscsi://host/iqn.a:b/0", NULL, NULL, &e), 0);
	assert_int_equal(t.config.provider_count, 0);
	assert_int_equal(transport(&t, "iser://host/iqn.a:b/0", NULL, NULL, &e), 0);
	assert_true(t.config.provider_count > 0);
	assert_int_equal(transport(&t, "iser://host/iqn.a:b/0", "--transport=tcp", NULL, &e), 0);
	assert_int_equal(t.config.provider_count, 0);
	assert_int_equal(
		transport(&t, "iscsi://host/iqn.a:b/0", "--transport=iser", "--provider=iwarp", &e),
		0);
	assert_int_equal(t.config.provider_count, 1);
	assert_string_equal(t.config.providers[0]->name, "iwarp");
}

static void transports_that_do_not_exist_are_refused(void **state)
{
	struct tool t;
	struct err e;
	const char *url = "iser://host/iqn.a:b/0";
	assert_int_equal(transport(&t, url, "--transport=srp", NULL, &e), -EINVAL);
	assert_int_equal(transport(&t, url, "--provider=dpdk", NULL, &e), -EINVAL);
	assert_int_equal(transport(&t, url, "--transport=tcp", "--provider=iwarp", &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_url_is_taken_apart),
		cmocka_unit_test(what_is_not_said_is_left_open),
		cmocka_unit_test(the_scheme_says_how_to_get_there),
		cmocka_unit_test(malformed_urls_are_refused),
		cmocka_unit_test(a_password_in_a_url_is_refused_and_not_repeated),
		cmocka_unit_test(options_are_read_in_every_form),
		cmocka_unit_test(options_that_a_command_does_not_know_are_refused),
		cmocka_unit_test(url_and_options_choose_the_transport),
		cmocka_unit_test(transports_that_do_not_exist_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
