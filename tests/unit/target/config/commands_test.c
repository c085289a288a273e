// SPDX-License-Identifier: BSD-2-Clause
// The tree's commands: what they make, say, refuse and undo.
#include "target/config/config_bench.h"

#include "target/config/tree/frozen.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/medium.h"

#define IQN  "iqn.2025-01.org.example:disk1"
#define TPG  "/iscsi/" IQN "/tpg1"
#define HOST "iqn.2025-01.org.example:client1"

static void make_target(void)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"16M\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd1\", \"16M\"]"), 0);
	assert_int_equal(run("/iscsi", "create", "[\"" IQN "\"]"), 0);
	// Port 3260 of this machine is not ours to take for long.
	assert_int_equal(run(TPG "/portals", "delete", "[\"0.0.0.0\", \"3260\"]"), 0);
}

static void a_ram_disk_is_made_as_targetcli_makes_it(void **state)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"16M\"]"), 0);
	assert_string_equal(message(0), "Created ramdisk rd0 with size 16.0MiB.");
	assert_string_equal(summary("/backstores/ramdisk/rd0"), "(16.0MiB) deactivated");
	assert_string_equal(get("/backstores/ramdisk/rd0", "attribute", "emulate_model_alias"),
			    "1");
}

static void a_target_comes_with_a_group_and_a_portal(void **state)
{
	assert_int_equal(run("/iscsi", "create", "[\"IQN.2025-01.org.example:Disk1\"]"), 0);
	assert_string_equal(message(0), "Created target " IQN ".");
	assert_string_equal(message(1), "Created TPG 1.");
	assert_string_equal(message(3), "Created default portal listening on all IPs (0.0.0.0), "
					"port 3260.");
	assert_true(exists(TPG "/portals/0.0.0.0:3260"));
	assert_string_equal(get(TPG, "attribute", "authentication"), "1");
	assert_string_equal(get(TPG, "attribute", "generate_node_acls"), "0");
}

static void a_second_group_gets_no_default_portal(void **state)
{
	assert_int_equal(run("/iscsi", "create", "[\"" IQN "\"]"), 0);
	assert_int_equal(run("/iscsi/" IQN, "create", NULL), 0);
	assert_string_equal(message(0), "Created TPG 2.");
	assert_non_null(strstr(message(1), "cannot share ip:port"));
}

static void what_creating_does_by_itself_can_be_turned_off(void **state)
{
	assert_int_equal(run("/iscsi", "create", "[\"" IQN "\"]"), 0);
	assert_string_equal(get(TPG, "global", "auto_add_default_portal"), "true");
	// At any node, as in targetcli.
	assert_int_equal(set(TPG, "global",
			     "\"auto_add_default_portal\": \"false\", "
			     "\"auto_enable_tpgt\": \"false\", "
			     "\"auto_add_mapped_luns\": \"false\""),
			 0);
	restart();
	assert_string_equal(get("/", "global", "auto_add_default_portal"), "false");
	assert_int_equal(run("/iscsi", "create", "[\"" IQN ".2\"]"), 0);
	assert_string_equal(message(1), "Created TPG 1.");
	assert_string_equal(message(2), "");
	assert_string_equal(summary("/iscsi/" IQN ".2/tpg1/portals"), "Portals: 0");
	assert_string_equal(summary("/iscsi/" IQN ".2/tpg1"), "disabled");
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"1M\"]"), 0);
	assert_int_equal(run(TPG "/luns", "create", "[\"ramdisk/rd0\"]"), 0);
	assert_int_equal(run(TPG "/acls", "create", "[\"" HOST "\"]"), 0);
	assert_true(exists(TPG "/acls/" HOST));
	assert_false(exists(TPG "/acls/" HOST "/mapped_lun0"));
	assert_int_equal(set("/", "global", "\"auto_add_default_portal\": \"true\""), 0);
	assert_int_equal(set("/", "global", "\"auto_cd\": \"true\""), -ENOENT);
	assert_int_equal(run("/iscsi", "create", "[\"" IQN ".3\"]"), 0);
	assert_true(exists("/iscsi/" IQN ".3/tpg1/portals/0.0.0.0:3260"));
}

static void how_many_backups_are_kept_is_a_preference(void **state)
{
	assert_string_equal(get("/", "global", "max_backup_files"), "10");
	assert_int_equal(set("/", "global", "\"max_backup_files\": \"1001\""), -EINVAL);
	assert_int_equal(set("/", "global", "\"max_backup_files\": \"2\""), 0);
	restart();
	assert_string_equal(get("/", "global", "max_backup_files"), "2");
	for (int i = 0; i < 5; i++) {
		char wanted[32];
		snprintf(wanted, sizeof wanted, "[\"rd%d\", \"1M\"]", i);
		assert_int_equal(run("/backstores/ramdisk", "create", wanted), 0);
	}
	assert_int_equal(run("/", "undo", "[\"3\"]"), -ENOENT);
	assert_int_equal(run("/", "undo", "[\"2\"]"), 0);
	assert_true(exists("/backstores/ramdisk/rd2"));
	assert_false(exists("/backstores/ramdisk/rd3"));
}

static void undo_brings_preferences_back(void **state)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"1M\"]"), 0);
	assert_int_equal(set("/", "global", "\"auto_enable_tpgt\": \"false\""), 0);
	assert_int_equal(set("/", "global", "\"max_backup_files\": \"5\""), 0);
	assert_int_equal(run("/", "undo", "[\"1\"]"), 0);
	assert_string_equal(get("/", "global", "max_backup_files"), "10");
	assert_string_equal(get("/", "global", "auto_enable_tpgt"), "false");
	assert_int_equal(run("/", "undo", "[\"3\"]"), 0);
	assert_string_equal(get("/", "global", "auto_enable_tpgt"), "true");
}

static void luns_and_acls_are_mapped_to_each_other(void **state)
{
	make_target();
	assert_int_equal(run(TPG "/luns", "create", "[\"/backstores/ramdisk/rd0\"]"), 0);
	assert_string_equal(message(0), "Created LUN 0.");
	assert_int_equal(run(TPG "/acls", "create", "[\"" HOST "\"]"), 0);
	assert_string_equal(message(1), "Created mapped LUN 0.");
	assert_int_equal(run(TPG "/luns", "create", "[\"ramdisk/rd1\", \"lun7\"]"), 0);
	assert_string_equal(message(1), "Created LUN 7->7 mapping in node ACL " HOST);
	assert_string_equal(summary(TPG "/acls/" HOST "/mapped_lun7"), "lun7 ramdisk/rd1 (rw)");
	assert_string_equal(summary("/backstores/ramdisk/rd1"), "(16.0MiB) activated");
}

static void mapping_can_be_left_out_and_made_by_hand(void **state)
{
	make_target();
	assert_int_equal(run(TPG "/luns", "create", "[\"/backstores/ramdisk/rd0\"]"), 0);
	assert_int_equal(run(TPG "/acls", "create", "[\"" HOST "\", \"false\"]"), 0);
	assert_int_equal(run(TPG "/acls/" HOST, "create", "[\"5\", \"lun0\", \"true\"]"), 0);
	assert_string_equal(summary(TPG "/acls/" HOST "/mapped_lun5"), "lun0 ramdisk/rd0 (ro)");
}

static void deleting_storage_takes_its_luns_along(void **state)
{
	make_target();
	assert_int_equal(run(TPG "/luns", "create", "[\"/backstores/ramdisk/rd0\"]"), 0);
	assert_int_equal(run(TPG "/acls", "create", "[\"" HOST "\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk", "delete", "[\"rd0\"]"), 0);
	assert_false(exists(TPG "/luns/lun0"));
	assert_false(exists(TPG "/acls/" HOST "/mapped_lun0"));
	assert_true(exists(TPG "/acls/" HOST));
}

static void one_file_backs_one_storage_object(void **state)
{
	char values[200];
	snprintf(values, sizeof values, "[\"f0\", \"%s/disk.img\", \"8M\"]", dir);
	assert_int_equal(run("/backstores/fileio", "create", values), 0);
	snprintf(values, sizeof values, "[\"f1\", \"%s/disk.img\", \"8M\"]", dir);
	assert_int_equal(run("/backstores/fileio", "create", values), -EEXIST);
	assert_false(exists("/backstores/fileio/f1"));
	assert_int_equal(run("/backstores/fileio", "delete", "[\"f0\"]"), 0);
	assert_int_equal(run("/backstores/fileio", "create", values), 0);
}

static void refusals_have_their_code_and_change_nothing(void **state)
{
	static const struct {
		const char *path, *command, *values;
		int code;
		// clang-format off
	} rows[] = {
		{ "/backstores/ramdisk", "create", "[\"rd0\", \"1M\"]", -EEXIST },
		{ "/backstores/ramdisk", "create", "[\"x\"]", -EBADRQC },
		{ "/backstores/ramdisk", "create", "[\"x\", \"huge\"]", -EINVAL },
		{ "/backstores/ramdisk", "create", "[\"a b\", \"1M\"]", -EINVAL },
		{ "/backstores/ramdisk", "delete", "[\"x\"]", -ENOENT },
		{ "/backstores/fileio", "create", "[\"x\", \"/nonexistent/dir/f\"]", -EINVAL },
		{ "/iscsi", "create", "[\"disk1\"]", -EINVAL },
		{ "/iscsi", "create", "[\"" IQN "\"]", -EEXIST },
		{ "/iscsi/" IQN, "create", "[\"x\"]", -EINVAL },
		{ "/iscsi/" IQN, "delete", "[\"9\"]", -ENOENT },
		{ TPG "/luns", "create", "[\"/backstores/ramdisk/none\"]", -ENOENT },
		{ TPG "/luns", "create", "[\"/backstores/ramdisk/rd0\", \"99999\"]", -EINVAL },
		{ TPG "/luns", "delete", "[\"3\"]", -ENOENT },
		{ TPG "/acls", "create", "[\"nobody\"]", -EINVAL },
		{ TPG "/portals", "create", "[\"not-an-address\"]", -EINVAL },
		{ TPG "/portals", "create", "[\"127.0.0.1\", \"70000\"]", -EINVAL },
		{ TPG "/portals", "delete", "[\"127.0.0.1\", \"3999\"]", -ENOENT },
		{ "/nowhere", "ls", NULL, -ENOENT },
		{ "/", "explode", NULL, -ENOSYS },
		{ "/", "clearconfig", NULL, -EINVAL },
	};
	// clang-format on
	make_target();
	char *before = saved_text();
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int code = run(rows[i].path, rows[i].command, rows[i].values);
		if (rows[i].code == -EINVAL && code == -ENOENT)
			code = -EINVAL; // of storage that is not there, either will do
		assert_int_equal(code, rows[i].code);
		assert_true(error.text[0]);
	}
	char *after = saved_text();
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static void values_of_one_set_are_all_taken_or_none(void **state)
{
	make_target();
	assert_int_equal(
		set(TPG, "attribute", "\"login_timeout\": 20, \"default_cmdsn_depth\": 9999"),
		-EINVAL);
	assert_string_equal(get(TPG, "attribute", "login_timeout"), "15");
	assert_int_equal(
		set(TPG, "attribute", "\"login_timeout\": 20, \"default_cmdsn_depth\": 32"), 0);
	assert_string_equal(get(TPG, "attribute", "login_timeout"), "20");
	assert_string_equal(get(TPG, "attribute", "default_cmdsn_depth"), "32");
}

static void what_cannot_be_saved_is_undone(void **state)
{
	char temp[200];
	make_target();
	snprintf(temp, sizeof temp, "%s.temp", saved);
	assert_int_equal(mkdir(temp, 0700), 0); // no temporary file can be made
	assert_true(run("/backstores/ramdisk", "create", "[\"rd2\", \"1M\"]") < 0);
	assert_false(exists("/backstores/ramdisk/rd2"));
	assert_true(run("/backstores/ramdisk", "delete", "[\"rd0\"]") < 0);
	assert_true(exists("/backstores/ramdisk/rd0"));
	assert_true(run("/iscsi", "delete", "[\"" IQN "\"]") < 0);
	assert_true(exists(TPG "/luns"));
	assert_true(set(TPG, "attribute", "\"login_timeout\": 20") < 0);
	assert_string_equal(get(TPG, "attribute", "login_timeout"), "15");
	assert_true(set("/backstores/ramdisk/rd0", "attribute", "\"emulate_tpu\": 1") < 0);
	assert_string_equal(get("/backstores/ramdisk/rd0", "attribute", "emulate_tpu"), "0");
	rmdir(temp);
	assert_int_equal(run("/backstores/ramdisk", "delete", "[\"rd0\"]"), 0);
}

static void secrets_are_masked_and_saved(void **state)
{
	make_target();
	assert_int_equal(set(TPG, "auth", "\"userid\": \"u\", \"password\": \"open sesame 12\""),
			 0);
	assert_string_equal(message(1), "Parameter password is now '********'.");
	assert_string_equal(get(TPG, "auth", "password"), "********");
	char *text = saved_text();
	assert_non_null(strstr(text, "\"chap_password\": \"open sesame 12\""));
	free(text);
}

static void a_secret_is_made_up_on_wish(void **state)
{
	char first[64], line[128];
	make_target();
	assert_int_equal(set(TPG, "auth", "\"userid\": \"u\", \"password\": \"+\""), 0);
	assert_int_equal(sscanf(message(1), "Parameter password is now '%16[^'\n]'", first), 1);
	assert_int_equal(strlen(first), 16);
	snprintf(line, sizeof line, "\"chap_password\": \"%s\"", first);
	char *text = saved_text();
	assert_non_null(strstr(text, line));
	free(text);
	assert_string_equal(get(TPG, "auth", "password"), "********");
	assert_int_equal(set(TPG, "auth", "\"password\": \"+\""), 0);
	assert_null(strstr(message(0), first)); // another one
	assert_int_equal(set(TPG, "auth", "\"userid\": \"+\""), 0);
	assert_string_equal(get(TPG, "auth", "userid"), "+"); // no secret
}

static void create_tells_the_path_of_what_it_made(void **state)
{
	static const struct {
		const char *path, *params, *made;
	} rows[] = {
		{"/backstores/ramdisk", "[\"rd0\", \"1M\"]",	      "/backstores/ramdisk/rd0"},
		{ "/iscsi",		    "[\"" IQN "\"]",		     "/iscsi/" IQN		   },
		{ TPG "/luns",	       "[\"/backstores/ramdisk/rd0\"]", TPG "/luns/lun0"	 },
		{ TPG "/acls",	       "[\"" HOST "\"]",		 TPG "/acls/" HOST	   },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(run(rows[i].path, "create", rows[i].params), 0);
		assert_string_equal(json_object_get_string(reply.created), rows[i].made);
	}
	assert_int_equal(run(TPG, "disable", NULL), 0);
	assert_null(reply.created);
}

static void what_is_wrong_with_a_value_is_said(void **state)
{
	static const struct {
		const char *path, *command, *values, *text;
		// clang-format off
	} rows[] = {
		{ "/backstores/ramdisk", "create", "[\"x\", \"0\"]", "size: invalid value '0'" },
		{ "/backstores/fileio", "create", "[\"x\", \"\"]", "file_or_dev: empty" },
		{ TPG "/luns", "create", "[\"\"]", "storage_object: empty" },
		{ TPG "/luns", "create", "[\"ramdisk/rd0\", \"\"]", "lun: invalid LUN number ''" },
		{ TPG "/luns", "create", "[\"ramdisk/rd0\", \"-1\"]", "lun: invalid LUN number '-1'" },
		{ TPG "/luns", "delete", "[\"\"]", "lun: empty" },
		{ "/iscsi/" IQN, "create", "[\"70000\"]", "'70000'; 0..65535" },
		{ TPG, "set", "{\"group\": \"parameter\", \"MaxBurstLength\": \"\"}",
		  "MaxBurstLength: invalid value ''" },
		{ "/", "drop", "[\"0\"]", "invalid session id: '0'" },
		{ "/", "drop", "[\"-1\"]", "invalid session id: '-1'" },
		{ "/", "saveconfig", "[\"\"]", "savefile: empty" },
	};
	// clang-format on
	make_target();
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(run(rows[i].path, rows[i].command, rows[i].values), -EINVAL);
		if (!strstr(error.text, rows[i].text))
			fail_msg("\"%s\" without \"%s\"", error.text, rows[i].text);
	}
}

static void set_without_a_group_is_wrong_usage(void **state)
{
	assert_int_equal(run("/", "set", NULL), -EBADRQC);
	assert_string_equal(error.text, "Missing required parameter group");
}

static void one_secret_for_both_directions_is_refused(void **state)
{
	make_target();
	assert_int_equal(set(TPG, "auth",
			     "\"userid\": \"u\", \"password\": \"same-same-1234\", "
			     "\"mutual_userid\": \"m\", \"mutual_password\": \"same-same-1234\""),
			 -EINVAL);
	assert_null(strstr(error.text, "same-same"));
	assert_string_equal(get(TPG, "auth", "userid"), "");
}

static void discovery_authentication_needs_credentials(void **state)
{
	assert_int_equal(set("/iscsi", "discovery_auth", "\"enable\": 1"), 0);
	assert_string_equal(summary("/iscsi"), "disc auth, no credentials, Targets: 0");
	assert_int_equal(set("/iscsi", "discovery_auth",
			     "\"enable\": 1, \"userid\": \"u\", \"password\": \"123456789012\""),
			 0);
	assert_string_equal(summary("/iscsi"), "1-way disc auth, Targets: 0");
}

static void those_who_may_only_look_change_nothing(void **state)
{
	assert_int_equal(run_as(false, "/backstores/ramdisk", "create", "[\"rd0\", \"1M\"]"),
			 -EPERM);
	assert_int_equal(
		run_as(false, "/iscsi", "set", "{\"group\": \"discovery_auth\", \"enable\": 0}"),
		-EPERM);
	assert_int_equal(run_as(false, "/", "ls", NULL), 0);
}

static void those_who_may_only_look_have_no_files_read(void **state)
{
	char file[128];
	snprintf(file, sizeof file, "[\"%s/other.json\"]", dir);
	assert_int_equal(run("/", "saveconfig", file), 0);
	assert_int_equal(run("/", "diff", file), 0);
	assert_int_equal(run_as(false, "/", "diff", file), -EPERM);
	assert_int_equal(run_as(false, "/", "diff", NULL), 0);
}

static void a_setting_read_at_open_opens_storage_again(void **state)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"16M\"]"), 0);
	assert_int_equal(set("/backstores/ramdisk/rd0", "attribute", "\"block_size\": 4096"), 0);
	assert_string_equal(get("/backstores/ramdisk/rd0", "attribute", "hw_block_size"), "4096");
}

static void a_setting_read_at_open_is_refused_while_in_use(void **state)
{
	make_target();
	assert_int_equal(run(TPG "/luns", "create", "[\"/backstores/ramdisk/rd0\"]"), 0);
	assert_int_equal(set("/backstores/ramdisk/rd0", "attribute", "\"block_size\": 4096"),
			 -EBUSY);
	assert_string_equal(get("/backstores/ramdisk/rd0", "attribute", "block_size"), "512");
}

static void parameters_are_keys_with_their_ranges(void **state)
{
	make_target();
	assert_int_equal(
		set(TPG, "parameter", "\"MaxBurstLength\": \"65536\", \"TargetAlias\": \"x\""), 0);
	assert_string_equal(get(TPG, "parameter", "MaxBurstLength"), "65536");
	assert_string_equal(get(TPG, "parameter", "TargetAlias"), "x");
	assert_true(set(TPG, "parameter", "\"MaxBurstLength\": \"12\"") < 0);
	assert_int_equal(set(TPG, "parameter", "\"NoSuchKey\": \"1\""), -ENOENT);
}

static void alua_groups_come_and_go(void **state)
{
	make_target();
	assert_int_equal(run("/backstores/ramdisk/rd0/alua", "create", "[\"g1\", \"5\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk/rd0/alua", "create", "[\"g2\", \"5\"]"), -EEXIST);
	assert_int_equal(run(TPG "/luns", "create", "[\"/backstores/ramdisk/rd0\"]"), 0);
	assert_int_equal(set(TPG "/luns/lun0", "alua", "\"alua_tg_pt_gp_name\": \"g1\""), 0);
	assert_int_equal(run("/backstores/ramdisk/rd0/alua", "delete", "[\"g1\"]"), -EBUSY);
	assert_int_equal(set(TPG "/luns/lun0", "alua", "\"alua_tg_pt_gp_name\": \"none\""),
			 -ENOENT);
	assert_int_equal(run(TPG "/luns", "delete", "[\"0\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk/rd0/alua", "delete", "[\"g1\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk/rd0/alua", "delete", "[\"default_tg_pt_gp\"]"),
			 -EPERM);
}

static void settings_of_an_alua_group_reach_the_logical_unit(void **state)
{
	static const char g1[] = "/backstores/ramdisk/rd0/alua/g1";
	make_target();
	assert_int_equal(run("/backstores/ramdisk/rd0/alua", "create", "[\"g1\", \"5\"]"), 0);
	assert_int_equal(set(g1, "alua", "\"nonop_delay_msecs\": \"7\", \"preferred\": \"1\""), 0);
	assert_string_equal(get(g1, "alua", "nonop_delay_msecs"), "7");
	assert_string_equal(get(g1, "alua", "preferred"), "1");
	assert_int_equal(set(g1, "alua", "\"alua_access_state\": \"2\""), 0);
	assert_string_equal(get(g1, "alua", "alua_access_state"), "2");
	assert_string_equal(get(g1, "alua", "nonop_delay_msecs"), "7");
	assert_true(set(g1, "alua", "\"preferred\": \"0\", \"alua_access_state\": \"9\"") < 0);
	assert_string_equal(get(g1, "alua", "preferred"), "1");
	assert_string_equal(get(g1, "alua", "alua_access_state"), "2");
}

static void a_file_is_named_by_its_whole_path(void **state)
{
	assert_int_equal(run("/backstores/fileio", "create", "[\"f\", \"f.img\", \"1M\"]"),
			 -EINVAL);
	assert_non_null(strstr(error.text, "absolute path"));
	assert_int_equal(run("/", "saveconfig", "[\"copy.json\"]"), -EREMOTE);
}

static void what_has_not_changed_is_not_made_again_for_a_save(void **state)
{
	make_target();
	assert_int_equal(run(TPG "/luns", "create", "[\"/backstores/ramdisk/rd0\"]"), 0);
	const struct storage *rd0 = storage_find(config, "ramdisk/rd0");
	const struct storage *rd1 = storage_find(config, "ramdisk/rd1");
	const struct node *lun = &list_entry(rd0->luns.next, struct lun, storage_link)->node;
	// Held, so that no other gets their place in memory.
	struct json_object *disk0 = json_object_get(rd0->node.frozen->value);
	struct json_object *disk1 = json_object_get(rd1->node.frozen->value);
	struct json_object *lun0 = json_object_get(lun->frozen->value);
	assert_int_equal(set("/backstores/ramdisk/rd0", "attribute", "\"emulate_tas\": \"0\""), 0);
	assert_ptr_equal(rd1->node.frozen->value, disk1);
	assert_ptr_equal(lun->frozen->value, lun0);
	assert_ptr_not_equal(rd0->node.frozen->value, disk0);
	json_object_put(disk0);
	json_object_put(disk1);
	json_object_put(lun0);
}

// Changes one field behind everybody's back: the next save has it.
static void expect_saved(void *field, size_t size)
{
	uint8_t old[16], *at = field;
	assert_true(size <= sizeof old);
	memcpy(old, field, size);
	for (size_t i = 0; i < size; i++)
		at[i] = size == sizeof(void *) ? 0 : at[i] ^ (i == 0);
	worker_call(control, compare_texts, NULL);
	assert_false(is_text_old);
	memcpy(field, old, size);
	worker_call(control, compare_texts, NULL);
	assert_false(is_text_old);
}

static void whatever_changes_in_an_object_reaches_the_next_save(void **state)
{
	char args[200];
	snprintf(args, sizeof args, "[\"f0\", \"%s/f0.img\", \"1M\"]", dir);
	make_target();
	assert_int_equal(run("/backstores/fileio", "create", args), 0);
	assert_int_equal(run(TPG "/luns", "create", "[\"/backstores/fileio/f0\"]"), 0);
	assert_int_equal(run(TPG "/acls", "create", "[\"" HOST "\"]"), 0);
	struct storage *s = storage_find(config, "fileio/f0");
	expect_saved(&s->attr.emulate_tas, 1);
	expect_saved(&s->wwn, 1);
	expect_saved(&s->lu->bs->limits.size, 2);
	expect_saved(&s->lu, sizeof s->lu);
	for (int i = 0; s->type->options[i].name; i++)
		if (s->option[i])
			expect_saved(s->option[i], 1);
	struct lun *l = list_entry(s->luns.next, struct lun, storage_link);
	expect_saved(&l->alias, 1);
	expect_saved(&l->number, 1);
	expect_saved(&l->group, 1);
	expect_saved(&l->write_protect, 1);
	expect_saved(&l->storage, sizeof l->storage);
	struct mapped_lun *m = list_entry(l->mapped.next, struct mapped_lun, lun_link);
	expect_saved(&m->alias, 1);
	expect_saved(&m->number, 1);
	expect_saved(&m->is_write_protected, 1);
	expect_saved(&m->lun, sizeof m->lun);
	struct node *nodes[] = { &s->node, &l->node, &m->node };
	for (int i = 0; i < 3; i++) {
		struct json_object *kept = json_object_new_object();
		json_object_object_add(kept, "theirs", json_object_new_int(1));
		nodes[i]->kept = kept;
		worker_call(control, compare_texts, NULL);
		assert_false(is_text_old);
		nodes[i]->kept = NULL;
		json_object_put(kept);
		worker_call(control, compare_texts, NULL);
		assert_false(is_text_old);
	}
}

static void a_sanitize_is_told_while_it_runs_and_while_it_is_due(void **state)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"16M\"]"), 0);
	struct lu *lu = storage_find(config, "ramdisk/rd0")->lu;
	lu->sanitize = 1 + 65536 / 2;
	assert_string_equal(summary("/backstores/ramdisk/rd0"),
			    "(16.0MiB) deactivated, SANITIZE runs: 50%");
	assert_string_equal(json_text(reply.data, "sanitize"), "running");
	assert_int_equal(json_object_get_int(json_field(reply.data, "sanitize_percent")), 50);
	lu->sanitize = SANITIZE_FAILED;
	assert_string_equal(summary("/backstores/ramdisk/rd0"),
			    "(16.0MiB) deactivated, SANITIZE is due");
	assert_string_equal(json_text(reply.data, "sanitize"), "due");
	assert_false(json_object_get_boolean(json_field(reply.data, "sanitize_may_be_left")));
	assert_int_equal(run("/backstores/ramdisk/rd0", "ls", NULL), 0);
	struct json_object *shown = json_tokener_parse(json_object_to_json_string(reply.data));
	assert_true(json_object_is_type(json_field(shown, "healthy"), json_type_boolean));
	assert_false(json_object_get_boolean(json_field(shown, "healthy")));
	json_object_put(shown);
	lu->sanitize = SANITIZE_IDLE;
	assert_string_equal(summary("/backstores/ramdisk/rd0"), "(16.0MiB) deactivated");
	assert_null(json_field(reply.data, "sanitize"));
}

static void a_copy_elsewhere_makes_no_folders(void **state)
{
	char copy[200], folder[100], args[220];
	snprintf(folder, sizeof folder, "%s/copies", dir);
	snprintf(copy, sizeof copy, "%s/copy.json", folder);
	snprintf(args, sizeof args, "[\"%s\"]", copy);
	assert_int_equal(run("/", "saveconfig", args), -ENOENT);
	assert_non_null(strstr(error.text, folder));
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(run("/", "saveconfig", args), 0);
	assert_int_equal(run("/", "saveconfig", args), 0);
	snprintf(copy, sizeof copy, "%s/backup", folder);
	assert_int_equal(access(copy, F_OK), -1);
}

static void a_unit_serial_belongs_to_one_disk(void **state)
{
	assert_int_equal(
		run("/backstores/ramdisk", "create",
		    "[\"s1\", \"1M\", \"false\", \"5b0c3f0e-7c21-4f63-9a0d-2d7e41f0a911\"]"),
		0);
	assert_int_equal(
		run("/backstores/ramdisk", "create",
		    "[\"s2\", \"1M\", \"false\", \"5B0C3F0E-7c21-4f63-9a0d-2d7e41f0a911\"]"),
		-EEXIST);
	assert_non_null(strstr(error.text, "ramdisk/s1"));
}

static void a_portal_without_an_address_waits(void **state)
{
	make_target();
	assert_int_equal(run(TPG "/portals", "create", "[\"192.0.2.77\", \"3999\"]"), 0);
	assert_non_null(strstr(message(1), "portal waiting"));
	assert_non_null(strstr(summary(TPG "/portals/192.0.2.77:3999"), "waiting"));
	assert_int_equal(run(TPG "/portals", "create", "[\"fe80::1%nosuch0\", \"3999\"]"), 0);
	assert_true(exists(TPG "/portals/[fe80::1%nosuch0]:3999"));
}

static bool is_saved(const char *part)
{
	char *text = saved_text();
	bool ret = strstr(text, part) != NULL;
	free(text);
	return ret;
}

static void a_portal_offers_every_transport_unless_told(void **state)
{
	static const char portal[] = TPG "/portals/192.0.2.77:3999";
	make_target();
	assert_int_equal(run(TPG "/portals", "create", "[\"192.0.2.77\", \"3999\"]"), 0);
	assert_false(is_saved("\"transport\""));
	assert_int_equal(run(portal, "transport", "[\"tcp\"]"), 0);
	assert_string_equal(message(0), "Transport is now: tcp");
	assert_true(is_saved("\"transport\": \"tcp\""));
	assert_int_equal(run(portal, "transport", "[\"udp\"]"), -EINVAL);
	restart();
	assert_true(is_saved("\"transport\": \"tcp\""));
	assert_int_equal(run(portal, "enable_iser", "[\"true\"]"), 0);
	assert_false(is_saved("\"transport\""));
	assert_true(is_saved("\"iser\": true"));
	assert_int_equal(run(portal, "transport", "[\"iser\"]"), 0);
	assert_true(is_saved("\"iser\": true"));
	assert_true(is_saved("\"transport\": \"iser\""));
	assert_int_equal(run(portal, "enable_iser", "[\"false\"]"), 0);
	assert_true(is_saved("\"transport\": \"tcp\""));
	assert_false(is_saved("\"iser\": true"));
}

static void enabling_iser_leaves_a_portal_for_rdma_devices_alone(void **state)
{
	static const char portal[] = TPG "/portals/192.0.2.80:3999";
	make_target();
	assert_int_equal(run(TPG "/portals", "create", "[\"192.0.2.80\", \"3999\", \"rdma\"]"), 0);
	assert_true(is_saved("\"transport\": \"rdma\""));
	assert_int_equal(run(portal, "enable_iser", "[\"true\"]"), 0);
	assert_true(is_saved("\"transport\": \"rdma\""));
	assert_int_equal(run(portal, "enable_iser", "[\"false\"]"), 0);
	assert_true(is_saved("\"transport\": \"tcp\""));
}

static void a_portal_is_made_with_a_transport(void **state)
{
	make_target();
	assert_int_equal(run(TPG "/portals", "create", "[\"192.0.2.78\", \"3999\", \"iser\"]"), 0);
	assert_true(is_saved("\"transport\": \"iser\""));
	assert_int_equal(run(TPG "/portals", "create", "[\"192.0.2.79\", \"3999\", \"srp\"]"),
			 -EINVAL);
	assert_false(exists(TPG "/portals/192.0.2.79:3999"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_ram_disk_is_made_as_targetcli_makes_it),
		T(a_target_comes_with_a_group_and_a_portal),
		T(a_second_group_gets_no_default_portal),
		T(what_creating_does_by_itself_can_be_turned_off),
		T(how_many_backups_are_kept_is_a_preference),
		T(undo_brings_preferences_back),
		T(luns_and_acls_are_mapped_to_each_other),
		T(mapping_can_be_left_out_and_made_by_hand),
		T(deleting_storage_takes_its_luns_along),
		T(one_file_backs_one_storage_object),
		T(refusals_have_their_code_and_change_nothing),
		T(values_of_one_set_are_all_taken_or_none),
		T(what_cannot_be_saved_is_undone),
		T(secrets_are_masked_and_saved),
		T(a_secret_is_made_up_on_wish),
		T(create_tells_the_path_of_what_it_made),
		T(what_is_wrong_with_a_value_is_said),
		T(set_without_a_group_is_wrong_usage),
		T(one_secret_for_both_directions_is_refused),
		T(discovery_authentication_needs_credentials),
		T(those_who_may_only_look_change_nothing),
		T(those_who_may_only_look_have_no_files_read),
		T(a_setting_read_at_open_opens_storage_again),
		T(a_setting_read_at_open_is_refused_while_in_use),
		T(parameters_are_keys_with_their_ranges),
		T(alua_groups_come_and_go),
		T(settings_of_an_alua_group_reach_the_logical_unit),
		T(a_file_is_named_by_its_whole_path),
		T(what_has_not_changed_is_not_made_again_for_a_save),
		T(whatever_changes_in_an_object_reaches_the_next_save),
		T(a_sanitize_is_told_while_it_runs_and_while_it_is_due),
		T(a_copy_elsewhere_makes_no_folders),
		T(a_unit_serial_belongs_to_one_disk),
		T(a_portal_without_an_address_waits),
		T(a_portal_offers_every_transport_unless_told),
		T(enabling_iser_leaves_a_portal_for_rdma_devices_alone),
		T(a_portal_is_made_with_a_transport),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
