// SPDX-License-Identifier: BSD-2-Clause
// A disk in a file cannot shrink: a document with a smaller size is refused, and the saved file has
// the size of the disk in use.
#include "target/config/config_bench.h"

#define FILES "/backstores/fileio"
#define DISK  FILES "/f"

enum { SMALL = 1 << 20, LARGE = 2 << 20 };

static void create_disk(void)
{
	char values[160];
	snprintf(values, sizeof values, "[\"f\", \"%s/f\", \"1M\"]", dir);
	assert_int_equal(run(FILES, "create", values), 0);
}

static void change_something_else(void)
{
	assert_int_equal(run("/backstores/null", "create", "[\"n\", \"1M\"]"), 0);
}

static bool saves_size(int size)
{
	char wanted[40], *text = saved_text();
	snprintf(wanted, sizeof wanted, "\"size\": %d,", size);
	bool does = strstr(text, wanted) != NULL;
	free(text);
	return does;
}

static char *named(const char *file, const char *rest)
{
	static char values[300];
	snprintf(values, sizeof values, "{\"%s\": \"%s/old.json\"%s}", file, dir, rest);
	return values;
}

// Undo, or a command with the file of before the resize.
static void is_refused(const char *command, const char *values, const char *disk)
{
	char *before = saved_text(), *after, text[120];
	if (run("/", command, values) != -EBUSY)
		fail_msg("%s: %s", command, message(0));
	snprintf(text, sizeof text, "%s: size: cannot shrink from 2097152 to 1048576 bytes", disk);
	assert_string_equal(error.text, text);
	after = saved_text();
	assert_string_equal(before, after);
	free(before);
	free(after);
	assert_int_equal(run("/", "diff", NULL), 0);
	assert_int_equal(strncmp(message(0), "No differences", 14), 0);
}

static void undo_of_a_resize_is_refused(void **state)
{
	create_disk();
	assert_int_equal(run(DISK, "resize", "[\"2M\"]"), 0);
	is_refused("undo", NULL, "fileio f");
}

// A disk cannot shrink; the other changes are undone, however many.
static void undo_of_changes_before_a_resize_keeps_the_size(void **state)
{
	create_disk();
	change_something_else();
	assert_int_equal(run(DISK, "resize", "[\"2M\"]"), 0);
	if (run("/", "undo", "[\"2\"]") < 0)
		fail_msg("%s", error.text);
	assert_string_equal(message(1), "Note: fileio f: size: cannot shrink from 2097152 to "
					"1048576 bytes");
	assert_false(exists("/backstores/null/n"));
	assert_true(saves_size(LARGE));
}

static void undo_of_changes_before_a_resize_keeps_a_ram_disk(void **state)
{
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"rd\", \"1M\"]"), 0);
	change_something_else();
	assert_int_equal(run("/backstores/ramdisk/rd", "resize", "[\"2M\"]"), 0);
	is_refused("undo", NULL, "ramdisk rd");
	if (run("/", "undo", "[\"2\"]") < 0)
		fail_msg("%s", error.text);
	assert_string_equal(message(1), "Note: ramdisk rd: size: cannot shrink from 2097152 to "
					"1048576 bytes");
	assert_false(exists("/backstores/null/n"));
	assert_true(saves_size(LARGE));
}

static void a_document_with_a_smaller_size_is_refused(void **state)
{
	create_disk();
	assert_int_equal(run("/", "saveconfig", named("savefile", "")), 0);
	assert_int_equal(run(DISK, "resize", "[\"2M\"]"), 0);
	is_refused("plan", named("file", ""), "fileio f");
	is_refused("apply", named("file", ""), "fileio f");
	is_refused("restoreconfig",
		   named("savefile", ", \"clear_existing\": \"true\", "
				     "\"storage_object\": \"f\""),
		   "fileio f");
}

static void a_disk_restored_with_a_smaller_size_is_saved_with_its_own(void **state)
{
	create_disk();
	assert_int_equal(run("/", "saveconfig", named("savefile", "")), 0);
	assert_int_equal(run(DISK, "resize", "[\"2M\"]"), 0);
	assert_int_equal(
		run("/", "restoreconfig", named("savefile", ", \"clear_existing\": \"true\"")), 0);
	assert_true(saves_size(LARGE));
}

// Grown by another program, which no change has saved.
static void undo_of_another_change_keeps_the_size(void **state)
{
	char path[80];
	create_disk();
	snprintf(path, sizeof path, "%s/f", dir);
	assert_int_equal(truncate(path, LARGE), 0);
	restart(); // the disk has its new size, the saved file the old one
	assert_true(saves_size(SMALL));
	change_something_else();
	assert_true(saves_size(LARGE));
	if (run("/", "undo", NULL) < 0)
		fail_msg("%s", error.text);
	assert_string_equal(message(1), "Note: fileio f: size: cannot shrink from 2097152 to "
					"1048576 bytes");
	assert_false(exists("/backstores/null/n"));
	assert_true(saves_size(LARGE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(undo_of_a_resize_is_refused),
		T(undo_of_changes_before_a_resize_keeps_the_size),
		T(undo_of_changes_before_a_resize_keeps_a_ram_disk),
		T(a_document_with_a_smaller_size_is_refused),
		T(a_disk_restored_with_a_smaller_size_is_saved_with_its_own),
		T(undo_of_another_change_keeps_the_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
