// SPDX-License-Identifier: BSD-2-Clause
// cli/doctor: findings about memory and space, and the number of portals tested, on a machine that
// is a directory and with a daemon that is a function.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"
#include "fake_root.h"

static const char *saved_file = "/etc/farblock/saveconfig.json";

static int ask(void *arg, const char *method, struct json_object *params, struct json_object **ret,
	       struct err *e)
{
	*ret = json_object_new_object();
	json_object_object_add(*ret, "pid", json_object_new_int(7));
	json_object_object_add(*ret, "saved_file", json_object_new_string(saved_file));
	json_object_put(params);
	return 0;
}

static const char *finding(const struct doctor *d, const char *key)
{
	return text_field(json_object_array_get_idx(d->findings, 0), key);
}

static int make_machine(void **state)
{
	static char root[] = "/tmp/farblock-doctor.XXXXXX";
	*state = mkdtemp(root);
	fake_root_put(root, "/proc/meminfo", "MemTotal:        4194304 kB\nMemFree:  1 kB\n");
	fake_root_put(root, "/proc/7/cgroup", "0::/system.slice/farblockd.service\n");
	fake_root_put(root, "/sys/fs/cgroup/system.slice/farblockd.service/memory.max", "max\n");
	fake_root_put(root, "/sys/fs/cgroup/system.slice/memory.max", "1073741824\n");
	return 0;
}

static int remove_machine(void **state)
{
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
	return system(command);
}

static void ram_disks_are_held_against_the_least_limit(void **state)
{
	static const struct {
		unsigned long long bytes;
		const char *verdict, *what;
	} rows[] = {
		{1ull << 30,	      "ok",
		  "can use 1 GiB; farblockd's control group is limited to 1 GiB"	 },
		{ (1ull << 30) + 1, "warn",
		  "can use 1.00 GiB; farblockd's control group is limited to 1 GiB"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct doctor d = { .root = *state, .ask = ask };
		doctor_begin(&d, "disks");
		doctor_ram_disks(&d, rows[i].bytes);
		assert_string_equal(finding(&d, "verdict"), rows[i].verdict);
		assert_string_equal(finding(&d, "what"), rows[i].what);
		json_object_put(d.findings);
	}
}

static void ram_disks_may_have_the_machine_without_a_limit(void **state)
{
	struct doctor d = { .root = *state, .ask = ask };
	fake_root_put(*state, "/sys/fs/cgroup/system.slice/memory.max", "max\n");
	doctor_begin(&d, "disks");
	doctor_ram_disks(&d, 5ull << 30);
	assert_string_equal(finding(&d, "verdict"), "warn");
	assert_string_equal(finding(&d, "what"), "can use 5 GiB; this machine has 4 GiB");
	json_object_put(d.findings);
}

static void a_folder_without_room_is_a_failure(void **state)
{
	struct doctor d = { .root = "", .ask = ask };
	saved_file = "/proc/saveconfig.json"; // a filesystem that has no room for anybody
	doctor_begin(&d, "space");
	check_space(&d);
	assert_string_equal(finding(&d, "verdict"), "fail");
	assert_string_equal(finding(&d, "why"), "the next change cannot be saved");
	json_object_put(d.findings);
}

// A tree of as many portals, two targets each; it lets nobody change it.
static int ask_of_portals(void *arg, const char *method, struct json_object *params,
			  struct json_object **ret, struct err *e)
{
	json_object_put(params);
	if (strcmp(method, "tree.ls"))
		return err_set(e, -EPERM, "not here");
	struct json_object *list = json_object_new_array();
	for (int i = 0; i < 2 * *(int *)arg; i++) {
		char name[40];
		struct json_object *o = json_object_new_object();
		snprintf(name, sizeof name, "127.0.0.1:%d", 20000 + i / 2);
		json_object_object_add(o, "name", json_object_new_string(name));
		json_object_object_add(o, "class", json_object_new_string("portal"));
		json_object_array_add(list, o);
	}
	*ret = json_object_new_object();
	json_object_object_add(*ret, "children", list);
	return 0;
}

static void a_selftest_tells_of_portals_that_it_does_not_try(void **state)
{
	int count;
	for (count = 16; count < 41; count += 24) {
		struct doctor d = { .root = "", .ask = ask_of_portals, .ask_arg = &count };
		struct err e;
		assert_int_equal(doctor_selftest(&d, &e), -EPERM);
		assert_string_equal(finding(&d, "what"),
				    count == 16 ? "" : "tests only the first 16 of 40 portals");
		json_object_put(d.findings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ram_disks_are_held_against_the_least_limit),
		cmocka_unit_test(ram_disks_may_have_the_machine_without_a_limit),
		cmocka_unit_test(a_folder_without_room_is_a_failure),
		cmocka_unit_test(a_selftest_tells_of_portals_that_it_does_not_try),
	};
	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
