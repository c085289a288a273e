// SPDX-License-Identifier: BSD-2-Clause
// Names of initiator ports, as ACLs and sessions have them.
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "transport/srp/name.h"

static char out[SRP_NAME_MAX + 1];
static struct err e;

static void every_spelling_has_one_normal_form(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"0x0002C903000D5F010002c903000d5f01",	"ib.0002c903000d5f010002c903000d5f01"},
		{ "ib.0002c903000d5f010002c903000d5f01",	 "ib.0002c903000d5f010002c903000d5f01"},
		{ "0002:c903:000d:5f01:0002:c903:000d:5f01",
		  "ib.0002c903000d5f010002c903000d5f01"						},
		{ "0002c903000d5f01",			      "0002:c903:000d:5f01"		    },
		{ "192.0.2.7",			       "192.0.2.7"			   },
		{ "::ffff:192.0.2.7",			      "192.0.2.7"			  },
		{ "00:02:c9:03:00:0d:5f:01",		     "0002:c903:000d:5f01"		   },
		{ "2001:DB8:0::7",			   "2001:db8::7"			 },
		{ "fe80::1122:3344:5566",			  "fe80::1122:3344:5566"		 },
		{ "2001:db8:1:1:0:1:2a3:4",		    "2001:db8:1:1:0:1:2a3:4"	     },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(name_srpt_initiator(rows[i].in, out, &e), 0);
		assert_string_equal(out, rows[i].out);
	}
}

static void addresses_of_no_initiator_are_refused(void **state)
{
	static const char *const rows[] = { "0.0.0.0", "::", "224.0.0.1", "ff02::1",
					    "::ffff:0.0.0.0" };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(name_srpt_initiator(rows[i], out, &e), -EINVAL);
		assert_non_null(strstr(e.text, "is not the address of an initiator"));
	}
}

static void an_address_whose_normal_form_names_a_port_is_refused(void **state)
{
	static const char *const rows[] = { "010:20:30:40:50:60:70:80",
					    "1111:2222:3333:4444:5555:6666:17.17.34.34" };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(name_srpt_initiator(rows[i], out, &e), -EINVAL);
		assert_non_null(strstr(e.text, "is ambiguous"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_has_one_normal_form),
		cmocka_unit_test(addresses_of_no_initiator_are_refused),
		cmocka_unit_test(an_address_whose_normal_form_names_a_port_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
