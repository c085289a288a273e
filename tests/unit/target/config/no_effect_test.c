// SPDX-License-Identifier: BSD-2-Clause
// Settings that change nothing here are told when they are set, and stay in the saved file.
#include "target/config/config_bench.h"
#include "target/scsi/lu.h"

#define TPG  "/iscsi/iqn.2025-01.org.example:disk1/tpg1"
#define ACL  TPG "/acls/iqn.2025-01.org.example:host1"
#define DISK "/backstores/ramdisk/rd0"

static void make(void)
{
	assert_int_equal(set("/", "global", "\"auto_add_default_portal\": \"false\""), 0);
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"1M\"]"), 0);
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.example:disk1\"]"), 0);
	assert_int_equal(run(TPG "/acls", "create", "[\"iqn.2025-01.org.example:host1\"]"), 0);
}

static bool warns(const char *path, const char *group, const char *name, const char *value)
{
	char values[200];
	snprintf(values, sizeof values, "\"%s\": \"%s\"", name, value);
	int code = set(path, group, values);
	if (code < 0)
		fail_msg("%s=%s: %s", name, value, error.text);
	return strstr(message(1), "has no effect") != NULL;
}

// Another value than the default.
static const char *other(const struct attr_row *row)
{
	if (row->type == ATTR_STRING)
		return "Yes";
	return strcmp(row->default_text, "1") ? "1" : "0";
}

static void expect_every_ignored_row_warns(const char *path, const char *group,
					   const struct attr_row *rows)
{
	unsigned ignored = 0;
	for (const struct attr_row *row = rows; row->name; row++) {
		if (!(row->flags & ATTR_IGNORED))
			continue;
		ignored++;
		if (!strcmp(row->name, "netif_timeout"))
			assert_true(warns(path, group, row->name, "5"));
		else if (!warns(path, group, row->name, other(row)))
			fail_msg("%s is taken without a word", row->name);
		if (warns(path, group, row->name, row->default_text))
			fail_msg("%s: a warning of the default", row->name);
	}
	assert_true(ignored > 0);
}

static void what_only_the_kernel_s_target_follows_is_told(void **state)
{
	make();
	expect_every_ignored_row_warns(DISK, "attribute", lu_attr_rows);
	expect_every_ignored_row_warns(TPG, "attribute", iscsi_fabric.group.rows);
	expect_every_ignored_row_warns(ACL, "attribute", iscsi_fabric.acl.rows);
	expect_every_ignored_row_warns(TPG, "parameter", iscsi_fabric.params.rows());
	assert_true(warns(TPG, "parameter", "DefaultTime2Retain", "20"));
	assert_true(warns(DISK, "attribute", "unmap_zeroes_data", "1"));
}

static void what_the_storage_cannot_do_is_told(void **state)
{
	make();
	assert_true(warns(DISK, "attribute", "emulate_write_cache", "1"));
	assert_false(warns(DISK, "attribute", "emulate_tpu", "1"));
	assert_false(warns(DISK, "attribute", "queue_depth", "7"));
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"void\", \"1M\", \"true\"]"), 0);
	assert_true(warns("/backstores/ramdisk/void", "attribute", "thin_threshold_percent", "80"));
}

static void what_would_be_negotiated_and_not_kept_is_refused(void **state)
{
	make();
	assert_true(set(TPG, "parameter", "\"MaxConnections\": \"8\"") < 0);
	assert_non_null(strstr(error.text, "only 1"));
	assert_true(set(TPG, "parameter", "\"ErrorRecoveryLevel\": \"2\"") < 0);
	assert_int_equal(set(TPG, "parameter", "\"MaxConnections\": \"1\""), 0);
}

static void a_file_of_targetcli_that_says_so_is_restored(void **state)
{
	write_saved("{\"storage_objects\": [], \"targets\": [{\"fabric\": \"iscsi\", \"wwn\": "
		    "\"iqn.2025-01.org.example:disk1\", \"tpgs\": [{\"tag\": 1, \"attributes\": "
		    "{\"t10_pi\": 1, \"default_erl\": 2}, \"parameters\": {\"MaxConnections\": "
		    "\"8\", \"ErrorRecoveryLevel\": \"2\", \"IFMarker\": \"Yes\"}}]}]}");
	assert_int_equal(load(), 0);
	assert_string_equal(get(TPG, "attribute", "t10_pi"), "1");
	assert_string_equal(get(TPG, "parameter", "MaxConnections"), "1");
	assert_int_equal(run(TPG, "disable", NULL), 0);
	char *text = saved_text();
	assert_non_null(strstr(text, "\"MaxConnections\": \"8\""));
	assert_non_null(strstr(text, "\"ErrorRecoveryLevel\": \"2\""));
	assert_non_null(strstr(text, "\"IFMarker\": \"Yes\""));
	free(text);
	assert_int_equal(set(TPG, "parameter", "\"MaxConnections\": \"1\""), 0);
	text = saved_text();
	assert_non_null(strstr(text, "\"MaxConnections\": \"1\""));
	assert_non_null(strstr(text, "\"ErrorRecoveryLevel\": \"2\""));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_only_the_kernel_s_target_follows_is_told),
		T(what_the_storage_cannot_do_is_told),
		T(what_would_be_negotiated_and_not_kept_is_refused),
		T(a_file_of_targetcli_that_says_so_is_restored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
