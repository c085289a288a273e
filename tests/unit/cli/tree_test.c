// SPDX-License-Identifier: BSD-2-Clause
// cli/tree.c: the look of ls.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/tree.h"

static char *text;
static size_t size;
static struct preferences prefs;

static int draw(const char *rows, unsigned width, const char *path, bool has_color)
{
	struct err e;
	free(text);
	struct look l = { .out = open_memstream(&text, &size),
			  .width = width,
			  .has_color = has_color,
			  .prefs = &prefs };
	int r = tree_draw(&l, rows, path, &e);
	fclose(l.out);
	return r;
}

static const char tree[] = "=.//...\n"
			   " =|backstores//...\n"
			   "  =.ramdisk//Storage Objects: 1\n"
			   "   +.rd0/0d9a4b1e/(1.0MiB) activated\n"
			   " =.iscsi//Targets: 0\n";

static void branches_lead_down_to_later_siblings(void **state)
{
	assert_int_equal(draw(tree, 50, NULL, false), 0);
	assert_string_equal(text, "o- / ....................................... [...]\n"
				  "  o- backstores ............................ [...]\n"
				  "  | o- ramdisk .............. [Storage Objects: 1]\n"
				  "  |   o- rd0 ....... 0d9a4b1e [(1.0MiB) activated]\n"
				  "  o- iscsi .......................... [Targets: 0]\n");
}

static void every_line_is_as_wide_as_the_terminal(void **state)
{
	draw(tree, 80, NULL, false);
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n")) && *line;)
		assert_int_equal(strlen(line), 80);
}

static void colors_take_no_room(void **state)
{
	draw(" -.d//gone\n", 20, NULL, true);
	assert_string_equal(text, "  o- \033[1;34md\033[0m ...... [\033[1;31mgone\033[0m]\n");
}

static void a_line_that_does_not_fit_is_whole(void **state)
{
	draw("=.a-rather-long-name//a rather long summary\n", 20, NULL, false);
	assert_string_equal(text, "o- a-rather-long-name . [a rather long summary]\n");
}

static void plain_lines_are_paths_and_summaries(void **state)
{
	assert_int_equal(draw(tree, 80, "/", false), 0);
	assert_string_equal(text, "/ [...]\n"
				  "/backstores [...]\n"
				  "/backstores/ramdisk [Storage Objects: 1]\n"
				  "/backstores/ramdisk/rd0 0d9a4b1e [(1.0MiB) activated]\n"
				  "/iscsi [Targets: 0]\n");
}

static void plain_paths_begin_where_the_listing_does(void **state)
{
	draw("=.tpg1//x\n =|luns//y\n =.acls//a/b\n", 80, "/iscsi/iqn.t/tpg1", false);
	assert_string_equal(text, "/iscsi/iqn.t/tpg1 [x]\n"
				  "/iscsi/iqn.t/tpg1/luns [y]\n"
				  "/iscsi/iqn.t/tpg1/acls [a/b]\n");
}

static void draw_with(const char *name, const char *value)
{
	prefs = *preferences_default();
	assert_int_equal(preference_set(&prefs, name, value, NULL), 0);
	assert_int_equal(draw(tree, 30, NULL, false), 0);
	prefs = *preferences_default();
}

static void nodes_may_begin_with_a_plus(void **state)
{
	draw_with("tree_round_nodes", "false");
	assert_string_equal(text, "+- / ................... [...]\n"
				  "  +- backstores ........ [...]\n"
				  "  | +- ramdisk . [Storage Objects: 1]\n"
				  "  |   +- rd0 . 0d9a4b1e [(1.0MiB) activated]\n"
				  "  +- iscsi ...... [Targets: 0]\n");
}

static void summaries_may_be_left_out(void **state)
{
	draw_with("tree_status_mode", "false");
	assert_string_equal(text, "o- /\n"
				  "  o- backstores\n"
				  "  | o- ramdisk\n"
				  "  |   o- rd0 0d9a4b1e\n"
				  "  o- iscsi\n");
}

static void the_root_may_be_left_out(void **state)
{
	draw_with("tree_show_root", "false");
	assert_string_equal(text, "o- backstores .......... [...]\n"
				  "| o- ramdisk . [Storage Objects: 1]\n"
				  "|   o- rd0 . 0d9a4b1e [(1.0MiB) activated]\n"
				  "o- iscsi ........ [Targets: 0]\n");
}

static void preferences_leave_plain_lines_alone(void **state)
{
	prefs = *preferences_default();
	prefs.tree_show_root = prefs.tree_status_mode = prefs.tree_round_nodes = 0;
	assert_int_equal(draw("=.//...\n =.iscsi//Targets: 0\n", 80, "/", false), 0);
	assert_string_equal(text, "/ [...]\n/iscsi [Targets: 0]\n");
	prefs = *preferences_default();
}

static void very_deep_trees_are_drawn_to_a_depth(void **state)
{
	char deep[40000], *p = deep;
	for (int i = 0; i < 200; i++)
		p += sprintf(p, "%*s+.n//s\n", i, "");
	assert_int_equal(draw(deep, 80, NULL, false), 0);
	assert_int_equal(draw(deep, 80, "/", false), 0);
	unsigned lines = 0;
	for (const char *q = text; (q = strchr(q, '\n')); q++)
		lines++;
	assert_int_equal(lines, 64);
}

static void what_is_no_row_is_refused(void **state)
{
	static const char *const bad[] = {
		"x", "=.a//b", "=.a/b\n", "?.a//b\n", "+?a//b\n", " \n"
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(draw(bad[i], 80, NULL, false), -EPROTO);
}

static int teardown(void **state)
{
	free(text);
	return 0;
}

int main(void)
{
	prefs = *preferences_default();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_lead_down_to_later_siblings),
		cmocka_unit_test(every_line_is_as_wide_as_the_terminal),
		cmocka_unit_test(colors_take_no_room),
		cmocka_unit_test(a_line_that_does_not_fit_is_whole),
		cmocka_unit_test(plain_lines_are_paths_and_summaries),
		cmocka_unit_test(plain_paths_begin_where_the_listing_does),
		cmocka_unit_test(nodes_may_begin_with_a_plus),
		cmocka_unit_test(summaries_may_be_left_out),
		cmocka_unit_test(the_root_may_be_left_out),
		cmocka_unit_test(preferences_leave_plain_lines_alone),
		cmocka_unit_test(very_deep_trees_are_drawn_to_a_depth),
		cmocka_unit_test(what_is_no_row_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
