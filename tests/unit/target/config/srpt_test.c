// SPDX-License-Identifier: BSD-2-Clause
// /srpt: names, what can be made there, the saved file.
#include "target/config/config_bench.h"
#include "target/fabric/view.h"
#include "target/scsi/lun_map.h"

#define GID  "ib.fe800000000000000002c903000a1b2c"
#define WWN  "/srpt/" GID
#define PORT "ib.0002c903000d5f010002c903000d5f01"

static void a_target_has_every_spelling_of_its_port(void **state)
{
	static const char *const same[] = {
		"[\"" GID "\"]",
		"[\"0xFE800000000000000002C903000A1B2C\"]",
		"[\"fe80:0000:0000:0000:0002:c903:000a:1b2c\"]",
		"[\"0002:c903:000a:1b2c\"]",
	};
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		assert_int_equal(run("/srpt", "create", same[i]), 0);
		assert_true(exists(WWN "/luns"));
		assert_true(exists(WWN "/acls"));
		assert_int_equal(run("/srpt", "delete", "[\"" GID "\"]"), 0);
		assert_string_equal(message(0), "Deleted Target " GID ".");
	}
}

static void a_name_of_another_shape_is_refused(void **state)
{
	static const char *const wrong[] = { "[\"ib.12\"]", "[\"iqn.2025-01.org.example:x\"]",
					     "[\"ib.fe800000000000000002c903000a1b2c0\"]" };
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(run("/srpt", "create", wrong[i]), -EINVAL);
	assert_string_equal(summary("/srpt"), "Targets: 0");
}

// IEEE's EUI-64: bit 1 of the first byte: local; bit 0: a group.
static void a_name_that_is_not_given_is_a_local_guid(void **state)
{
	static char name[] = "Created target ib.fe80000000000000";
	assert_int_equal(run("/srpt", "create", NULL), 0);
	const char *text = message(1);
	assert_memory_equal(text, name, strlen(name));
	char first[3] = { text[strlen(name)], text[strlen(name) + 1], 0 };
	assert_int_equal(strtoul(first, NULL, 16) & 3, 2);
}

static void make(void)
{
	assert_int_equal(run("/", "set",
			     "{\"group\": \"global\", \"auto_add_default_portal\": "
			     "\"false\"}"),
			 0);
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"1M\"]"), 0);
	assert_int_equal(run("/srpt", "create", "[\"" GID "\"]"), 0);
	assert_int_equal(run(WWN "/luns", "create", "[\"ramdisk/rd0\", \"3\"]"), 0);
	assert_int_equal(run(WWN "/acls", "create", "[\"0x0002c903000d5f010002c903000d5f01\"]"), 0);
	assert_string_equal(message(1), "Created mapped LUN 3.");
}

static struct view_target *published(struct view **view)
{
	*view = view_current(fabric_find("srpt"));
	return (*view)->target_count ? (*view)->targets[0] : NULL;
}

static void sessions_see_the_target_as_one_portal_group(void **state)
{
	struct view *v;
	make();
	assert_int_equal(run(WWN "/portals", "create", "[\"127.0.0.1\", \"13261\"]"), 0);
	const struct view_target *t = published(&v);
	assert_string_equal(t->name, GID);
	assert_int_equal(t->tpg_count, 1);
	assert_true(t->tpgs[0].is_enabled);
	assert_false(t->tpgs[0].is_open);
	assert_int_equal(t->tpgs[0].portal_count, 1);
	assert_string_equal(t->tpgs[0].acls[0].initiator, PORT);
	assert_int_equal(t->tpgs[0].acls[0].map->count, 1);
	view_put(v);
	assert_int_equal(run(WWN, "disable", NULL), 0);
	assert_false(published(&v)->tpgs[0].is_enabled);
	view_put(v);
	assert_int_equal(run("/srpt", "delete", "[\"" GID "\"]"), 0);
	assert_null(published(&v));
	view_put(v);
}

static void its_port_is_a_port_of_the_logical_unit(void **state)
{
	make();
	struct lun *l = NODE_OF(struct lun, config_node(config, WWN "/luns/lun3"));
	assert_int_equal(l->told.port,
			 NODE_OF(struct tpg, config_node(config, WWN))->relative_port);
	assert_ptr_equal(l->told.lu, l->storage->lu);
}

static void initiators_are_named_by_port_guid_or_address(void **state)
{
	make();
	assert_true(exists(WWN "/acls/" PORT "/mapped_lun3"));
	assert_int_equal(run(WWN "/acls", "create", "[\"0002:C903:000D:5F01\"]"), 0);
	assert_true(exists(WWN "/acls/0002:c903:000d:5f01"));
	assert_int_equal(run(WWN "/acls", "create", "[\"192.0.2.7\"]"), 0);
	assert_int_equal(run(WWN "/acls", "create", "[\"2001:DB8:0::7\"]"), 0);
	assert_true(exists(WWN "/acls/2001:db8::7"));
	assert_int_equal(run(WWN "/acls", "create", "[\"iqn.2025-01.org.example:x\"]"), -EINVAL);
	assert_string_equal(summary(WWN "/acls"), "ACLs: 4");
	assert_int_equal(run(WWN "/acls", "delete", "[\"0002c903000d5f01\"]"), 0);
	assert_string_equal(summary(WWN "/acls"), "ACLs: 3");
}

static void the_target_comes_back_from_the_saved_file(void **state)
{
	make();
	assert_int_equal(set(WWN, "attribute", "\"srp_sq_size\": \"64\""), 0);
	assert_int_equal(set(WWN, "attribute", "\"srp_sq_size\": \"15\""), -EINVAL);
	assert_int_equal(run(WWN "/acls/" PORT, "create", "[\"9\", \"lun3\", \"true\"]"), 0);
	restart();
	assert_string_equal(get(WWN, "attribute", "srp_sq_size"), "64");
	assert_string_equal(summary(WWN), "no-gen-acls, no portals");
	assert_string_equal(summary(WWN "/luns/lun3"), "ramdisk/rd0 (default_tg_pt_gp)");
	assert_string_equal(summary(WWN "/acls/" PORT "/mapped_lun9"), "lun3 ramdisk/rd0 (ro)");
}

static void what_is_unknown_in_its_saved_entry_stays(void **state)
{
	write_saved(
		"{\"storage_objects\": [], \"targets\": [{\"fabric\": \"srpt\", \"wwn\": \"" GID
		"\", \"of_target\": 1, \"tpgs\": [{\"tag\": 1, \"of_group\": 2}, {\"tag\": 2}]}]}");
	assert_int_equal(load(), 0);
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"1M\"]"), 0);
	char *text = saved_text();
	struct json_object *doc = json_tokener_parse(text);
	free(text);
	struct json_object *t = json_object_array_get_idx(json_field(doc, "targets"), 0);
	struct json_object *tpgs = json_field(t, "tpgs");
	assert_int_equal(json_object_get_int(json_field(t, "of_target")), 1);
	assert_int_equal(json_object_array_length(tpgs), 2);
	struct json_object *one = json_object_array_get_idx(tpgs, 0);
	assert_int_equal(json_object_get_int(json_field(one, "of_group")), 2);
	assert_null(json_field(one, "of_target"));
	json_object_put(doc);
}

static void deleting_its_storage_takes_the_lun_along(void **state)
{
	make();
	assert_int_equal(run("/backstores/ramdisk", "delete", "[\"rd0\"]"), 0);
	assert_string_equal(summary(WWN "/luns"), "LUNs: 0");
	assert_string_equal(summary(WWN "/acls/" PORT), "Mapped LUNs: 0");
	assert_int_equal(run("/", "clearconfig", "[\"true\"]"), 0);
	assert_string_equal(summary("/srpt"), "Targets: 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_target_has_every_spelling_of_its_port),
		T(a_name_of_another_shape_is_refused),
		T(a_name_that_is_not_given_is_a_local_guid),
		T(sessions_see_the_target_as_one_portal_group),
		T(its_port_is_a_port_of_the_logical_unit),
		T(initiators_are_named_by_port_guid_or_address),
		T(the_target_comes_back_from_the_saved_file),
		T(what_is_unknown_in_its_saved_entry_stays),
		T(deleting_its_storage_takes_the_lun_along),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
