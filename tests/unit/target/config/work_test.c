// SPDX-License-Identifier: BSD-2-Clause
// What a change takes does not grow with what is there already: counted, not timed.
#include "target/config/config_bench.h"

enum { DISKS = 1500, ROUND = 100 };

#define TARGET "/iscsi/iqn.2025-01.org.example:t"

struct round {
	unsigned first;
	int code;
};

__attribute__((format(printf, 1, 2))) static struct json_object *words(const char *fmt, ...)
{
	char text[80];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return json_tokener_parse(text);
}

// ROUND disks and their LUNs as one change.
static void add_round(void *arg)
{
	static struct config_call calls[2 * ROUND];
	static struct reply replies[2 * ROUND];
	struct round *r = arg;
	unsigned done = 0;
	for (unsigned i = 0; i < ROUND; i++) {
		calls[2 * i] = (struct config_call){
			.path = "/backstores/null",
			.command = "create",
			.positional = words("[\"d%u\", \"1M\"]", r->first + i),
		};
		calls[2 * i + 1] = (struct config_call){
			.path = TARGET "/tpg1/luns",
			.command = "create",
			.positional = words("[\"null/d%u\"]", r->first + i),
		};
	}
	error = (struct err){ 0 };
	r->code = config_run_together(config, calls, 2 * ROUND, true, replies, &done, &error);
	assert_int_equal(done, 2 * ROUND);
	for (unsigned i = 0; i < 2 * ROUND; i++) {
		json_object_put(calls[i].positional);
		reply_done(&replies[i]);
	}
}

static struct config_work add(unsigned first)
{
	struct round r = { .first = first };
	struct config_work before = config_work;
	worker_call(control, add_round, &r);
	assert_int_equal(r.code, 0);
	return (struct config_work){
		.names = config_work.names - before.names,
		.texts = config_work.texts - before.texts,
		.ports = config_work.ports - before.ports,
	};
}

static void fill(void)
{
	assert_int_equal(run("/iscsi", "create", "[\"iqn.2025-01.org.example:t\"]"), 0);
	for (unsigned i = 0; i < DISKS; i += ROUND)
		add(i);
}

static void new_luns_take_what_they_took_at_first(void **state)
{
	fill();
	struct config_work w = add(DISKS);
	assert_true(w.names <= 2 * ROUND);
	assert_int_equal(w.texts, 2 * ROUND);
	assert_int_equal(w.ports, ROUND);
	assert_true(exists(TARGET "/tpg1/luns/lun1599"));
}

static void the_first_change_after_a_start_makes_one_text(void **state)
{
	fill();
	restart();
	unsigned long before = config_work.texts;
	assert_int_equal(run("/backstores/null", "create", "[\"more\", \"1M\"]"), 0);
	assert_int_equal(config_work.texts - before, 1);
}

static void the_lowest_free_number_is_found_again(void **state)
{
	fill();
	assert_int_equal(run(TARGET "/tpg1/luns", "delete", "[\"7\"]"), 0);
	assert_int_equal(run(TARGET "/tpg1/luns", "create", "[\"null/d7\"]"), 0);
	assert_true(exists(TARGET "/tpg1/luns/lun7"));
	assert_int_equal(run(TARGET "/tpg1/luns", "delete", "[\"9\"]"), 0);
	assert_int_equal(run(TARGET "/tpg1/luns", "delete", "[\"3\"]"), 0);
	assert_int_equal(run(TARGET "/tpg1/luns", "create", "[\"null/d9\"]"), 0);
	assert_true(exists(TARGET "/tpg1/luns/lun3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(new_luns_take_what_they_took_at_first),
		T(the_first_change_after_a_start_makes_one_text),
		T(the_lowest_free_number_is_found_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
