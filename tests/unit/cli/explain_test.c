// SPDX-License-Identifier: BSD-2-Clause
// cli/explain*.c: codes as people meet them lead to the right rows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/explain/explain.h"

static struct explain_hit hits[EXPLAIN_MAX];

// The one meaning of text, as "kind code".
static void means(const char *text, const char *expected)
{
	char code[24], found[64];
	unsigned n = explain_find(text, hits, EXPLAIN_MAX);
	if (n != 1)
		fail_msg("%s: %u meanings", text, n);
	explain_code_text(&hits[0], code);
	snprintf(found, sizeof found, "%s %s", hits[0].table->kind, code);
	assert_string_equal(found, expected);
}

static void codes_are_told_apart_by_their_look(void **state)
{
	means("0201", "login 0201");
	means("020a", "login 020a");
	means("5/24/00", "sense 5/24/00");
	means("05 24 00", "sense 5/24/00");
	means("0x05,0x24,0x00", "sense 5/24/00");
	means("5h/24h/00h", "sense 5/24/00");
	means("00010003", "srp 00010003");
	means("EBUSY", "errno 16");
	means("ebusy", "errno 16");
}

static void a_kind_in_front_decides(void **state)
{
	means("reject 09", "reject 09");
	means("reject 9", "reject 09");
	means("status 02", "status 02");
	means("cm 28", "cm 28");
	means("srp 0x10003", "srp 00010003");
	means("srp 10003", "srp 00010003");
	means("exit 5", "exit 5");
	means("login 0x0201", "login 0201");
}

static void open_iscsi_may_be_pasted(void **state)
{
	means("1020", "conn 1020");
	means("conn 1011", "conn 1011");
	means("conn error 1020", "conn 1020");
	means("connection1:0: detected conn error (1020)", "conn 1020");
	means("iscsid: Kernel reported iSCSI connection 1:0 error (1022 - ISCSI_ERR_NOP_TIMEDOUT: "
	      "A NOP "
	      "has timed out) state (3)",
	      "conn 1022");
	means("ISCSI_ERR_TCP_CONN_CLOSE", "conn 1020");
	means("iscsiadm 24", "iscsiadm 24");
	means("iscsi error 24", "iscsiadm 24");
	means("iscsiadm exit status 15", "iscsiadm 15");
	means("iscsiadm: initiator reported error (24 - iSCSI login failed due to authorization "
	      "failure)",
	      "iscsiadm 24");
	means("login status 0201", "login 0201");
}

static void ib_srp_may_be_pasted(void **state)
{
	means("scsi host6: ib_srp: SRP LOGIN from fe80::1 to fe80::2 REJECTED, reason 0x00010003",
	      "srp 00010003");
	means("scsi host6: ib_srp:   REJ reason 0x8", "cm 8");
	means("scsi host6:   REJ reason 0x1c", "cm 28");
	assert_int_equal(explain_find("REJ reason 0x", hits, EXPLAIN_MAX), 0);
	assert_int_equal(explain_find("REJECTED, reason 0x000100031", hits, EXPLAIN_MAX), 0);
}

static void open_iscsi_has_every_code(void **state)
{
	char text[40], expected[40];
	for (int i = 0; i <= 32; i++) {
		snprintf(text, sizeof text, "iscsi error %d", i);
		snprintf(expected, sizeof expected, "iscsiadm %d", i);
		means(text, expected);
	}
	for (int i = 1001; i <= 1022; i++) {
		snprintf(text, sizeof text, "%d", i);
		snprintf(expected, sizeof expected, "conn %d", i);
		means(text, expected);
	}
}

static void words_of_a_name_find_it(void **state)
{
	means("authentication failure", "login 0201");
	means("Reservation Conflict", "status 18");
	means("invalid field in cdb", "sense 5/24/00");
}

static void a_code_with_several_meanings_has_them_all(void **state)
{
	assert_int_equal(explain_find("08", hits, EXPLAIN_MAX), 5);
	assert_int_equal(explain_find("08", hits, 2), 2);
}

static void any_sense_has_a_name(void **state)
{
	means("3/11/01", "sense 3/11/01");
	assert_non_null(strstr(hits[0].name, "Medium Error"));
	assert_non_null(strstr(hits[0].name, "retries exhausted"));
	assert_non_null(hits[0].row.cause);
}

static void nonsense_means_nothing(void **state)
{
	static const char *const bad[] = { "",
					   " ",
					   "zz",
					   "5/24",
					   "5/24/00/1",
					   "10/1/1",
					   "5/100/0",
					   "ffffffff",
					   "cm 99",
					   "login 9",
					   "0x",
					   "-1",
					   "exit x",
					   "conn error 1",
					   "iscsi error",
					   "iscsi error 99",
					   "error (24",
					   "conn error (99999999999999" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (explain_find(bad[i], hits, EXPLAIN_MAX))
			fail_msg("'%s' means %s", bad[i], hits[0].row.name);
}

static void every_row_has_cause_and_cure(void **state)
{
	for (const struct explain_table *const *t = explain_tables; *t; t++)
		for (const struct explain_row *r = (*t)->rows; r->name; r++) {
			assert_true(r->cause && *r->cause && r->cure && *r->cure);
			for (const struct explain_row *o = r + 1; o->name; o++)
				assert_int_not_equal(o->code, r->code);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_told_apart_by_their_look),
		cmocka_unit_test(a_kind_in_front_decides),
		cmocka_unit_test(open_iscsi_may_be_pasted),
		cmocka_unit_test(ib_srp_may_be_pasted),
		cmocka_unit_test(open_iscsi_has_every_code),
		cmocka_unit_test(words_of_a_name_find_it),
		cmocka_unit_test(a_code_with_several_meanings_has_them_all),
		cmocka_unit_test(any_sense_has_a_name),
		cmocka_unit_test(nonsense_means_nothing),
		cmocka_unit_test(every_row_has_cause_and_cure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
