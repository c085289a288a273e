// SPDX-License-Identifier: BSD-2-Clause
// undo: to which generations it goes, and what it cannot bring back.
#include "target/config/config_bench.h"

#define RAM "/backstores/ramdisk"

static bool says(const char *text)
{
	for (unsigned i = 0; *message(i); i++)
		if (!strcmp(message(i), text))
			return true;
	return false;
}

static void undo_of_an_undo_returns_to_the_empty_configuration(void **state)
{
	assert_int_equal(run(RAM, "create", "[\"rd0\", \"1M\"]"), 0);
	assert_int_equal(run("/", "clearconfig", "[\"true\"]"), 0);
	assert_int_equal(run("/", "undo", NULL), 0);
	assert_true(exists(RAM "/rd0"));
	if (run("/", "undo", NULL) < 0)
		fail_msg("%s", error.text);
	assert_false(exists(RAM "/rd0"));
}

static void a_file_that_lost_its_content_is_not_returned_to(void **state)
{
	static const char *const lost[] = { "{}", "{\"storage_objects\": [], \"targets\": []}",
					    "{\"farblock\": {\"generation\": 1}}" };
	for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
		char name[40];
		snprintf(name, sizeof name, "[\"rd%zu\", \"1M\"]", i);
		write_saved(lost[i]);
		assert_int_equal(run(RAM, "create", name), 0);
		assert_int_equal(run("/", "undo", NULL), -EPERM);
	}
}

static void undo_of_the_first_change_returns_to_an_empty_file(void **state)
{
	static const char *const empty[] = { "{}", "{\"storage_objects\": [], \"targets\": []}" };
	for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
		write_saved(empty[i]);
		restart();
		assert_int_equal(run(RAM, "create", "[\"rd0\", \"1M\"]"), 0);
		if (run("/", "undo", NULL) < 0)
			fail_msg("%s", error.text);
		assert_false(exists(RAM "/rd0"));
		assert_int_equal(run("/", "undo", NULL), 0);
		assert_true(exists(RAM "/rd0"));
	}
}

static void undo_says_which_ram_disks_are_empty(void **state)
{
	assert_int_equal(run(RAM, "create", "[\"rd0\", \"1M\"]"), 0);
	assert_int_equal(run(RAM, "create",
			     "{\"name\": \"zero\", \"size\": \"1M\", \"nullio\": "
			     "\"true\"}"),
			 0);
	assert_int_equal(run(RAM, "delete", "[\"rd0\"]"), 0);
	assert_int_equal(run("/", "undo", NULL), 0);
	assert_true(says("Note: ramdisk rd0 is empty: its data was lost when it was deleted"));
	assert_int_equal(run(RAM, "delete", "[\"zero\"]"), 0);
	assert_int_equal(run("/", "undo", NULL), 0);
	assert_false(says("Note: ramdisk zero is empty: its data was lost when it was deleted"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(undo_of_an_undo_returns_to_the_empty_configuration),
		T(a_file_that_lost_its_content_is_not_returned_to),
		T(undo_of_the_first_change_returns_to_an_empty_file),
		T(undo_says_which_ram_disks_are_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
