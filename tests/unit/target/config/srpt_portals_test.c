// SPDX-License-Identifier: BSD-2-Clause
// Portals of SRP targets: created by default, saved under a key of ours, restored, and what
// initiators are told.
#include "target/config/config_bench.h"

#define GID "ib.fe800000000000000002c903000a1b2c"
#define WWN "/srpt/" GID
#define ID  "id_ext=fe80000000000000,ioc_guid=0002c903000a1b2c,dest="
#define OTHERS(rest)                                                                               \
	"{\"storage_objects\": [], \"targets\": [{\"fabric\": \"srpt\", \"wwn\": \"" GID           \
	"\", \"tpgs\": [{\"tag\": 1, \"portals\": []" rest "}]}]}"

static void prefer_no_portal(void)
{
	assert_int_equal(run("/", "set",
			     "{\"group\": \"global\", \"auto_add_default_portal\": "
			     "\"false\"}"),
			 0);
}

static void make(const char *portal)
{
	prefer_no_portal();
	assert_int_equal(run("/srpt", "create", "[\"" GID "\"]"), 0);
	assert_int_equal(run(WWN "/portals", "create", portal), 0);
}

static void a_new_target_gets_one_if_that_is_preferred(void **state)
{
	assert_int_equal(run("/srpt", "create", "[\"" GID "\"]"), 0);
	assert_true(exists(WWN "/portals/0.0.0.0:3261"));
	assert_int_equal(run("/srpt", "delete", "[\"" GID "\"]"), 0);
	prefer_no_portal();
	assert_int_equal(run("/srpt", "create", "[\"" GID "\"]"), 0);
	assert_string_equal(summary(WWN "/portals"), "Portals: 0");
	assert_string_equal(summary(WWN), "no-gen-acls, no portals");
}

static void they_offer_rdma_and_iwarp_but_no_tcp(void **state)
{
	make("[\"127.0.0.1\", \"13261\"]");
	struct portal_node *p =
		NODE_OF(struct portal_node, config_node(config, WWN "/portals/127.0.0.1:13261"));
	assert_int_equal(p->transports, PORTAL_RDMA | PORTAL_IWARP);
	assert_int_equal(run(WWN "/portals", "transport", "[\"iwarp\"]"), 0);
	assert_int_equal(p->transports, PORTAL_IWARP);
	assert_int_equal(run(WWN "/portals", "transport", "[\"tcp\"]"), -EINVAL);
	assert_int_equal(run(WWN "/portals", "create", "[\"127.0.0.2\", \"1\", \"iser\"]"),
			 -EINVAL);
}

static void an_address_that_is_missing_is_waited_for(void **state)
{
	make("[\"192.0.2.77\"]");
	assert_string_equal(summary(WWN "/portals/192.0.2.77:3261"),
			    "waiting: bind: no interface has this address");
}

static void they_come_back_from_the_saved_file(void **state)
{
	make("[\"127.0.0.1\", \"13261\", \"iwarp\"]");
	assert_int_equal(set(WWN "/portals/127.0.0.1:13261", "attribute", "\"tos\": \"104\""), 0);
	restart();
	struct node *n = config_node(config, WWN "/portals/127.0.0.1:13261");
	assert_int_equal(NODE_OF(struct portal_node, n)->transports, PORTAL_IWARP);
	assert_string_equal(get(WWN "/portals/127.0.0.1:13261", "attribute", "tos"), "104");
	assert_int_equal(run(WWN "/portals", "delete", "[\"127.0.0.1\", \"13261\"]"), 0);
	restart();
	assert_string_equal(summary(WWN "/portals"), "Portals: 0");
}

// rtslib would make folders for them that the kernel's SRP target refuses.
static void those_of_rtslib_s_own_key_stay_none(void **state)
{
	make("[\"127.0.0.1\", \"13261\"]");
	char *text = saved_text();
	struct json_object *doc = json_tokener_parse(text);
	struct json_object *t = json_object_array_get_idx(json_field(doc, "targets"), 0);
	struct json_object *tpg = json_object_array_get_idx(json_field(t, "tpgs"), 0);
	assert_int_equal(json_count(json_field(tpg, "portals")), 0);
	assert_int_equal(json_count(json_field(tpg, "srp_portals")), 1);
	json_object_put(doc);
	free(text);
}

static void a_target_of_another_program_s_file_gets_the_default(void **state)
{
	write_saved(OTHERS(""));
	assert_int_equal(load(), 0);
	assert_true(exists(WWN "/portals/0.0.0.0:3261"));
}

static void portals_under_the_key_of_iscsi_are_told(void **state)
{
	write_saved("{\"storage_objects\": [], \"targets\": [{\"fabric\": \"srpt\", \"wwn\": \"" GID
		    "\", \"tpgs\": [{\"tag\": 1, \"portals\": [{\"ip_address\": \"127.0.0.1\", "
		    "\"port\": 3261}]}]}]}");
	char file[200];
	snprintf(file, sizeof file, "[\"%s\"]", saved);
	assert_int_equal(run("/", "restoreconfig", file), 0);
	assert_int_equal(reply.recoverable, 1);
	assert_non_null(strstr(message(1), "srp_portals"));
}

static void a_target_that_was_saved_without_gets_none(void **state)
{
	write_saved(OTHERS(", \"srp_portals\": []"));
	assert_int_equal(load(), 0);
	assert_string_equal(summary(WWN "/portals"), "Portals: 0");
}

static void undo_brings_one_back(void **state)
{
	make("[\"127.0.0.1\", \"13261\"]");
	assert_int_equal(run(WWN "/portals", "delete", "[\"127.0.0.1\", \"13261\"]"), 0);
	assert_int_equal(run("/", "undo", NULL), 0);
	assert_true(exists(WWN "/portals/127.0.0.1:13261"));
}

static const char *attach_text(const char *path, size_t index, const char *key)
{
	assert_int_equal(run(path, "info", NULL), 0);
	struct json_object *list = json_field(reply.data, "attach");
	return json_text(json_object_array_get_idx(list, index), key);
}

static void info_has_the_line_of_add_target_and_the_url(void **state)
{
	make("[\"127.0.0.1\", \"13261\"]");
	assert_int_equal(run(WWN "/portals", "create", "[\"fd00::5\"]"), 0);
	assert_string_equal(attach_text(WWN, 0, "add_target"), ID "127.0.0.1:13261");
	assert_string_equal(attach_text(WWN, 0, "url"),
			    "srp://127.0.0.1:13261/fe80000000000000:0002c903000a1b2c/0");
	assert_string_equal(attach_text(WWN, 1, "add_target"), ID "[fd00::5]:3261");
	assert_string_equal(attach_text(WWN, 1, "url"),
			    "srp://[fd00::5]/fe80000000000000:0002c903000a1b2c/0");
	assert_string_equal(attach_text(WWN "/portals/[fd00::5]:3261", 0, "portal"),
			    "[fd00::5]:3261");
}

static void info_of_a_wildcard_has_addresses_of_this_machine(void **state)
{
	make("[\"0.0.0.0\", \"13261\"]");
	const char *line = attach_text(WWN, 0, "add_target");
	assert_memory_equal(line, ID, strlen(ID));
	assert_null(strstr(line, "0.0.0.0"));
	assert_non_null(strstr(line, ":13261"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_new_target_gets_one_if_that_is_preferred),
		T(they_offer_rdma_and_iwarp_but_no_tcp),
		T(an_address_that_is_missing_is_waited_for),
		T(they_come_back_from_the_saved_file),
		T(those_of_rtslib_s_own_key_stay_none),
		T(a_target_of_another_program_s_file_gets_the_default),
		T(portals_under_the_key_of_iscsi_are_told),
		T(a_target_that_was_saved_without_gets_none),
		T(undo_brings_one_back),
		T(info_has_the_line_of_add_target_and_the_url),
		T(info_of_a_wildcard_has_addresses_of_this_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
