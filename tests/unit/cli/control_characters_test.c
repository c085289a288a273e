// SPDX-License-Identifier: BSD-2-Clause
// cli/shell/control_characters.c: nothing in an answer moves a cursor, rings, or turns text round.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/shell/control_characters.h"

static void control_characters_become_question_marks(void **state)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{"[\"\\u001b]0;x\\u0007\"]",	      "[\"\\u003f]0;x\\u003f\"]"	 },
		{ "[\"\\u009B\\u202e\"]",		  "[\"\\u003f\\u003f\"]"		 },
		{ "[\"a\\b\\f\\r\"]",		      "[\"a??????\"]"		      },
		{ "[\"\x7f\xc2\x9b\xe2\x80\xae\"]",  "[\"??????\"]"		   },
		{ "[\"a\\nb\\tc\\u000ad\"]",	     "[\"a\\nb\\tc\\u000ad\"]"	       },
		{ "[\"\\\\u001b\"]",		     "[\"\\\\u001b\"]"		       }, // a backslash, then letters
		{ "[\"\xc3\xa4\xf0\x9f\x92\xbe?\"]", "[\"\xc3\xa4\xf0\x9f\x92\xbe?\"]"},
		{ "[\"\\u00",			      "[\"\\u00"			 },
		{ "\\",			      "\\"			     },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *text = strdup(rows[i].from);
		control_mask_json(text);
		assert_string_equal(text, rows[i].to);
		free(text);
	}
}

static void json_is_printed_with_escapes(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	control_print_json(out, "[\"a\xc3\xa4\x7f\xc2\x9b\xe2\x80\xae\\n\"]");
	fclose(out);
	assert_string_equal(text, "[\"a\xc3\xa4\\u007f\\u009b\\u202e\\n\"]");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_become_question_marks),
		cmocka_unit_test(json_is_printed_with_escapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
