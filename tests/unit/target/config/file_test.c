// SPDX-License-Identifier: BSD-2-Clause
// target/config/file.c: the saved file is the old one or the new one, whatever happens.
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>
#include <cmocka.h>

#include "core/whole_file.h"
#include "target/config/file/file.h"

static char dir[64], path[96], backups[96];

static int setup(void **state)
{
	snprintf(dir, sizeof dir, "/tmp/farblock-file.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof path, "%s/etc/saveconfig.json", dir);
	snprintf(backups, sizeof backups, "%s/etc/backup", dir);
	file_step_hook = NULL;
	return 0;
}

static void remove_tree(const char *at)
{
	DIR *d = opendir(at);
	char name[400];
	for (struct dirent *e; d && (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(name, sizeof name, "%.130s/%.255s", at, e->d_name);
		if (e->d_type == DT_DIR)
			remove_tree(name);
		else
			unlink(name);
	}
	if (d)
		closedir(d);
	rmdir(at);
}

static int teardown(void **state)
{
	remove_tree(dir);
	return 0;
}

enum { KEPT = 10 }; // backups of either kind

static int save(const char *text)
{
	struct err e;
	return file_write(path, text, strlen(text), KEPT, &e);
}

static void expect_content(const char *wanted)
{
	char *text;
	size_t len;
	assert_int_equal(file_read(path, &text, &len, NULL), 0);
	assert_string_equal(text, wanted);
	assert_int_equal(len, strlen(wanted));
	free(text);
}

static unsigned backup_count(void)
{
	unsigned n = 0;
	DIR *d = opendir(backups);
	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void what_is_written_is_read(void **state)
{
	assert_int_equal(save("one"), 0);
	expect_content("one");
	assert_int_equal(save("two"), 0);
	expect_content("two");
}

static void file_and_folder_are_for_the_owner_only(void **state)
{
	struct stat st;
	mode_t old = umask(0);
	assert_int_equal(save("secret"), 0);
	umask(old);
	stat(path, &st);
	assert_int_equal(st.st_mode & 0777, 0600);
	*strrchr(path, '/') = 0;
	stat(path, &st);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static const struct whole_file_ways elsewhere = { .suffix = ".farblock-temp" };

static int save_elsewhere(const char *text, struct err *e)
{
	return whole_file_replace(path, text, strlen(text), &elsewhere, e);
}

static void a_missing_folder_elsewhere_is_refused_by_name(void **state)
{
	char folder[96], want[200];
	struct err e = { 0 };
	snprintf(folder, sizeof folder, "%s/etc", dir);
	assert_int_equal(save_elsewhere("one", &e), -ENOENT);
	snprintf(want, sizeof want, "%s: cannot use directory: No such file or directory", folder);
	assert_string_equal(e.text, want);
	assert_int_equal(access(folder, F_OK), -1);
}

static void elsewhere_no_backup_is_made(void **state)
{
	char folder[96];
	struct err e;
	snprintf(folder, sizeof folder, "%s/etc", dir);
	mkdir(folder, 0755);
	assert_int_equal(save_elsewhere("one", &e), 0);
	assert_int_equal(save_elsewhere("two", &e), 0);
	expect_content("two");
	assert_int_equal(access(backups, F_OK), -1);
}

static void elsewhere_neither_links_nor_neighbours_are_touched(void **state)
{
	char name[200], to[8];
	struct err e;
	assert_int_equal(save("our own"), 0); // makes the folder
	snprintf(name, sizeof name, "%s/etc/link", dir);
	assert_int_equal(symlink("0", name), 0);
	assert_int_equal(whole_file_replace(name, "x", 1, &elsewhere, &e), -EINVAL);
	assert_int_equal(readlink(name, to, sizeof to), 1);
	snprintf(name, sizeof name, "%s.temp", path);
	fclose(fopen(name, "w"));
	assert_int_equal(save_elsewhere("one", &e), 0);
	assert_int_equal(access(name, F_OK), 0);
}

static const char *const steps[] = { "create", "write",	 "fsync",
				     "backup", "rename", "fsync directory" };
static const char *fatal_step;

static void die(const char *step)
{
	if (!strcmp(step, fatal_step))
		_exit(7);
}

// A process that ends at any step leaves the old file or the new one, whole.
static void death_at_any_step_leaves_a_whole_file(void **state)
{
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		int status;
		assert_int_equal(save("old"), 0);
		fatal_step = steps[i];
		pid_t child = fork();
		if (!child) {
			file_step_hook = die;
			save("new");
			_exit(0);
		}
		waitpid(child, &status, 0);
		assert_int_equal(WEXITSTATUS(status), 7);
		expect_content(!strcmp(steps[i], "fsync directory") ? "new" : "old");
		assert_int_equal(save("next"), 0);
		expect_content("next");
	}
}

static void a_failing_save_leaves_the_file_and_no_litter(void **state)
{
	char temp[128];
	assert_int_equal(save("old"), 0);
	// A folder where the temporary file would be made.
	snprintf(temp, sizeof temp, "%s.temp", path);
	assert_int_equal(mkdir(temp, 0700), 0);
	assert_true(save("new") < 0);
	expect_content("old");
}

static void a_save_keeps_the_old_file(void **state)
{
	assert_int_equal(save("one"), 0);
	assert_int_equal(save("two"), 0);
	assert_int_equal(backup_count(), 1);
}

static void the_last_changes_are_kept_one_by_one(void **state)
{
	char name[200], *text;
	size_t len;
	for (int i = 0; i < 30; i++) {
		char content[2] = { (char)('a' + i % 26), 0 };
		assert_int_equal(save(content), 0);
	}
	assert_int_equal(backup_count(), KEPT);
	assert_true(file_backup_at(path, 1, name, sizeof name));
	assert_int_equal(file_read(name, &text, &len, NULL), 0);
	assert_string_equal(text, "c");
	free(text);
	assert_true(file_backup_at(path, KEPT, name, sizeof name));
	assert_false(file_backup_at(path, KEPT + 1, name, sizeof name));
	assert_false(file_backup_at(path, 0, name, sizeof name));
}

static void a_burst_of_changes_leaves_the_older_states(void **state)
{
	char name[200];
	assert_int_equal(save("one"), 0);
	mkdir(backups, 0700);
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "%s/saveconfig-20200101-00:%02d:00.json", backups, i);
		fclose(fopen(name, "w"));
	}
	for (int i = 0; i < 30; i++)
		assert_int_equal(save("x"), 0);
	assert_int_equal(backup_count(), KEPT + 5);
	snprintf(name, sizeof name, "%s/saveconfig-20200101-00:00:00.json", backups);
	assert_int_equal(access(name, F_OK), 0);
}

static void the_oldest_backups_go(void **state)
{
	char name[200];
	assert_int_equal(save("one"), 0);
	mkdir(backups, 0700);
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "%s/saveconfig-20200101-00:%02d:00.json", backups, i);
		fclose(fopen(name, "w"));
	}
	assert_int_equal(save("two"), 0);
	assert_int_equal(backup_count(), 2 * KEPT);
	snprintf(name, sizeof name, "%s/saveconfig-20200101-00:10:00.json", backups);
	assert_int_equal(access(name, F_OK), -1);
	snprintf(name, sizeof name, "%s/saveconfig-20200101-00:11:00.json", backups);
	assert_int_equal(access(name, F_OK), 0);
}

static void undo_goes_to_the_last_change_though_the_clock_went_back(void **state)
{
	char name[200];
	assert_int_equal(save("one"), 0);
	mkdir(backups, 0700);
	snprintf(name, sizeof name, "%s/saveconfig-20991231-23:59:59.998.json", backups);
	assert_int_equal(link(path, name), 0);
	static const char *const texts[] = { "two", "three", "four", "five" };
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(save(texts[i]), 0);
	for (unsigned back = 1; back <= 3; back++) {
		char *text;
		size_t len;
		assert_true(file_backup_at(path, back, name, sizeof name));
		assert_int_equal(file_read(name, &text, &len, NULL), 0);
		assert_string_equal(text, texts[3 - back]);
		free(text);
	}
}

static void copies_under_other_names_are_no_generations_and_stay(void **state)
{
	static const char *const names[] = { "saveconfig-zzz.json", "saveconfig-before.json",
					     "saveconfig-20250101-10:00:00.000.json.bak" };
	char name[200];
	assert_int_equal(save("one"), 0);
	mkdir(backups, 0700);
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "%s/%s", backups, names[i]);
		fclose(fopen(name, "w"));
	}
	for (int i = 0; i < KEPT + 5; i++)
		assert_int_equal(save("more"), 0);
	assert_int_equal(backup_count(), KEPT + 3);
	assert_false(file_backup_at(path, KEPT + 1, name, sizeof name));
}

static void fewer_backups_are_kept_where_fewer_are_asked_for(void **state)
{
	struct err e;
	for (int i = 0; i < 5; i++)
		assert_int_equal(save("x"), 0);
	assert_int_equal(file_write(path, "y", 1, 2, &e), 0);
	assert_int_equal(backup_count(), 2);
	assert_int_equal(file_write(path, "z", 1, 0, &e), 0);
	assert_int_equal(backup_count(), 0);
	expect_content("z");
}

static void a_damaged_file_is_kept_once_and_stays(void **state)
{
	char one[200], two[200];
	assert_int_equal(save("{"), 0);
	assert_int_equal(file_keep_aside(path, one, sizeof one, NULL), 0);
	assert_int_equal(file_keep_aside(path, two, sizeof two, NULL), 0);
	assert_string_equal(one, two);
	assert_int_equal(access(one, R_OK), 0);
	expect_content("{");
}

static void what_is_no_file_is_not_read(void **state)
{
	char *text;
	size_t len;
	struct err e;
	assert_int_equal(file_read(dir, &text, &len, &e), -EINVAL);
	assert_int_equal(file_read(path, &text, &len, &e), -ENOENT);
}

static void a_link_to_nothing_is_not_taken_for_no_file(void **state)
{
	char *text;
	size_t len;
	struct err e;
	assert_int_equal(save("one"), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/nonexistent/saveconfig.json", path), 0);
	assert_int_equal(file_read(path, &text, &len, &e), -ENOLINK);
}

static void who_may_not_read_is_told_who_it_is(void **state)
{
	char *text, uid[32];
	size_t len;
	struct err e;
	uid_t was = geteuid();
	assert_int_equal(save("{}"), 0);
	if (!was)
		assert_int_equal(seteuid(65534), 0);
	else
		chmod(path, 0);
	snprintf(uid, sizeof uid, "uid %u", (unsigned)geteuid());
	int r = file_read(path, &text, &len, &e);
	assert_int_equal(seteuid(was), 0);
	assert_int_equal(r, -EACCES);
	assert_non_null(strstr(e.text, uid));
	assert_non_null(strstr(e.text, "chown"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_written_is_read),
		T(file_and_folder_are_for_the_owner_only),
		T(a_missing_folder_elsewhere_is_refused_by_name),
		T(elsewhere_no_backup_is_made),
		T(elsewhere_neither_links_nor_neighbours_are_touched),
		T(death_at_any_step_leaves_a_whole_file),
		T(a_failing_save_leaves_the_file_and_no_litter),
		T(a_save_keeps_the_old_file),
		T(the_last_changes_are_kept_one_by_one),
		T(a_burst_of_changes_leaves_the_older_states),
		T(the_oldest_backups_go),
		T(undo_goes_to_the_last_change_though_the_clock_went_back),
		T(copies_under_other_names_are_no_generations_and_stay),
		T(fewer_backups_are_kept_where_fewer_are_asked_for),
		T(a_damaged_file_is_kept_once_and_stays),
		T(what_is_no_file_is_not_read),
		T(a_link_to_nothing_is_not_taken_for_no_file),
		T(who_may_not_read_is_told_who_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
