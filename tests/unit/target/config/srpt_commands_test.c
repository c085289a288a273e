// SPDX-License-Identifier: BSD-2-Clause
// Every command that a node below /srpt has of its own or shares with iSCSI, with whatever is
// typed.
#include "target/config/config_bench.h"
#include "target/fabric/refusals.h"

#define GID  "ib.fe800000000000000002c903000a1b2c"
#define WWN  "/srpt/" GID
#define PORT "ib.0002c903000d5f010002c903000d5f01"

// Values that mean something to one command or another.
static const char *const words[] = {
	"", "1", "lun0", "--from-seen", GID, PORT, "group", "attribute"
};

static void make(void)
{
	run("/", "clearconfig", "[\"true\"]");
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd0\", \"1M\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd1\", \"1M\"]"), 0);
	assert_int_equal(run("/srpt", "create", "[\"" GID "\"]"), 0);
	assert_int_equal(run(WWN "/luns", "create", "[\"ramdisk/rd0\"]"), 0);
	assert_int_equal(run(WWN "/portals", "create", "[\"127.0.0.1\", \"13261\"]"), 0);
	assert_int_equal(run(WWN "/acls", "create", "[\"" PORT "\"]"), 0);
	assert_int_equal(run(WWN "/acls", "tag", "[\"" PORT "\", \"group\"]"), 0);
}

static void try_words(const char *path, const char *command, const struct param_row *params)
{
	enum { COUNT = sizeof words / sizeof words[0] };
	char values[300];
	run(path, command, NULL);
	for (size_t i = 0; i < COUNT; i++) {
		for (const struct param_row *p = params; p && p->name; p++) {
			snprintf(values, sizeof values, "{\"%s\": \"%s\"}", p->name, words[i]);
			run(path, command, values);
		}
		for (size_t j = 0; j < COUNT && params && params[0].name && params[1].name; j++) {
			snprintf(values, sizeof values, "[\"%s\", \"%s\"]", words[i], words[j]);
			run(path, command, values);
		}
		if (!exists(WWN "/acls/" PORT "/mapped_lun0"))
			make();
	}
}

static void try_all(const char *path)
{
	const struct command_row *lists[] = { config_node(config, path)->class->commands,
					      every_node_commands };
	for (size_t i = 0; i < 2; i++)
		for (const struct command_row *row = lists[i]; row && row->name; row++)
			try_words(path, row->name, row->params);
}

static void try_tree(void)
{
	static const char *const paths[] = { "/srpt",		WWN,
					     WWN "/luns",	WWN "/luns/lun0",
					     WWN "/portals",	WWN "/portals/127.0.0.1:13261",
					     WWN "/acls",	WWN "/acls/" PORT,
					     WWN "/acls/group", WWN "/acls/" PORT "/mapped_lun0" };
	make();
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		if (config_node(config, paths[i]))
			try_all(paths[i]);
		else
			try_words(paths[i], "create", acl_commands[0].params);
}

static void commands_answer_where_nobody_was_refused(void **state)
{
	try_tree();
}

static void commands_answer_where_logins_were_refused(void **state)
{
	refusal_note("iqn.2025-01.org.example:h", "iqn.2025-01.org.example:disk1", "192.0.2.1:1",
		     REFUSED_ACL, 0x0202, "no ACL");
	try_tree();
	assert_int_equal(run(WWN "/acls", "create", "[\"--from-seen\"]"), 0);
	assert_string_equal(message(0), "No recent refusals for lack of an ACL.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(commands_answer_where_nobody_was_refused),
		T(commands_answer_where_logins_were_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
