// SPDX-License-Identifier: BSD-2-Clause
// target/config/complete.c: what a parameter may be.
#include "target/config/config_bench.h"

#define TPG "/iscsi/iqn.2025-01.org.x:t/tpg1"

static struct question {
	const char *path, *command, *parameter, *prefix;
	struct json_object *list;
} asked;

static void ask_there(void *arg)
{
	error = (struct err){ 0 };
	asked.list = config_complete(config, asked.path, asked.command, asked.parameter,
				     asked.prefix, &error);
}

// The texts with a blank behind each; NULL: an error.
static const char *ask(const char *path, const char *command, const char *parameter,
		       const char *prefix)
{
	static char text[4000];
	asked = (struct question){ path, command, parameter, prefix, NULL };
	worker_call(control, ask_there, NULL);
	if (!asked.list)
		return NULL;
	*text = 0;
	for (size_t i = 0; i < json_object_array_length(asked.list); i++) {
		strcat(text, json_text(json_object_array_get_idx(asked.list, i), "text"));
		strcat(text, " ");
	}
	json_object_put(asked.list);
	return text;
}

static void make(void)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd10\", \"1M\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd2\", \"1M\"]"), 0);
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.x:t\"]"), 0);
	assert_int_equal(run(TPG "/luns", "create", "[\"/backstores/ramdisk/rd2\"]"), 0);
	assert_int_equal(run(TPG "/acls", "create", "[\"iqn.2025-01.org.x:i\"]"), 0);
}

static void names_of_what_is_there_are_offered(void **state)
{
	make();
	assert_string_equal(ask("/backstores/ramdisk", "delete", "name", ""), "rd2 rd10 ");
	assert_string_equal(ask("/iscsi", "delete", "wwn", "iqn.2025"), "iqn.2025-01.org.x:t ");
	assert_string_equal(ask(TPG "/luns", "delete", "lun", ""), "lun0 ");
}

static void luns_are_made_of_storage_objects(void **state)
{
	make();
	assert_string_equal(ask(TPG "/luns", "create", "storage_object", "/b"),
			    "/backstores/ramdisk/rd2 /backstores/ramdisk/rd10 ");
}

static void mapped_luns_are_made_of_luns_and_storage(void **state)
{
	make();
	const char *acl = TPG "/acls/iqn.2025-01.org.x:i";
	assert_string_equal(ask(acl, "create", "tpg_lun_or_backstore", ""),
			    "lun0 /backstores/ramdisk/rd2 /backstores/ramdisk/rd10 ");
}

static void addresses_are_those_of_this_machine(void **state)
{
	make();
	assert_non_null(strstr(ask(TPG "/portals", "create", "ip_address", ""), "127.0.0.1 "));
	assert_string_equal(ask(TPG "/portals", "create", "ip_address", "0."), "0.0.0.0 ");
}

static void a_value_that_may_be_anything_has_no_candidates(void **state)
{
	assert_string_equal(ask("/backstores/ramdisk", "create", "name", ""), "");
}

static void what_does_not_exist_is_an_error(void **state)
{
	assert_null(ask("/nowhere", "delete", "name", ""));
	assert_int_equal(error.code, -ENOENT);
	assert_null(ask("/iscsi", "nothing", "name", ""));
	assert_int_equal(error.code, -ENOSYS);
	assert_null(ask("/iscsi", "create", "nothing", ""));
	assert_int_equal(error.code, -EBADRQC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(names_of_what_is_there_are_offered),
		T(luns_are_made_of_storage_objects),
		T(mapped_luns_are_made_of_luns_and_storage),
		T(addresses_are_those_of_this_machine),
		T(a_value_that_may_be_anything_has_no_candidates),
		T(what_does_not_exist_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
