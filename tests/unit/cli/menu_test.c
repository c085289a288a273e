// SPDX-License-Identifier: BSD-2-Clause
// cli/edit/menu.c: candidates under the line, their colors and their columns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/edit/menu.h"

#define C(text, note, kind)                                                                        \
	{                                                                                          \
		(char *)(text), (char *)(note), ' ', kind                                          \
	}

static char *text;
static size_t size;
static struct preferences prefs;

static const char *draw(struct candidate *list, unsigned count, bool has_color)
{
	const struct candidates c = { .count = count, .list = list };
	free(text);
	struct look l = { .out = open_memstream(&text, &size),
			  .has_color = has_color,
			  .prefs = &prefs };
	menu_draw(&l, &c, 40);
	fclose(l.out);
	return text;
}

static void a_kind_has_its_color(void **state)
{
	struct candidate list[] = { C("/a/", "", KIND_PATH), C("ls", "", KIND_COMMAND),
				    C("x", "", KIND_VALUE), C("n=", "", KIND_KEYWORD),
				    C("o", "", KIND_OTHER) };
	prefs = *preferences_default();
	assert_string_equal(draw(list, 5, true), "\033[35m/a/\033[0m\n\033[36mls\033[0m\n"
						 "\033[35mx\033[0m\n\033[36mn=\033[0m\no\n");
	preference_set(&prefs, "color_path", "red", NULL);
	preference_set(&prefs, "color_command", "none", NULL);
	preference_set(&prefs, "color_parameter", "green", NULL);
	preference_set(&prefs, "color_keyword", "blue", NULL);
	preference_set(&prefs, "color_default", "yellow", NULL);
	assert_string_equal(draw(list, 5, true), "\033[31m/a/\033[0m\nls\n\033[32mx\033[0m\n"
						 "\033[34mn=\033[0m\n\033[33mo\033[0m\n");
	assert_string_equal(draw(list, 5, false), "/a/\nls\nx\nn=\no\n");
}

static void notes_stand_below_each_other(void **state)
{
	struct candidate list[] = { C("long", "one", KIND_OTHER), C("a", "two", KIND_OTHER) };
	prefs = *preferences_default();
	assert_string_equal(draw(list, 2, false), "long  one\na     two\n");
	assert_string_equal(draw(list, 2, true),
			    "long  \033[2mone\033[0m\na     \033[2mtwo\033[0m\n");
}

// Lines of a menu of so many.
static unsigned lines_of(unsigned count)
{
	static char names[200][8];
	struct candidate list[200];
	unsigned lines = 0;
	for (unsigned i = 0; i < count; i++) {
		snprintf(names[i], sizeof names[i], "x%u", i);
		list[i] = (struct candidate)C(names[i], "note", KIND_OTHER);
	}
	draw(list, count, false);
	for (const char *q = text; (q = strchr(q, '\n')); q++)
		lines++;
	return lines;
}

static void many_stand_in_columns_unless_they_are_not_to(void **state)
{
	prefs = *preferences_default();
	assert_int_equal(lines_of(24), 24);
	assert_int_equal(lines_of(30), 4); // eight across, of three characters and two blanks
	assert_int_equal(lines_of(200), 17 + 1);
	preference_set(&prefs, "completions_in_columns", "false", NULL);
	assert_int_equal(lines_of(30), 30);
	assert_non_null(strstr(text, "x29  note\n"));
	assert_int_equal(lines_of(200), 100 + 1);
}

static int teardown(void **state)
{
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kind_has_its_color),
		cmocka_unit_test(notes_stand_below_each_other),
		cmocka_unit_test(many_stand_in_columns_unless_they_are_not_to),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
