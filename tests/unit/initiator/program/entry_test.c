// SPDX-License-Identifier: BSD-2-Clause
// Entries of disks to attach become command lines; what is wrong is refused with its line.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/program/entry.h"

static struct entry n;

static void an_entry_is_a_command_line(void **state)
{
	static const char text[] =
		"# a disk\n\n url = iscsi://a/t/0 \r\nurl=iser://b/t/0\n"
		"via = ublk\nread-only = yes\nshared = no\nset = A=B\nset = C=D\n"
		"startup = manual";
	static const char *const words[] = { "iscsi://a/t/0", "iser://b/t/0", "--via=ublk",
					     "--read-only",   "--set=A=B",    "--set=C=D" };
	struct err e;
	assert_int_equal(entry_parse(&n, text, sizeof text - 1, "x", &e), 0);
	assert_int_equal(n.count, sizeof words / sizeof *words);
	for (int i = 0; i < n.count; i++)
		assert_string_equal(n.words[i], words[i]);
	assert_true(n.is_manual);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"url = a\nurl\n",			    "x: line 2: must be 'key = value'"		       },
		{ "= a",				"x: line 1: must be 'key = value'"			    },
		{ "url =",			      "x: line 1: url: no value"				      },
		{ "url = --all",			 "x: line 1: url: invalid"				   },
		{ "startup = never",		     "x: line 1: startup 'never': must be automatic or manual"},
		{ "via = a\nvia = b",		      "x: line 2: via: given twice"			    },
		{ "name = a",			      "x: line 1: unknown key 'name'"			      },
		{ "run-dir = /a",			  "x: line 1: unknown key 'run-dir'"			     },
		{ "entry-dir = /a",			    "x: line 1: unknown key 'entry-dir'"			 },
		{ "all = yes",			       "x: line 1: unknown key 'all'"			      },
		{ "foreground = yes",		      "x: line 1: unknown key 'foreground'"		    },
		{ "offset = 1",				"x: line 1: unknown key 'offset'"			  },
		{ "read-only = true",		      "x: line 1: read-only: must be yes or no"		},
		{ "read-only = --all",		       "x: line 1: read-only: must be yes or no"		 },
		{ "startup = manual\nstartup = manual", "x: line 2: startup: given twice"			  },
		{ "\r= x",			      "x: line 1: must be 'key = value'"			      },
		{ "help = yes",				"x: line 1: unknown key 'help'"				},
	};
	struct err e;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_true(entry_parse(&n, rows[i].text, strlen(rows[i].text), "x", &e) < 0);
		assert_string_equal(e.text, rows[i].error);
	}
}

// Also one that looks like an option, or like the word for a flag.
static void a_value_stays_with_its_key(void **state)
{
	static const char text[] = "chap-user = --via\nvia = yes\nurl = a://b";
	struct err e;
	assert_int_equal(entry_parse(&n, text, sizeof text - 1, "x", &e), 0);
	assert_int_equal(n.count, 3);
	assert_string_equal(n.words[0], "--chap-user=--via");
	assert_string_equal(n.words[1], "--via=yes");
	assert_string_equal(n.words[2], "a://b");
}

static void what_is_no_text_or_too_much_is_refused(void **state)
{
	static char text[ENTRY_BYTES_MAX + 1];
	struct err e;
	assert_int_equal(entry_parse(&n, "url = a\0b", 9, "x", &e), -EINVAL);
	memset(text, '\n', sizeof text);
	assert_int_equal(entry_parse(&n, text, sizeof text - 1, "x", &e), 0);
	assert_int_equal(entry_parse(&n, text, sizeof text, "x", &e), -EINVAL);
	for (size_t i = 0; i + 8 < sizeof text; i += 8)
		memcpy(text + i, "url = a\n", 8);
	assert_int_equal(entry_parse(&n, text, ENTRY_BYTES_MAX, "x", &e), -E2BIG);
}

static void an_error_of_an_option_has_its_line(void **state)
{
	static const char text[] = "url = a://b/1\nurl = a://b/2\n\ndepth = 7\nset = A=B\n"
				   "set = C=D\nread-only = yes\n";
	static const struct {
		const char *error, *blamed;
	} rows[] = {
		{"--depth 7: wrong",	      "f: line 4: --depth 7: wrong"  },
		{ "--depth-limit 7: wrong", "f: --depth-limit 7: wrong"	},
		{ "--dep 7: wrong",	    "f: --dep 7: wrong"		},
		{ "--read-only: wrong",	"f: line 7: --read-only: wrong"},
		{ "--set: wrong",		  "f: --set: wrong"		    },
		{ "a://b/2: wrong",	    "f: line 2: a://b/2: wrong"	},
		{ "no way",		    "f: no way"			},
		{ "--policy 'x': wrong",	 "--policy 'x': wrong"	       },
	};
	struct err e;
	assert_int_equal(entry_parse(&n, text, sizeof text - 1, "x", &e), 0);
	snprintf(n.path, sizeof n.path, "f");
	n.over[n.over_count++] = "policy";
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		err_set(&e, -EINVAL, "%s", rows[i].error);
		bool is_blamed = entry_blame(&n, &e);
		assert_string_equal(e.text, rows[i].blamed);
		assert_int_equal(is_blamed, strcmp(rows[i].error, rows[i].blamed) != 0);
		err_set(&e, -EINVAL, "%s", rows[i].error);
		assert_false(entry_blame(NULL, &e));
		assert_string_equal(e.text, rows[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_is_a_command_line),
		cmocka_unit_test(what_is_wrong_is_told_with_its_line),
		cmocka_unit_test(a_value_stays_with_its_key),
		cmocka_unit_test(what_is_no_text_or_too_much_is_refused),
		cmocka_unit_test(an_error_of_an_option_has_its_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
