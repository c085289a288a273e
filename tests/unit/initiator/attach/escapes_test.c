// SPDX-License-Identifier: BSD-2-Clause
// Paths of /proc/self/mountinfo.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/attach/escapes.h"

static void octal_numbers_are_characters_and_all_else_stays(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"/mnt",			     "/mnt"		 },
		{ "/a\\040b\\011c\\012d\\134e\\043", "/a b\tc\nd\\e#"      },
		{ "\\134040",			      "\\040"		      },
		{ "/a\\04",			    "/a\\04"		     },
		{ "\\",			      "\\"		     },
		{ "\\\\040",			     "\\ "		   },
		{ "\\0a0\\089\\400\\777",		  "\\0a0\\089\\400\\777"},
		{ "\\303\\266",			"\xc3\xb6"		   },
		{ "",				""			 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[64];
		strcpy(text, cases[i].in);
		escapes_undo(text);
		assert_string_equal(text, cases[i].out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(octal_numbers_are_characters_and_all_else_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
