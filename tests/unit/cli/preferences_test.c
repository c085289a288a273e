// SPDX-License-Identifier: BSD-2-Clause
// cli/shell/preferences.c: the shell's own preferences and their file.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/shell/preferences.h"
#include "cli/shell/global.h"

static struct preferences p;
static struct err e;
static unsigned line;

// How many lines of a file are wrong.
static unsigned parse(const char *text)
{
	p = *preferences_default();
	e = (struct err){ 0 };
	line = 0;
	return preferences_parse(&p, text, strlen(text), &line, &e);
}

static const char *text_of(const char *name)
{
	static char text[64];
	preference_text(attr_find(preference_rows, name), &p, text, sizeof text);
	return text;
}

static void defaults_are_those_of_targetcli(void **state)
{
	static const char *const rows[][2] = {
		{"auto_cd_after_create",	  "false"  },
		{ "auto_save_on_exit",      "true"   },
		{ "auto_use_daemon",	     "false"  },
		{ "color_command",	   "cyan"	  },
		{ "color_default",	   "none"	  },
		{ "color_keyword",	   "cyan"	  },
		{ "color_mode",		"true"   },
		{ "color_parameter",	     "magenta"},
		{ "color_path",		"magenta"},
		{ "completions_in_columns", "true"   },
		{ "daemon_use_batch_mode",  "false"  },
		{ "loglevel_console",	      "info"   },
		{ "loglevel_file",	   "debug"  },
		{ "prompt_length",	   "30"	},
		{ "tree_max_depth",	    "0"	},
		{ "tree_round_nodes",	      "true"   },
		{ "tree_show_root",	    "true"   },
		{ "tree_status_mode",	      "true"   },
	};
	parse("");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(text_of(rows[i][0]), rows[i][1]);
}

static void what_a_file_says_holds(void **state)
{
	assert_int_equal(parse("# mine\n\n prompt_length = 0 \r\ntree_show_root=FALSE\n"
			       "\tcolor_path=green"),
			 0);
	assert_string_equal(text_of("prompt_length"), "0");
	assert_string_equal(text_of("tree_show_root"), "false");
	assert_string_equal(text_of("color_path"), "green");
}

static void a_wrong_line_is_told_and_the_others_hold(void **state)
{
	assert_int_equal(parse("prompt_length=9\nprompt_lenght=8\ntree_max_depth=-1\n"
			       "tree_max_depth=3\n"),
			 2);
	assert_int_equal(line, 2);
	assert_string_equal(e.text, "Unknown parameter prompt_lenght in group 'global'.");
	assert_string_equal(text_of("prompt_length"), "9");
	assert_string_equal(text_of("tree_max_depth"), "3");
}

static void lines_of_no_use_are_wrong(void **state)
{
	static const char *const bad[] = {
		"prompt_length",	   "=3",
		"prompt_length=",	   "prompt_length=3 # few",
		"prompt_length=4097",	   "prompt_length=99999999999999999999",
		"color_path=mauve",	   "color_mode=perhaps",
		"color_path=\033[31m",	   "color_path=gr\xc3\xbcn",
		"auto_save_on_exit=false", "color_mode=true\ncolor_mode=true",
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(parse(bad[i]), 1);
	assert_int_equal(preferences_parse(&p, "color_mode=0\0\n", 14, &line, &e), 1);
}

static void a_line_of_more_than_256_bytes_is_wrong(void **state)
{
	char text[PREFERENCE_LINE_MAX + 2] = "prompt_length=7";
	memset(text + strlen(text), ' ', PREFERENCE_LINE_MAX - strlen(text));
	assert_int_equal(parse(text), 0);
	text[PREFERENCE_LINE_MAX] = ' ';
	assert_int_equal(parse(text), 1);
	assert_string_equal(e.text, "line longer than 256 bytes");
}

static void one_value_alone_tells_why(void **state)
{
	p = *preferences_default();
	assert_int_equal(preference_set(&p, "auto_save_on_exit", "true", &e), 0);
	assert_int_equal(preference_set(&p, "auto_save_on_exit", "false", &e), -EINVAL);
	assert_non_null(strstr(e.text, "every change is saved at once (use begin"));
	assert_int_equal(preference_set(&p, "logfile", "/tmp/log", &e), -EINVAL);
	assert_non_null(strstr(e.text, "the shell has no log (farblockd logs"));
}

static void rows_are_sorted_and_have_a_help_of_a_line(void **state)
{
	for (const struct attr_row *row = preference_rows; row->name; row++) {
		assert_in_range(strlen(row->help), 10, 100);
		if (row > preference_rows)
			assert_true(strcmp(row[-1].name, row->name) < 0);
	}
}

static void they_stand_among_those_of_the_daemon_by_name(void **state)
{
	struct json_object *rows =
		json_tokener_parse("[{\"name\":\"auto_enable_tpgt\"},{\"name\":\"zzz\"}]");
	global_merge(rows, preferences_default());
	assert_string_equal(json_object_get_string(json_object_object_get(
				    json_object_array_get_idx(rows, 1), "name")),
			    "auto_enable_tpgt");
	assert_int_equal(json_object_array_length(rows), 2 + 19);
	global_merge(rows, preferences_default());
	assert_int_equal(json_object_array_length(rows), 2 + 19);
	json_object_put(rows);
}

// ---- the file ----

static char dir[] = "/tmp/preferences_test.XXXXXX", folder[64], path[96];

static int setup(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(folder, sizeof folder, "%s/farblock", dir);
	snprintf(path, sizeof path, "%s/preferences", folder);
	return setenv("XDG_CONFIG_HOME", dir, 1);
}

static int teardown(void **state)
{
	unlink(path);
	rmdir(folder);
	rmdir(dir);
	strcpy(strrchr(dir, '.') + 1, "XXXXXX");
	return 0;
}

static void write_file(const char *text, size_t len)
{
	mkdir(folder, 0700);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fwrite(text, 1, len, f);
	fclose(f);
}

static void what_is_saved_is_there_next_time(void **state)
{
	const struct preference_change two[] = {
		{"prompt_length", "12" },
		   { "color_path",   "red"}
	};
	struct stat st;
	assert_int_equal(preferences_save(two, 2, &e), 0);
	preferences_load(&p, true);
	assert_string_equal(text_of("prompt_length"), "12");
	assert_string_equal(text_of("color_path"), "red");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void lines_of_the_users_stay_when_one_is_changed(void **state)
{
	static const char before[] =
		"# mine\nprompt_length=9\ntree_max_depth=2\n prompt_length = 8\n";
	const struct preference_change one = { "prompt_length", "12" };
	char now[256] = "";
	write_file(before, strlen(before));
	assert_int_equal(preferences_save(&one, 1, &e), 0);
	FILE *f = fopen(path, "r");
	assert_true(fread(now, 1, sizeof now - 1, f) > 0);
	fclose(f);
	assert_string_equal(now, "# mine\ntree_max_depth=2\nprompt_length=12\n");
}

static void a_file_that_is_too_long_is_as_none(void **state)
{
	static char text[PREFERENCES_BYTES_MAX + 2];
	memset(text, '\n', sizeof text);
	memcpy(text, "prompt_length=9", 15);
	write_file(text, PREFERENCES_BYTES_MAX);
	preferences_load(&p, false);
	assert_string_equal(text_of("prompt_length"), "9");
	write_file(text, PREFERENCES_BYTES_MAX + 1);
	preferences_load(&p, false);
	assert_string_equal(text_of("prompt_length"), "30");
}

static void no_file_and_what_is_none_are_as_delivered(void **state)
{
	preferences_load(&p, true);
	assert_string_equal(text_of("prompt_length"), "30");
	mkdir(folder, 0700);
	assert_int_equal(mkfifo(path, 0600), 0);
	preferences_load(&p, true);
	assert_string_equal(text_of("prompt_length"), "30");
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	preferences_load(&p, true);
	assert_string_equal(text_of("prompt_length"), "30");
}

static void what_is_not_the_users_own_is_not_replaced(void **state)
{
	const struct preference_change one = { "prompt_length", "12" };
	struct stat st;
	mkdir(folder, 0700);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(preferences_save(&one, 1, &e), -EPERM);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void without_a_home_it_is_told_that_nothing_is_kept(void **state)
{
	const struct preference_change one = { "prompt_length", "12" };
	char *home = strdup(getenv("HOME") ? getenv("HOME") : "/");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	assert_int_equal(preferences_save(&one, 1, &e), -ENOENT);
	assert_string_equal(e.text, "preferences: not saved: neither XDG_CONFIG_HOME nor HOME is "
				    "set");
	preferences_load(&p, true);
	assert_string_equal(text_of("prompt_length"), "30");
	setenv("HOME", home, 1);
	free(home);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_targetcli),
		cmocka_unit_test(what_a_file_says_holds),
		cmocka_unit_test(a_wrong_line_is_told_and_the_others_hold),
		cmocka_unit_test(lines_of_no_use_are_wrong),
		cmocka_unit_test(a_line_of_more_than_256_bytes_is_wrong),
		cmocka_unit_test(one_value_alone_tells_why),
		cmocka_unit_test(rows_are_sorted_and_have_a_help_of_a_line),
		cmocka_unit_test(they_stand_among_those_of_the_daemon_by_name),
		T(what_is_saved_is_there_next_time),
		T(lines_of_the_users_stay_when_one_is_changed),
		T(a_file_that_is_too_long_is_as_none),
		T(no_file_and_what_is_none_are_as_delivered),
		T(what_is_not_the_users_own_is_not_replaced),
		T(without_a_home_it_is_told_that_nothing_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
