// SPDX-License-Identifier: BSD-2-Clause
// Several commands as one change: what is saved, when, and what is undone.
#include <sys/stat.h>

#include "core/whole_file.h"
#include "target/config/config_bench.h"

enum { CALLS_MAX = 8 };

struct together {
	struct config_call calls[CALLS_MAX];
	unsigned count, done;
	int code;
};

static struct reply replies[CALLS_MAX];
static unsigned saves;

static void count_saves(const char *step)
{
	saves += !strcmp(step, "rename");
}

static void on_control(void *arg)
{
	struct together *t = arg;
	error = (struct err){ 0 };
	t->code = config_run_together(config, t->calls, t->count, true, replies, &t->done, &error);
}

// rows: path, command, JSON array of values; ends with a NULL path. Returns how many were done.
static unsigned together(const char *const (*rows)[3], int *ret_code)
{
	struct together t = { 0 };
	for (; rows[t.count][0]; t.count++)
		t.calls[t.count] = (struct config_call){
			.path = rows[t.count][0],
			.command = rows[t.count][1],
			.positional = json_tokener_parse(rows[t.count][2]),
		};
	saves = 0;
	file_step_hook = count_saves;
	worker_call(control, on_control, &t);
	file_step_hook = NULL;
	for (unsigned i = 0; i < t.count; i++) {
		json_object_put(t.calls[i].positional);
		reply_done(&replies[i]);
	}
	*ret_code = t.code;
	return t.done;
}

static void many_commands_are_saved_once(void **state)
{
	static const char *const rows[][3] = {
		{"/backstores/ramdisk",	 "create", "[\"a\", \"1M\"]" },
		{ "/backstores/ramdisk",	 "create", "[\"b\", \"1M\"]" },
		{ "/iscsi", "create", "[\"iqn.2025-01.org.example:t\"]" },
		{ "/iscsi/iqn.2025-01.org.example:t/tpg1/luns",	"create", "[\"ramdisk/b\"]" },
		{ NULL	       },
	};
	int code;
	assert_int_equal(together(rows, &code), 4);
	assert_int_equal(code, 0);
	assert_int_equal(saves, 1);
	restart();
	assert_true(exists("/backstores/ramdisk/a"));
	assert_true(exists("/iscsi/iqn.2025-01.org.example:t/tpg1/luns/lun0"));
}

static void one_that_fails_is_undone_alone_and_the_last(void **state)
{
	static const char *const rows[][3] = {
		{"/backstores/ramdisk",			 "create", "[\"a\", \"1M\"]" },
		{ "/backstores/ramdisk",			 "create", "[\"b\", \"1M\", \"false\", \"no-uuid\"]" },
		{ "/backstores/ramdisk",			 "create", "[\"c\", \"1M\"]" },
		{ NULL},
	};
	int code;
	assert_int_equal(together(rows, &code), 1);
	assert_int_equal(code, -EINVAL);
	assert_int_equal(saves, 1);
	restart();
	assert_true(exists("/backstores/ramdisk/a"));
	assert_false(exists("/backstores/ramdisk/b"));
	assert_false(exists("/backstores/ramdisk/c"));
}

static void a_save_that_fails_undoes_them_all(void **state)
{
	static const char *const rows[][3] = {
		{"/backstores/ramdisk", "create", "[\"a\", \"1M\"]" },
		{ "/iscsi",    "create", "[\"iqn.2025-01.org.example:t\"]" },
		{ NULL	       },
	};
	char way[128];
	int code;
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"before\", \"1M\"]"), 0);
	char *text = saved_text();
	snprintf(way, sizeof way, "%s.temp", saved);
	assert_int_equal(mkdir(way, 0700), 0);
	assert_int_equal(together(rows, &code), 0);
	assert_true(code < 0);
	assert_non_null(strstr(error.text, "cannot create"));
	rmdir(way);
	assert_false(exists("/backstores/ramdisk/a"));
	assert_false(exists("/iscsi/iqn.2025-01.org.example:t"));
	assert_true(exists("/backstores/ramdisk/before"));
	char *now = saved_text();
	assert_string_equal(now, text);
	free(now);
	free(text);
}

static void what_only_looks_comes_after_the_save(void **state)
{
	static const char *const rows[][3] = {
		{"/backstores/ramdisk",	 "create", "[\"a\", \"1M\"]" },
		{ "/backstores/ramdisk/a",	   "status", "[]" },
		{ NULL},
	};
	int code;
	assert_int_equal(together(rows, &code), 1);
	assert_int_equal(saves, 1);
	assert_int_equal(together(rows + 1, &code), 1);
	assert_int_equal(saves, 0);
}

static void what_is_deleted_is_free_for_the_next_call_only(void **state)
{
	static const char *const rows[][3] = {
		{"/backstores/ramdisk",	 "delete", "[\"a\"]" },
		{ "/backstores/ramdisk",		 "delete", "[\"b\"]" },
		{ "/backstores/ramdisk", "create", "[\"a\", \"2M\"]" },
		{ NULL	       },
	};
	int code;
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"a\", \"1M\"]"), 0);
	assert_int_equal(run("/backstores/ramdisk", "create", "[\"b\", \"1M\"]"), 0);
	assert_int_equal(together(rows, &code), 2);
	assert_int_equal(code, 0);
	assert_int_equal(saves, 1);
	assert_int_equal(together(rows + 2, &code), 1);
	assert_string_equal(summary("/backstores/ramdisk/a"), "(2.0MiB) deactivated");
}

static void a_target_made_and_undone_leaves_nothing_behind(void **state)
{
	static const char *const rows[][3] = {
		{"/iscsi",			    "create", "[\"iqn.2025-01.org.example:t\"]" },
		{ "/iscsi", "delete", "[\"iqn.2025-01.org.example:t\"]" },
		{ "/iscsi",			    "delete", "[\"iqn.2025-01.org.example:t\"]" },
		{ NULL},
	};
	int code;
	assert_int_equal(together(rows, &code), 2);
	assert_int_equal(code, -ENOENT);
	assert_false(exists("/iscsi/iqn.2025-01.org.example:t"));
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.example:t\"]"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(many_commands_are_saved_once),
		T(one_that_fails_is_undone_alone_and_the_last),
		T(a_save_that_fails_undoes_them_all),
		T(what_only_looks_comes_after_the_save),
		T(what_is_deleted_is_free_for_the_next_call_only),
		T(a_target_made_and_undone_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
