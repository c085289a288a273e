// SPDX-License-Identifier: BSD-2-Clause
// URLs of logical units of iSCSI.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/iscsi/url.h"

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
	assert_int_equal(ini_url_parse("iSER://host/iqn.a:b/1", &u, &e), 0);
	assert_true(u.is_iser);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_url_is_taken_apart),
		cmocka_unit_test(what_is_not_said_is_left_open),
		cmocka_unit_test(the_scheme_says_how_to_get_there),
		cmocka_unit_test(malformed_urls_are_refused),
		cmocka_unit_test(a_password_in_a_url_is_refused_and_not_repeated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
