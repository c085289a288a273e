// SPDX-License-Identifier: BSD-2-Clause
// What is taken from open-iscsi's configuration.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/program/open_iscsi.h"

static struct open_iscsi_auth a;

static int parse(const char *text, struct err *e)
{
	return open_iscsi_parse(&a, text, strlen(text), "node.session.auth.", "f", e);
}

static void a_record_has_users_and_secrets(void **state)
{
	struct err e;
	assert_int_equal(parse("# node.session.auth.username = no\n"
			       "node.session.auth.authmethod = CHAP\n"
			       "\tnode.session.auth.username=me \r\n"
			       "node.session.auth.password = a = b#c\n"
			       "node.session.auth.username_in = <empty>\n"
			       "node.session.auth.chap_algs = SHA256,MD5\n"
			       "node.session.auth.unknown = x\n"
			       "discovery.sendtargets.auth.username = other",
			       &e),
			 0);
	assert_true(a.is_chap);
	assert_string_equal(a.user, "me");
	assert_string_equal(a.secret, "a = b#c");
	assert_string_equal(a.mutual_user, "");
	assert_string_equal(a.algs, "SHA256,MD5");
}

static void without_the_method_it_is_not_chap(void **state)
{
	struct err e;
	assert_int_equal(parse("node.session.auth.username = me\n", &e), 0);
	assert_false(a.has_method || a.is_chap);
	assert_int_equal(parse("node.session.auth.authmethod = None\n", &e), 0);
	assert_true(a.has_method);
	assert_false(a.is_chap);
}

static void a_long_secret_is_refused_and_not_told(void **state)
{
	char text[400];
	struct err e;
	int n = snprintf(text, sizeof text, "\nnode.session.auth.password = ");
	memset(text + n, 's', CHAP_SECRET_MAX + 1);
	text[n + CHAP_SECRET_MAX + 1] = 0;
	assert_int_equal(parse(text, &e), -EINVAL);
	assert_string_equal(e.text, "f: line 2: password: longer than 255 bytes");
}

static void a_binary_file_is_refused(void **state)
{
	struct err e;
	assert_int_equal(open_iscsi_parse(&a, "a\0b", 3, "a", "f", &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_users_and_secrets),
		cmocka_unit_test(without_the_method_it_is_not_chap),
		cmocka_unit_test(a_long_secret_is_refused_and_not_told),
		cmocka_unit_test(a_binary_file_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
