// SPDX-License-Identifier: BSD-2-Clause
// What a saved file holds is there afterwards, and is saved again; nothing is lost.
#include "target/config/config_bench.h"

#define TPG "/iscsi/iqn.2025-06.org.example.hall2:mail7/tpg1"

// The element of b that is a's namesake; the order of objects does not matter.
static struct json_object *namesake(struct json_object *a, struct json_object *b, size_t at)
{
	const char *name = json_text(a, "name") ? "name" : "wwn";
	for (size_t i = 0; json_text(a, name) && i < json_object_array_length(b); i++) {
		struct json_object *other = json_object_array_get_idx(b, i);
		if (json_text(other, name) && !strcmp(json_text(other, name), json_text(a, name)))
			return other;
	}
	return json_object_array_get_idx(b, at);
}

// Everything in a is in b, but for what b may add.
static void expect_within(struct json_object *a, struct json_object *b, const char *where)
{
	if (json_object_is_type(a, json_type_object)) {
		json_object_object_foreach(a, key, value)
		{
			struct json_object *other = json_field(b, key);
			if (!other && value)
				fail_msg("%s: %s is lost", where, key);
			expect_within(value, other, key);
		}
	} else if (json_object_is_type(a, json_type_array)) {
		assert_int_equal(json_object_array_length(a), json_object_array_length(b));
		for (size_t i = 0; i < json_object_array_length(a); i++)
			expect_within(json_object_array_get_idx(a, i),
				      namesake(json_object_array_get_idx(a, i), b, i), where);
	} else if (!json_object_equal(a, b)) {
		fail_msg("%s: %s became %s", where, json_object_to_json_string(a),
			 json_object_to_json_string(b));
	}
}

static struct json_object *document(void)
{
	char *text = saved_text();
	struct json_object *o = json_read(text, strlen(text), "saved", NULL);
	free(text);
	assert_non_null(o);
	return o;
}

static char *sample(void)
{
	char *text;
	size_t len;
	assert_int_equal(file_read(SAMPLE, &text, &len, NULL), 0);
	return text;
}

static void a_file_of_targetcli_comes_back_whole(void **state)
{
	char *text = sample();
	struct json_object *before = json_tokener_parse(text);
	write_saved(text);
	free(text);
	assert_int_equal(load(), 0);
	assert_int_equal(run("/", "saveconfig", NULL), 0);
	struct json_object *after = document();
	expect_within(before, after, "document");
	json_object_put(before);
	json_object_put(after);
}

static void a_saved_file_restores_to_the_same_file(void **state)
{
	char *text = sample();
	write_saved(text);
	free(text);
	assert_int_equal(load(), 0);
	assert_int_equal(run("/", "saveconfig", NULL), 0);
	struct json_object *one = document();
	restart();
	assert_int_equal(run("/", "saveconfig", NULL), 0);
	struct json_object *two = document();
	json_object_object_del(json_field(one, "farblock"), "generation");
	json_object_object_del(json_field(two, "farblock"), "generation");
	assert_true(json_object_equal(one, two));
	json_object_put(one);
	json_object_put(two);
}

static void what_is_missing_waits_and_what_is_foreign_is_kept(void **state)
{
	char *text = sample();
	write_saved(text);
	free(text);
	assert_int_equal(load(), 0);
	assert_non_null(strstr(summary("/backstores/block/mail-root"), "waiting: "));
	assert_non_null(strstr(summary("/backstores/fileio/template"), "No such file"));
	assert_string_equal(summary("/backstores/ramdisk/swap"), "(64.0MiB) activated");
	assert_string_equal(summary("/srpt/ib.fe800000000000000011223344556600"), "no-gen-acls");
	assert_non_null(strstr(summary(TPG "/luns/lun0"), ", no storage"));
	assert_int_equal(access("/srv/farblock-absent", F_OK), -1);
}

static void storage_that_appears_is_opened(void **state)
{
	char text[600], path[100];
	snprintf(path, sizeof path, "%s/late.img", dir);
	snprintf(text, sizeof text,
		 "{\"storage_objects\": [{\"plugin\": \"fileio\", \"name\": \"late\", \"dev\": "
		 "\"%s\", \"size\": 1048576, \"write_back\": true}], \"targets\": []}",
		 path);
	write_saved(text);
	assert_int_equal(load(), 0);
	const char *told = summary("/backstores/fileio/late"), *at = strstr(told, path);
	assert_non_null(strstr(told, "waiting"));
	assert_true(at && !strstr(at + 1, path)); // it is named once
	FILE *f = fopen(path, "w");
	assert_int_equal(ftruncate(fileno(f), 1 << 20), 0);
	fclose(f);
	assert_int_equal(run("/", "refresh", NULL), 0);
	// The timer runs before the next message is taken.
	while (strstr(summary("/backstores/fileio/late"), "waiting"))
		;
	assert_non_null(strstr(summary("/backstores/fileio/late"), "(1.0MiB)"));
}

static void unknown_keys_are_kept_at_every_level(void **state)
{
	static const char text[] =
		"{\"top\": {\"a\": [1]}, \"fabric_modules\": [{\"name\": \"loopback\", \"x\": 1}],"
		" \"storage_objects\": [{\"plugin\": \"ramdisk\", \"name\": \"r\", \"size\": "
		"1048576,"
		"   \"exclusive\": true, \"new_key\": \"v\", \"attributes\": {\"emulate_new\": "
		"7}}, "
		"   {\"plugin\": \"user\", \"name\": \"u\", \"config\": \"rbd/pool/x\"}],"
		" \"targets\": [{\"fabric\": \"iscsi\", \"wwn\": \"iqn.2025-01.org.example:t\", "
		"   \"tk\": 1, \"tpgs\": [{\"tag\": 3, \"gk\": 2, \"attributes\": {\"novel\": 1},"
		"   \"parameters\": {\"X-new\": \"1\"}, \"portals\": [], "
		"   \"luns\": [{\"index\": 4, \"storage_object\": \"/backstores/user/u\", \"lk\": "
		"1}],"
		"   \"node_acls\": [{\"node_wwn\": \"iqn.2025-01.org.example:i\", \"ak\": 3, "
		"     \"mapped_luns\": [{\"index\": 1, \"tpg_lun\": 9, \"mk\": 4}]}]}]}]}";
	struct json_object *before = json_tokener_parse(text);
	write_saved(text);
	assert_int_equal(load(), 0);
	assert_int_equal(run("/", "saveconfig", NULL), 0);
	struct json_object *after = document();
	expect_within(before, after, "document");
	json_object_put(before);
	json_object_put(after);
}

static void an_option_beside_the_name_of_an_object_wins(void **state)
{
	write_saved("{\"storage_objects\": [{\"plugin\": \"ramdisk\", \"name\": \"r\", \"size\": "
		    "1048576}], \"targets\": [], \"farblock\": {\"version\": 1, \"objects\": "
		    "{\"/backstores/ramdisk/r\": {\"options\": {\"size\": 2097152}}}}}");
	assert_int_equal(load(), 0);
	assert_non_null(strstr(summary("/backstores/ramdisk/r"), "(1.0MiB)"));
}

static void values_that_do_not_fit_are_kept_without_effect(void **state)
{
	write_saved("{\"storage_objects\": [], \"targets\": [{\"fabric\": \"iscsi\", \"wwn\": "
		    "\"iqn.2025-01.org.example:t\", \"tpgs\": [{\"tag\": 1, \"attributes\": "
		    "{\"login_timeout\": 7777}}]}]}");
	assert_int_equal(load(), 0);
	assert_string_equal(
		get("/iscsi/iqn.2025-01.org.example:t/tpg1", "attribute", "login_timeout"), "15");
}

static void damaged_files_are_named_by_place_and_kept_aside(void **state)
{
	static const char *const texts[] = { "", "{\"storage_objects\": [", "[]", "{]",
					     "{\"targets\": 5}" };
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		write_saved(texts[i]);
		assert_int_equal(load(), -EINVAL);
		assert_non_null(strstr(error.text, "saveconfig.json"));
		assert_non_null(strstr(error.text, "kept as saveconfig.json.damaged-"));
		char *now = saved_text();
		assert_string_equal(now, texts[i]);
		free(now);
	}
}

static void an_empty_tree_does_not_replace_a_full_file(void **state)
{
	write_saved("{\"storage_objects\": [{\"name\": \"x\"}], \"targets\": []}");
	assert_int_equal(run("/", "saveconfig", NULL), -EPERM);
	assert_int_equal(set("/iscsi", "discovery_auth", "\"userid\": \"u\""), -EPERM);
	char *text = saved_text();
	assert_non_null(strstr(text, "\"name\": \"x\""));
	free(text);
	assert_int_equal(run("/", "clearconfig", "{\"confirm\": true}"), 0);
	text = saved_text();
	assert_null(strstr(text, "\"name\": \"x\""));
	free(text);
}

static void the_last_object_can_be_deleted(void **state)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"r\", \"1M\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk", "delete", "[\"r\"]"), 0);
	restart();
	assert_false(exists("/backstores/ramdisk/r"));
}

// Saves to a file of its own after r and before s has come.
static void save_between(char path[120])
{
	char values[300];
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"r\", \"1M\"]"), 0);
	snprintf(path, 120, "%s/other.json", dir);
	snprintf(values, sizeof values, "[\"%s\"]", path);
	assert_int_equal(run("/", "saveconfig", values), 0);
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"s\", \"1M\"]"), 0);
}

static void restoring_leaves_what_exists_unless_told(void **state)
{
	char path[120], values[300];
	save_between(path);
	snprintf(values, sizeof values, "{\"savefile\": \"%s\", \"clear_existing\": \"false\"}",
		 path);
	assert_int_equal(run("/", "restoreconfig", values), 0);
	assert_non_null(strstr(message(1), "storageobject 'ramdisk:r' exist not restoring"));
	assert_true(exists("/backstores/ramdisk/s"));
	snprintf(values, sizeof values, "{\"savefile\": \"%s\", \"clear_existing\": true}", path);
	assert_int_equal(run("/", "restoreconfig", values), 0);
	assert_false(exists("/backstores/ramdisk/s"));
	assert_true(exists("/backstores/ramdisk/r"));
}

static void restoring_one_object_drops_no_other(void **state)
{
	char path[120], values[300];
	save_between(path);
	static const struct {
		const char *only;
		int code;
	} cases[] = {
		{"\"storage_object\": \"r\"",		       0	 },
		{ "\"storage_object\": \"s\"",		       -ENOENT}, // not in the file
		{ "\"target\": \"iqn.2025-01.org.example:none\"", -ENOENT},
		{ "\"storage_object\": \"r\", \"target\": \"x\"", -EINVAL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		snprintf(values, sizeof values,
			 "{\"savefile\": \"%s\", \"clear_existing\": true, %s}", path,
			 cases[i].only);
		assert_int_equal(run("/", "restoreconfig", values), cases[i].code);
		assert_true(exists("/backstores/ramdisk/r"));
		assert_true(exists("/backstores/ramdisk/s"));
	}
}

static void a_bad_file_to_restore_changes_nothing(void **state)
{
	char path[120], values[300];
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"r\", \"1M\"]"), 0);
	snprintf(path, sizeof path, "%s/bad.json", dir);
	FILE *f = fopen(path, "w");
	fputs("{\"storage_objects\": [", f);
	fclose(f);
	snprintf(values, sizeof values, "{\"savefile\": \"%s\", \"clear_existing\": true}", path);
	assert_int_equal(run("/", "restoreconfig", values), -EINVAL);
	assert_true(exists("/backstores/ramdisk/r"));
	unlink(path);
	assert_int_equal(run("/", "restoreconfig", values), -ENOENT);
}

static void a_file_without_content_replaces_nothing(void **state)
{
	char path[120], values[300];
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"r\", \"1M\"]"), 0);
	snprintf(path, sizeof path, "%s/hollow.json", dir);
	FILE *f = fopen(path, "w");
	fputs("{\"storage_objects\": [], \"targets\": []}", f);
	fclose(f);
	snprintf(values, sizeof values, "{\"savefile\": \"%s\", \"clear_existing\": true}", path);
	assert_int_equal(run("/", "restoreconfig", values), -EPERM);
	assert_true(exists("/backstores/ramdisk/r"));
	assert_int_equal(run("/", "clearconfig", "[\"true\"]"), 0);
	assert_int_equal(run("/", "restoreconfig", values), 0); // nothing is lost now
	unlink(path);
}

static void identity_and_order_survive_a_restart(void **state)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"r\", \"1M\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk/r", "info", NULL), 0);
	char wwn[40];
	snprintf(wwn, sizeof wwn, "%s", json_text(reply.data, "wwn"));
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.example:a\"]"), 0);
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.example:b\"]"), 0);
	assert_int_equal(run("/iscsi", "delete", "[\"iqn.2025-01.org.example:a\"]"), 0);
	restart();
	assert_int_equal(run("/backstores/ramdisk/r", "info", NULL), 0);
	assert_string_equal(json_text(reply.data, "wwn"), wwn);
	assert_int_equal(run("/iscsi/iqn.2025-01.org.example:b/tpg1", "info", NULL), 0);
	assert_int_equal(json_object_get_int(json_field(reply.data, "relative_target_port")), 2);
}

static void own_settings_stand_where_rtslib_does_not_look(void **state)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"r\", \"1M\"]"), 0);
	assert_int_equal(set("/backstores/ramdisk/r", "attribute", "\"removable\": 1"), 0);
	struct json_object *o = document();
	struct json_object *so = json_object_array_get_idx(json_field(o, "storage_objects"), 0);
	assert_null(json_field(json_field(so, "attributes"), "removable"));
	assert_non_null(json_field(json_field(so, "attributes"), "emulate_tpu"));
	json_object_put(o);
	restart();
	assert_string_equal(get("/backstores/ramdisk/r", "attribute", "removable"), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_of_targetcli_comes_back_whole),
		T(a_saved_file_restores_to_the_same_file),
		T(what_is_missing_waits_and_what_is_foreign_is_kept),
		T(storage_that_appears_is_opened),
		T(unknown_keys_are_kept_at_every_level),
		T(an_option_beside_the_name_of_an_object_wins),
		T(values_that_do_not_fit_are_kept_without_effect),
		T(damaged_files_are_named_by_place_and_kept_aside),
		T(an_empty_tree_does_not_replace_a_full_file),
		T(the_last_object_can_be_deleted),
		T(restoring_leaves_what_exists_unless_told),
		T(restoring_one_object_drops_no_other),
		T(a_bad_file_to_restore_changes_nothing),
		T(a_file_without_content_replaces_nothing),
		T(identity_and_order_survive_a_restart),
		T(own_settings_stand_where_rtslib_does_not_look),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
