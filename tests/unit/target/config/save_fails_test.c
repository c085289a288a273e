// SPDX-License-Identifier: BSD-2-Clause
// A change that cannot be saved has not happened: for initiators, in the tree, or for clients.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "target/config/config_bench.h"

#define TPG    "/iscsi/iqn.2025-01.org.example:disk1/tpg1"
#define PORTAL TPG "/portals/192.0.2.77:3999"

static rlim_t no_space(rlim_t bytes)
{
	struct rlimit l;
	getrlimit(RLIMIT_FSIZE, &l);
	rlim_t before = l.rlim_cur;
	l.rlim_cur = bytes;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &l);
	return before;
}

// Runs a command while the file system is full, then while its temporary file cannot be made.
static void fails_both_ways(const char *path, const char *command, const char *values)
{
	char way[128];
	rlim_t before = no_space(10);
	int full = run(path, command, values);
	no_space(before);
	snprintf(way, sizeof way, "%s.temp", saved);
	assert_int_equal(mkdir(way, 0700), 0);
	int blocked = run(path, command, values);
	rmdir(way);
	assert_true(full < 0 && blocked < 0);
}

static unsigned offered(void)
{
	struct node *n = config_node(config, PORTAL);
	return portal_transports(NODE_OF(struct portal_node, n)->open);
}

static void make_portal(void)
{
	assert_int_equal(set("/", "global", "\"auto_add_default_portal\": \"false\""), 0);
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.example:disk1\"]"), 0);
	assert_int_equal(run(TPG "/portals", "create", "[\"192.0.2.77\", \"3999\"]"), 0);
	assert_int_equal(offered(), PORTAL_ALL);
}

static void a_portal_keeps_its_transports(void **state)
{
	make_portal();
	fails_both_ways(PORTAL, "transport", "[\"tcp\"]");
	assert_int_equal(offered(), PORTAL_ALL);
	assert_int_equal(run(PORTAL, "transport", "[\"tcp\"]"), 0);
	assert_int_equal(offered(), PORTAL_TCP);
	fails_both_ways(PORTAL, "enable_iser", "[\"true\"]");
	assert_int_equal(offered(), PORTAL_TCP);
}

static void the_revision_stays(void **state)
{
	make_portal();
	uint64_t before = config_revision(config);
	fails_both_ways(TPG, "disable", NULL);
	assert_int_equal(config_revision(config), before);
	assert_int_equal(run(TPG, "disable", NULL), 0);
	assert_int_equal(config_revision(config), before + 1);
}

static void an_edited_file_is_told_of_when_it_is_replaced(void **state)
{
	make_portal();
	write_saved("{\"targets\": [], \"storage_objects\": []}");
	fails_both_ways(TPG, "disable", NULL);
	assert_int_equal(run(TPG, "enable", NULL), 0); // changes nothing, saves nothing
	assert_string_equal(message(1), "");
	assert_int_equal(run(TPG, "disable", NULL), 0);
	assert_non_null(strstr(message(1), "had been edited"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_portal_keeps_its_transports),
		T(the_revision_stays),
		T(an_edited_file_is_told_of_when_it_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
