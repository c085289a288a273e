// SPDX-License-Identifier: BSD-2-Clause
// target/options.c: the daemon's flags.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "target/options.h"

static struct daemon_options o;
static struct err e;

// Up to two words behind the program's name.
static int parse(const char *a, const char *b)
{
	char words[2][200], name[] = "farblockd";
	char *argv[] = { name, words[0], words[1], NULL };
	int argc = 1 + (a != NULL) + (b != NULL);
	strncpy(words[0], a ? a : "", sizeof words[0] - 1);
	strncpy(words[1], b ? b : "", sizeof words[1] - 1);
	argv[argc] = NULL;
	e = (struct err){ 0 };
	return daemon_options_read(&o, argc, argv, &e);
}

static void without_flags_everything_has_its_place(void **state)
{
	assert_int_equal(parse(NULL, NULL), 0);
	assert_string_equal(o.config, "/etc/farblock/saveconfig.json");
	assert_string_equal(o.state_dir, "/var/lib/farblock");
	assert_string_equal(o.socket, "/run/farblock/control.sock");
	assert_string_equal(o.metrics, "127.0.0.1:9287");
	assert_int_equal(o.workers, 0);
	assert_int_equal(o.cpu_count, 0);
}

static void flags_say_otherwise(void **state)
{
	assert_int_equal(parse("--workers=3", "--pool-mem=1G"), 0);
	assert_int_equal(o.workers, 3);
	assert_true(o.pool_mem == 1ull << 30);
	assert_int_equal(parse("--log-level", "debug"), 0);
	assert_int_equal(o.log_level, LOG_LVL_DEBUG);
	assert_int_equal(parse("--cpus", "0-2,8"), 0);
	assert_int_equal(o.cpu_count, 4);
	assert_int_equal(o.cpus[3], 8);
}

static void misuse_names_the_flag(void **state)
{
	static const char *const bad[][2] = {
		{"--workers",    "0"	   },
		       { "--workers",   "x"	  },
		 { "--workers",	"65"	     },
		{ "--workers",   "-1"	    },
		       { "--cpus",	   ""	      },
		 { "--cpus",	     "3-1"	   },
		{ "--cpus",	    "1,"	 },
		       { "--cpus",	   "a"	       },
		 { "--cpus",	     "0-999"    },
		{ "--pool-mem",	"1"	    },
		       { "--pool-mem",  "lots"     },
		 { "--log-level", "loud"	 },
		{ "--config",    ""	 },
		       { "--metrics",   "foo"	    },
		 { "--metrics",	"127.0.0.1"},
		{ "--socket",    NULL	   },
		       { "--nosuch",    NULL	  },
		 { "--spin",	     "99999"    },
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(parse(bad[i][0], bad[i][1]), -EINVAL);
		assert_non_null(strstr(e.text, bad[i][0]));
	}
}

static void words_that_are_no_flags_are_refused(void **state)
{
	assert_int_equal(parse("serve", NULL), -EINVAL);
	assert_non_null(strstr(e.text, "serve"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_flags_everything_has_its_place),
		cmocka_unit_test(flags_say_otherwise),
		cmocka_unit_test(misuse_names_the_flag),
		cmocka_unit_test(words_that_are_no_flags_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
