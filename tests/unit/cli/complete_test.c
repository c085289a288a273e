// SPDX-License-Identifier: BSD-2-Clause
// cli/edit/complete.c and hint.c over a schema that is made up.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/fake_schema.h"

static struct json_object *schema;

// The candidates with a | behind each.
static const char *offer(const char *cwd, const char *text)
{
	static char out[4000];
	struct complete_source s = fake_source(schema, cwd);
	struct candidates c;
	complete(&s, text, &c);
	*out = 0;
	for (unsigned i = 0; i < c.count; i++) {
		strcat(out, c.list[i].text);
		strcat(out, "|");
	}
	candidates_done(&c);
	return out;
}

static const char *hint_of(const char *cwd, const char *text)
{
	static char out[300];
	struct complete_source s = fake_source(schema, cwd);
	hint(&s, text, out, sizeof out);
	return out;
}

// The kind of the first candidate.
static enum candidate_kind kind_of(const char *text)
{
	struct complete_source s = fake_source(schema, "/rd");
	struct candidates c;
	complete(&s, text, &c);
	assert_true(c.count > 0);
	enum candidate_kind kind = c.list[0].kind;
	candidates_done(&c);
	return kind;
}

static void candidates_tell_what_they_are(void **state)
{
	assert_int_equal(kind_of("cre"), KIND_COMMAND);
	assert_int_equal(kind_of("/r"), KIND_PATH);
	assert_int_equal(kind_of("cd ../i"), KIND_PATH);
	assert_int_equal(kind_of("@d"), KIND_PATH);
	assert_int_equal(kind_of("create a 1M mode=s"), KIND_VALUE);
	assert_int_equal(kind_of("create a 1M m"), KIND_KEYWORD);
	assert_int_equal(kind_of("set attribute b"), KIND_KEYWORD);
	assert_int_equal(kind_of("set att"), KIND_OTHER);
	assert_int_equal(kind_of("get attribute b"), KIND_OTHER);
	assert_int_equal(kind_of("help cre"), KIND_COMMAND);
	assert_int_equal(kind_of("delete "), KIND_VALUE);
}

static void commands_and_children_come_first(void **state)
{
	assert_string_equal(offer("/rd", "cre"), "create|");
	assert_string_equal(offer("/", "i"), "info|iscsi/|");
	assert_string_equal(offer("/", "/rd cr"), "create|");
}

static void paths_are_completed_step_by_step(void **state)
{
	assert_string_equal(offer("/", "/r"), "/rd/|");
	assert_string_equal(offer("/", "/rd/"), "/rd/disk 1/|");
	assert_string_equal(offer("/rd", "../i"), "../iscsi/|");
	assert_string_equal(offer("/", "cd rd/"), "rd/disk 1/|");
}

static void bookmarks_are_completed_and_followed(void **state)
{
	assert_string_equal(offer("/", "@d"), "@disks|");
	assert_string_equal(offer("/", "@disks cr"), "create|");
	assert_string_equal(offer("/", "@disks/"), "@disks/disk 1/|");
	assert_string_equal(offer("/", "bookmarks go @"), "@disks|");
}

static void values_come_from_their_row(void **state)
{
	assert_string_equal(offer("/rd", "create a 1M "), "true|false|nullio=|mode=|dev=|");
}

static void names_are_offered_once(void **state)
{
	assert_string_equal(offer("/rd", "create a 1M mode=fast d"), "dev=|");
	assert_string_equal(offer("/rd", "create a 1M mode=fast m"), "");
}

static void named_values_are_completed(void **state)
{
	assert_string_equal(offer("/rd", "create a 1M mode=s"), "mode=slow|mode=safe|");
	assert_string_equal(offer("/rd", "create a 1M nullio="), "nullio=true|nullio=false|");
	assert_string_equal(offer("/rd", "create a file_or_dev=/de"), "file_or_dev=/dev/|");
}

static void the_daemon_is_asked_for_what_the_shell_does_not_know(void **state)
{
	assert_string_equal(offer("/rd", "delete "), "rd.delete.name|");
	assert_string_equal(offer("/", "/rd delete name="), "name=rd.delete.name|");
}

static void groups_and_settings_are_completed(void **state)
{
	assert_string_equal(offer("/rd", "set "), "attribute|auth|global|");
	assert_string_equal(offer("/rd", "set attribute "), "block_size=|state=|");
	assert_string_equal(offer("/rd", "set attribute state="), "state=good|state=bad|");
	assert_string_equal(offer("/rd", "get attribute b"), "block_size|");
	assert_string_equal(offer("/rd", "get attribute block_size h"), "hw|");
	assert_string_equal(offer("/rd", "help set attribute s"), "state|");
}

static void the_command_behind_a_semicolon_counts(void **state)
{
	assert_string_equal(offer("/rd", "info; cre"), "create|");
}

static void comments_and_refused_lines_offer_nothing(void **state)
{
	assert_string_equal(offer("/rd", "info # cre"), "");
	assert_string_equal(offer("/rd", "a;b cre"), "");
}

static void what_is_typed_in_quotes_is_completed(void **state)
{
	assert_string_equal(offer("/rd", "create a 1M dev='/da"), "dev=/data file|");
	char *quoted = word_quote("dev=/data file");
	assert_string_equal(quoted, "dev=/data\\ file");
	free(quoted);
}

static void a_hint_tells_what_is_to_come(void **state)
{
	assert_string_equal(hint_of("/rd", "create"), " name size [nullio=false] [mode] [dev]");
	assert_string_equal(hint_of("/rd", "create "), "name size [nullio=false] [mode] [dev]");
	assert_string_equal(hint_of("/rd", "create a"), " size [nullio=false] [mode] [dev]");
	assert_string_equal(hint_of("/rd", "create a 1M mode=fast "), "[nullio=false] [dev]");
}

static void a_hint_of_a_value_tells_its_range(void **state)
{
	assert_string_equal(hint_of("/rd", "set attribute block_size="),
			    "512..4096 bytes (default 512)");
	assert_string_equal(hint_of("/rd", "create a 1M nullio="), "true|false (default false)");
	assert_string_equal(hint_of("/rd", "set attribute "), "name=value ...");
	assert_string_equal(hint_of("/rd", "nothing "), "");
	assert_string_equal(hint_of("/rd", ""), "");
}

static void a_hint_fits_where_it_is_put(void **state)
{
	char out[8];
	struct complete_source s = fake_source(schema, "/rd");
	assert_true(hint(&s, "create", out, sizeof out) < sizeof out);
	assert_string_equal(out, " name s");
}

static void without_a_schema_there_is_nothing(void **state)
{
	struct complete_source s = { .cwd = "/" };
	struct candidates c;
	complete(&s, "cre", &c);
	assert_int_equal(c.count, 0);
	candidates_done(&c);
}

static int setup(void **state)
{
	schema = fake_schema();
	return schema ? 0 : -1;
}

static int teardown(void **state)
{
	json_object_put(schema);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(candidates_tell_what_they_are),
		cmocka_unit_test(commands_and_children_come_first),
		cmocka_unit_test(paths_are_completed_step_by_step),
		cmocka_unit_test(bookmarks_are_completed_and_followed),
		cmocka_unit_test(values_come_from_their_row),
		cmocka_unit_test(names_are_offered_once),
		cmocka_unit_test(named_values_are_completed),
		cmocka_unit_test(the_daemon_is_asked_for_what_the_shell_does_not_know),
		cmocka_unit_test(groups_and_settings_are_completed),
		cmocka_unit_test(the_command_behind_a_semicolon_counts),
		cmocka_unit_test(comments_and_refused_lines_offer_nothing),
		cmocka_unit_test(what_is_typed_in_quotes_is_completed),
		cmocka_unit_test(a_hint_tells_what_is_to_come),
		cmocka_unit_test(a_hint_of_a_value_tells_its_range),
		cmocka_unit_test(a_hint_fits_where_it_is_put),
		cmocka_unit_test(without_a_schema_there_is_nothing),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
