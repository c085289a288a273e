// SPDX-License-Identifier: BSD-2-Clause
// Settings of open-iscsi's records that boot takes: each becomes an option, or is refused.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "initiator/program/boot.h"

static struct tool tool;

static int take(const char *pair, struct err *e)
{
	char *none[] = { NULL };
	assert_int_equal(tool_options_parse(&tool.o, TOOL_BOOT, 0, none, e), 0);
	tool.o.params[tool.o.param_count++] = pair;
	return boot_params(&tool, e);
}

static void assert_text(const char *pair, const char *const *option, const char *value)
{
	struct err e;
	assert_int_equal(take(pair, &e), 0);
	assert_non_null(*option);
	assert_string_equal(*option, value);
}

static void settings_become_options(void **state)
{
	const struct tool_options *o = &tool.o;
	assert_text("iface.transport_name=iser", &o->transport, "iser");
	assert_text("iface.initiatorname=iqn.x", &o->initiator_name, "iqn.x");
	assert_text("node.session.auth.username=me", &o->chap_user, "me");
	assert_text("node.session.auth.username_in=it", &o->mutual_user, "it");
	assert_text("node.conn[0].iscsi.HeaderDigest=None,CRC32C", &o->header_digest,
		    "None,CRC32C");
	assert_text("node.session.iscsi.InitialR2T=No", &o->keys[0], "InitialR2T=No");
}

static void a_replacement_timeout_is_that_of_a_disk_without_path(void **state)
{
	const struct tool_options *o = &tool.o;
	assert_text("node.session.timeo.replacement_timeout=86400", &o->no_path_retry, "86400");
	assert_text("node.session.timeo.replacement_timeout=0", &o->no_path_retry, "fail");
	assert_text("node.session.timeo.replacement_timeout=-1", &o->no_path_retry, "queue");
}

static void times_become_numbers(void **state)
{
	struct err e;
	assert_int_equal(take("node.conn[0].timeo.login_timeout=30", &e), 0);
	assert_int_equal(tool.o.login_timeout, 30);
	assert_int_equal(take("node.conn[0].timeo.noop_out_interval=0", &e), 0);
	assert_int_equal(*tool.o.noop_out_interval, 0);
	assert_null(tool.o.noop_out_timeout);
	assert_int_equal(take("node.conn[0].timeo.noop_out_timeout=7", &e), 0);
	assert_int_equal(*tool.o.noop_out_timeout, 7);
}

static void the_last_method_counts(void **state)
{
	struct err e;
	assert_int_equal(take("node.session.auth.authmethod=None", &e), 0);
	assert_true(tool.o.is_without_chap);
	tool.o.params[tool.o.param_count++] = "node.session.auth.authmethod=CHAP";
	assert_int_equal(boot_params(&tool, &e), 0);
	assert_false(tool.o.is_without_chap);
}

static void a_full_list_of_keys_is_told(void **state)
{
	struct err e;
	int r = take("node.session.iscsi.InitialR2T=No", &e);
	while (!r && tool.o.key_count < TOOL_KEYS_MAX) {
		tool.o.param_count = 1;
		r = boot_params(&tool, &e);
	}
	assert_int_equal(r, 0);
	assert_int_equal(boot_params(&tool, &e), -EINVAL);
	assert_string_equal(e.text, "--param, --set: more than 32 keys");
}

static void values_that_are_wrong_are_refused(void **state)
{
	static const char *const rows[] = {
		"iface.transport_name=bnx2i",
		"iface.transport_name=",
		"node.session.timeo.replacement_timeout=x",
		"node.session.timeo.replacement_timeout=",
		"node.session.timeo.replacement_timeout=99999999999999999999",
		"node.conn[0].timeo.login_timeout=0",
		"node.conn[0].timeo.noop_out_interval=-1",
		"node.session.auth.authmethod=Kerberos",
		"node.session.iscsi.FirstBurstLength="
		"1111111111111111111111111111111111111111111111111111111111111111111111111111111",
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err e;
		if (take(rows[i], &e) != -EINVAL)
			fail_msg("%s", rows[i]);
		assert_true(!strncmp(e.text, "--param ", 8));
	}
}

static void unknown_settings_are_accepted(void **state)
{
	struct err e;
	assert_int_equal(take("node.session.cmds_max=128", &e), 0);
	assert_int_equal(take("=", &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_become_options),
		cmocka_unit_test(a_replacement_timeout_is_that_of_a_disk_without_path),
		cmocka_unit_test(times_become_numbers),
		cmocka_unit_test(the_last_method_counts),
		cmocka_unit_test(a_full_list_of_keys_is_told),
		cmocka_unit_test(values_that_are_wrong_are_refused),
		cmocka_unit_test(unknown_settings_are_accepted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
