// SPDX-License-Identifier: BSD-2-Clause
// Values of a saved file that an object refuses, and keys that are not of their place: they are
// reported and saved again until something else is set.
#include "target/config/config_bench.h"

#define UUID "aa254bdc-d995-4700-8a27-765e728d778b"
#define DISK                                                                                       \
	"\"storage_objects\": [{\"plugin\": \"ramdisk\", \"name\": \"r\", \"size\": 1048576,"      \
	" \"wwn\": \"" UUID "\"%s}]"
#define TARGET                                                                                     \
	"\"targets\": [{\"fabric\": \"iscsi\", \"wwn\": \"iqn.2025-01.org.example:t\","            \
	" \"tpgs\": [{\"tag\": 1%s, \"luns\": [{\"index\": 0%s,"                                   \
	" \"storage_object\": \"/backstores/ramdisk/r\"}]}]}]"

static void load_with(const char *of_disk, const char *of_tpg, const char *of_lun)
{
	char text[2000];
	snprintf(text, sizeof text, "{" DISK ", " TARGET "}", of_disk, of_tpg, of_lun);
	write_saved(text);
	assert_int_equal(load(), 0);
	assert_int_equal(run("/", "saveconfig", NULL), 0);
}

static void expect_saved(const char *part, bool is_there)
{
	char *text = saved_text();
	assert_int_equal(strstr(text, part) != NULL, is_there);
	free(text);
}

static void a_value_that_is_refused_is_saved_again(void **state)
{
	load_with("", "", ", \"alias\": \"longer than ten\"");
	expect_saved("\"alias\": \"longer than ten\"", true);
}

static void setting_another_value_ends_that(void **state)
{
	load_with(", \"alua_tpgs\": [{\"name\": \"g\", \"tg_pt_gp_id\": 1,"
		  " \"alua_access_state\": 99}]",
		  "", "");
	expect_saved("\"alua_access_state\": 99", true);
	assert_int_equal(set("/backstores/ramdisk/r/alua/g", "alua", "\"alua_access_state\": 1"),
			 0);
	expect_saved("\"alua_access_state\": 99", false);
	expect_saved("\"alua_access_state\": 1", true);
}

static void a_key_of_our_section_is_unknown_elsewhere(void **state)
{
	load_with("", ", \"relative_port\": 7", "");
	char *text = saved_text();
	struct json_object *doc = json_tokener_parse(text);
	struct json_object *target = json_object_array_get_idx(json_field(doc, "targets"), 0);
	struct json_object *tpg = json_object_array_get_idx(json_field(target, "tpgs"), 0);
	assert_int_equal(json_object_get_int(json_field(tpg, "relative_port")), 7);
	json_object_put(doc);
	free(text);
}

static void an_empty_alias_is_not_replaced(void **state)
{
	load_with("", "", ", \"alias\": \"\"");
	expect_saved("\"alias\": \"\"", true);
}

static void plan_document(void *arg)
{
	struct restore_options o = { .is_dry = true, .is_running = true, .is_apply = true };
	struct json_object *errors = json_object_new_array(), *doc = json_tokener_parse(arg);
	assert_int_equal(restore_document(config, doc, &o, errors, &error), 0);
	txn_undo(config);
	json_object_put(doc);
	json_object_put(errors);
}

static void what_was_only_planned_is_not_saved(void **state)
{
	char text[2000];
	load_with("", "", "");
	snprintf(text, sizeof text, "{" DISK ", " TARGET "}", "", ", \"strange\": 1",
		 ", \"alias\": \"longer than ten\"");
	worker_call(control, plan_document, text);
	assert_int_equal(run("/", "saveconfig", NULL), 0);
	expect_saved("strange", false);
	expect_saved("longer than ten", false);
}

static void a_command_replaces_a_refused_value(void **state)
{
	static const char path[] = "/iscsi/iqn.2025-01.org.example:t/tpg1/portals/127.0.0.1:3999";
	load_with("", ", \"portals\": [{\"ip_address\": \"127.0.0.1\", \"port\": 3999}]", "");
	config_node(config, path)->kept = json_tokener_parse("{\"transport\": \"bogus\"}");
	assert_int_equal(run(path, "transport", "[\"tcp\"]"), 0);
	expect_saved("bogus", false);
	expect_saved("\"transport\": \"tcp\"", true);
}

static void null_is_not_a_value(void **state)
{
	struct json_object *errors = json_object_new_array();
	struct json_object *doc = json_tokener_parse(
		"{\"storage_objects\": [{\"plugin\": \"ramdisk\", \"name\": \"n\","
		" \"size\": null}]}");
	struct restore_options o = { .is_dry = true };
	restore_document(config, doc, &o, errors, &error);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(errors, 0)),
			    "n: size is not a scalar");
	txn_undo(config);
	json_object_put(doc);
	json_object_put(errors);
}

static void a_value_of_another_type_is_refused(void **state)
{
	load_with("",
		  ", \"portals\": [{\"ip_address\": \"127.0.0.1\", \"port\": 3999, "
		  "\"transport\": 7}]",
		  "");
	expect_saved("\"transport\": 7", true);
	struct json_object *errors = json_object_new_array();
	struct json_object *doc = json_tokener_parse(
		"{\"storage_objects\": [], \"targets\": [{\"fabric\": \"iscsi\", \"wwn\": "
		"\"iqn.2025-01.org.example:u\", \"tpgs\": [{\"tag\": 1, \"attributes\": "
		"\"x\"}]}]}");
	struct restore_options o = { .is_dry = true };
	restore_document(config, doc, &o, errors, &error);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(errors, 0)),
			    "tpg1: 'attributes' is not an object, ignored");
	txn_undo(config);
	json_object_put(doc);
	json_object_put(errors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_value_that_is_refused_is_saved_again),
		T(setting_another_value_ends_that),
		T(a_key_of_our_section_is_unknown_elsewhere),
		T(an_empty_alias_is_not_replaced),
		T(what_was_only_planned_is_not_saved),
		T(a_command_replaces_a_refused_value),
		T(null_is_not_a_value),
		T(a_value_of_another_type_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
