// SPDX-License-Identifier: BSD-2-Clause
// The host of an ACL, of every fabric: where it is seen and kept.
#include "target/config/config_bench.h"
#include "target/fabric/view.h"

#define GID   "ib.fe800000000000000002c903000a1b2c"
#define IQN   "iqn.2025-01.org.example:disk1"
#define PORT  "/srpt/" GID "/acls/192.0.2.7"
#define NAMES "/iscsi/" IQN "/tpg1/acls"
#define WEB2  "iqn.2025-01.org.example:web2"
#define WEB   "iqn.2025-01.org.example:web1"
#define NAME  NAMES "/" WEB

static void make(void)
{
	assert_int_equal(
		run("/", "set", "{\"group\": \"global\", \"auto_add_default_portal\": \"false\"}"),
		0);
	assert_int_equal(run("/srpt", "create", "[\"" GID "\"]"), 0);
	assert_int_equal(run("/srpt/" GID "/acls", "create", "[\"192.0.2.7\"]"), 0);
	assert_int_equal(run("/iscsi", "create", "[\"" IQN "\"]"), 0);
	assert_int_equal(run(NAMES, "create", "[\"" WEB "\"]"), 0);
	assert_int_equal(set(PORT, "attribute", "\"host\": \"web1\""), 0);
	assert_int_equal(set(NAME, "attribute", "\"host\": \"web1\""), 0);
}

static void assert_published(const char *fabric, const char *host)
{
	struct view *v = view_current(fabric_find(fabric));
	assert_string_equal(v->targets[0]->tpgs[0].acls[0].host, host);
	view_put(v);
}

static void logins_of_each_fabric_get_it(void **state)
{
	make();
	assert_published("srpt", "web1");
	assert_published("iscsi", "web1");
	assert_int_equal(set(NAME, "attribute", "\"host\": \"\""), 0);
	assert_published("iscsi", "");
}

static void the_tree_shows_it(void **state)
{
	make();
	assert_string_equal(summary(PORT), "host web1, Mapped LUNs: 0");
	assert_int_equal(set(NAME, "attribute", "\"authentication\": \"0\""), 0);
	assert_string_equal(summary(NAME), "host web1, no-auth, Mapped LUNs: 0");
}

static void it_comes_back_from_the_saved_file(void **state)
{
	make();
	restart();
	assert_string_equal(get(PORT, "attribute", "host"), "web1");
	assert_string_equal(get(NAME, "attribute", "host"), "web1");
	assert_published("srpt", "web1");
}

// rtslib would refuse to restore an attribute that it does not know.
static void rtslib_does_not_see_it(void **state)
{
	make();
	char *text = saved_text();
	struct json_object *doc = json_tokener_parse(text);
	free(text);
	struct json_object *own = json_field(json_field(doc, "farblock"), "objects");
	assert_string_equal(json_text(json_field(json_field(own, PORT), "attribute"), "host"),
			    "web1");
	json_object_object_del(doc, "farblock");
	assert_null(strstr(json_object_to_json_string(doc), "\"host\""));
	json_object_put(doc);
}

static void an_acl_with_the_tag_of_others_keeps_its_own(void **state)
{
	make();
	assert_int_equal(run(NAMES, "create", "[\"" WEB2 "\"]"), 0);
	assert_int_equal(run(NAMES, "tag", "[\"" WEB "\", \"farm\"]"), 0);
	assert_int_equal(set(NAME, "attribute", "\"nopin_timeout\": \"7\""), 0);
	assert_int_equal(run(NAMES, "tag", "[\"" WEB2 "\", \"farm\"]"), 0);
	assert_string_equal(get(NAMES "/" WEB2, "attribute", "nopin_timeout"), "7");
	assert_string_equal(get(NAMES "/" WEB2, "attribute", "host"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(logins_of_each_fabric_get_it),
		T(the_tree_shows_it),
		T(it_comes_back_from_the_saved_file),
		T(rtslib_does_not_see_it),
		T(an_acl_with_the_tag_of_others_keeps_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
