// SPDX-License-Identifier: BSD-2-Clause
// cli/failure.c and shell/suggest.c: where a line is wrong, and what may have been meant.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/fake_schema.h"
#include "cli/failure.h"
#include "cli/edit/history.h"
#include "core/suggest.h"

static struct json_object *schema;

// "COLUMN WORD" of a line at /rd that the daemon has refused. part: of the call, "=NAME", "2", or
// "".
static const char *find_part(const char *text, int code, const char *why, const char *part)
{
	static char out[200];
	struct script s;
	struct err e;
	size_t at;
	struct cause c;
	assert_int_equal(script_parse(&s, text, &at, &e), 0);
	err_set(&e, code, "%s", why);
	if (*part)
		err_at(&e, *part == '=' ? ERR_PART_NAME : ERR_PART_POSITION, (unsigned)atoi(part),
		       part + 1);
	failure_find(schema, "ramdisk", &s.lines[0], &e, &c);
	snprintf(out, sizeof out, "%zd %s", (ssize_t)c.at, c.meant ? c.meant : "-");
	free(c.meant);
	script_done(&s);
	return out;
}

static const char *find(const char *text, int code, const char *why)
{
	return find_part(text, code, why, "");
}

static void an_unknown_command_is_pointed_at(void **state)
{
	assert_string_equal(find("/rd crate a", -ENOSYS, "Command not found crate"), "4 create");
	assert_string_equal(find("xyzzy", -ENOSYS, "Command not found xyzzy"), "0 -");
	assert_string_equal(find("bookmark", -ENOSYS, "Command not found"), "0 bookmarks");
}

static void an_unknown_parameter_is_pointed_at(void **state)
{
	assert_string_equal(find("create a sise=1", -EBADRQC, "Unexpected"), "9 size");
	assert_string_equal(find("create a 1M true fast /x more", -EBADRQC, "Got 6"), "25 -");
}

static void an_alias_is_known(void **state)
{
	assert_string_equal(find("create a file_or_dev=/x sise=1", -EBADRQC, "U"), "24 size");
}

static void an_unknown_group_or_setting_is_pointed_at(void **state)
{
	assert_string_equal(find("set atribute x=1", -ENOENT, "Unknown"), "4 attribute");
	assert_string_equal(find("set attribute stat=1", -ENOENT, "Unknown"), "14 state");
	assert_string_equal(find("get attribute block_sise", -ENOENT, "Unknown"), "14 block_size");
	assert_string_equal(find("help sett", -ENOENT, "Cannot find"), "5 set");
	assert_string_equal(find("help set attribute statu", -ENOENT, "Unknown"), "19 state");
}

static void a_value_that_does_not_fit_is_pointed_at(void **state)
{
	assert_string_equal(find_part("create a 1M maybe", -EINVAL, "Syntax error", "2"), "12 -");
	assert_string_equal(find_part("create a size=x", -EINVAL, "no such size", "=size"), "9 -");
	assert_string_equal(find("create a 1M maybe", -EINVAL, "'maybe'"), "-1 -");
}

static void slips_of_the_finger_are_near(void **state)
{
	assert_int_equal(distance("create", "craete"), 1);
	assert_int_equal(distance("", "abc"), 3);
	assert_int_equal(distance("kitten", "sitting"), 3);
	assert_true(is_near("password", "passwrod"));
	assert_false(is_near("ls", "cd"));
}

static void lines_with_secrets_are_not_kept(void **state)
{
	static const char *const secret[] = {
		"set auth password=abc",
		"set auth mutual_password='a b'",
		"set auth pass\\word=abc",
		"set auth passwrod=abc",
		"ls; set auth password=x",
		"set auth token=abc",
		"set auth 'password=abc'",
		"set auth password='abc",
		"/rd set auth userid=a password=b",
		"set auth password = abc",
		"set auth PASSWORD=abc",
		"set auth pass=abc",
		"set auth pwd=abc",
		"export /d iqn.x iqn.y n 1M no no no user abc", // by its place
	};
	for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++)
		assert_false(history_may_keep(schema, shell_commands, secret[i]));
}

static void lines_without_secrets_are_kept(void **state)
{
	static const char *const plain[] = {
		"ls",
		"set auth password=-",
		"set auth userid=joe",
		"get auth password",
		"help set auth password",
		"create passage 1M",
	};
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		assert_true(history_may_keep(schema, shell_commands, plain[i]));
}

static void passwords_are_secret_without_a_schema(void **state)
{
	assert_false(history_may_keep(NULL, shell_commands, "set auth mutual_password=abc"));
	assert_true(history_may_keep(NULL, shell_commands, "ls"));
}

static int setup(void **state)
{
	schema = fake_schema();
	return schema ? 0 : -1;
}

static int teardown(void **state)
{
	json_object_put(schema);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_command_is_pointed_at),
		cmocka_unit_test(an_unknown_parameter_is_pointed_at),
		cmocka_unit_test(an_alias_is_known),
		cmocka_unit_test(an_unknown_group_or_setting_is_pointed_at),
		cmocka_unit_test(a_value_that_does_not_fit_is_pointed_at),
		cmocka_unit_test(slips_of_the_finger_are_near),
		cmocka_unit_test(lines_with_secrets_are_not_kept),
		cmocka_unit_test(lines_without_secrets_are_kept),
		cmocka_unit_test(passwords_are_secret_without_a_schema),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
