// SPDX-License-Identifier: BSD-2-Clause
// What each role accepts as a header, AHS parsing, serial number arithmetic.
#include "transport/iscsi/pdu.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "transport/wire/be.h"

static uint8_t bhs[48];
static struct iscsi_pdu pdu;
static struct err e;

static void set(uint8_t opcode, uint8_t flags, uint32_t data_len, uint32_t itt, uint32_t ttt)
{
	memset(bhs, 0, sizeof bhs);
	bhs[0] = opcode;
	bhs[1] = flags;
	put_be24(bhs + 5, data_len);
	put_be32(bhs + 16, itt);
	put_be32(bhs + 20, ttt);
}

static int at_target(enum iscsi_phase phase)
{
	return iscsi_pdu_check(ISCSI_ROLE_TARGET, phase, bhs, 8192, &pdu, &e);
}

static int at_initiator(enum iscsi_phase phase)
{
	return iscsi_pdu_check(ISCSI_ROLE_INITIATOR, phase, bhs, 8192, &pdu, &e);
}

static void test_lengths_are_decoded(void **state)
{
	set(0x41, 0xa1, 5, 1, 0);
	bhs[4] = 7;
	assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), 0);
	assert_int_equal(pdu.opcode, ISCSI_OP_SCSI_CMD);
	assert_true(pdu.is_immediate);
	assert_int_equal(pdu.ahs_len, 28);
	assert_int_equal(pdu.data_len, 5);
	assert_int_equal(pdu.pad_len, 3);
}

static void test_too_much_data_closes(void **state)
{
	set(ISCSI_OP_DATA_OUT, 0x80, 8193, 1, 1);
	assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), -EPROTO);
	assert_non_null(strstr(e.text, "8193"));
	set(ISCSI_OP_DATA_IN, 0x80, 8193, 1, 1);
	assert_int_equal(at_initiator(ISCSI_PHASE_FULL_FEATURE), -EPROTO);
}

static void test_login_phase_takes_login_only(void **state)
{
	for (unsigned op = 0; op < 64; op++) {
		set((uint8_t)op, 0x80, 0, 1, ISCSI_TAG_NONE);
		assert_int_equal(at_target(ISCSI_PHASE_LOGIN),
				 op == ISCSI_OP_LOGIN_REQ ? 0 : -EPROTO);
		assert_int_equal(at_initiator(ISCSI_PHASE_LOGIN),
				 op == ISCSI_OP_LOGIN_RSP ? 0 : -EPROTO);
	}
}

static void test_discovery_takes_text_and_logout_only(void **state)
{
	for (unsigned op = 0; op < 32; op++) {
		if (op == ISCSI_OP_LOGIN_REQ)
			continue;
		set((uint8_t)op, 0x80, 0, 1, ISCSI_TAG_NONE);
		bool is_ok = op == ISCSI_OP_TEXT_REQ || op == ISCSI_OP_LOGOUT_REQ;
		int rc = at_target(ISCSI_PHASE_DISCOVERY);
		assert_true(is_ok ? rc == 0 : rc > 0);
	}
}

static void test_target_rejects_with_the_right_reason(void **state)
{
	static const struct {
		uint8_t opcode, flags;
		uint32_t data_len, itt;
		int reason;
	} rows[] = {
		{0x1c,			0x80, 0, 1,		    ISCSI_REJECT_NOT_SUPPORTED},
		{ 0x0f,		0x80, 0, 1,		    ISCSI_REJECT_NOT_SUPPORTED},
		{ ISCSI_OP_SNACK,	  0x80, 0, 1,	      ISCSI_REJECT_SNACK	 },
		{ ISCSI_OP_NOP_IN,	   0x80, 0, 1,	       ISCSI_REJECT_PROTOCOL     },
		{ ISCSI_OP_NOP_OUT,    0x80, 0, ISCSI_TAG_NONE, ISCSI_REJECT_PROTOCOL	   },
		{ ISCSI_OP_SCSI_CMD,   0x40, 0, 1,		 ISCSI_REJECT_PROTOCOL     },
		{ ISCSI_OP_SCSI_CMD,   0x80, 0, ISCSI_TAG_NONE, ISCSI_REJECT_INVALID_FIELD},
		{ ISCSI_OP_TEXT_REQ,   0xc0, 0, 1,		 ISCSI_REJECT_PROTOCOL     },
		{ ISCSI_OP_TMF_REQ,    0x81, 4, 1,		ISCSI_REJECT_INVALID_FIELD},
		{ ISCSI_OP_LOGOUT_REQ, 0x80, 4, 1,		   ISCSI_REJECT_INVALID_FIELD},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		set(rows[i].opcode, rows[i].flags, rows[i].data_len, rows[i].itt, ISCSI_TAG_NONE);
		assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), rows[i].reason);
	}
}

static void test_ahs_only_with_a_scsi_command(void **state)
{
	set(ISCSI_OP_TEXT_REQ, 0x80, 0, 1, ISCSI_TAG_NONE);
	bhs[4] = 1;
	assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), ISCSI_REJECT_INVALID_FIELD);
	set(ISCSI_OP_SCSI_RSP, 0x80, 0, 1, 0);
	bhs[4] = 1;
	assert_int_equal(at_initiator(ISCSI_PHASE_FULL_FEATURE), -EPROTO);
}

static void test_a_login_request_after_login_closes(void **state)
{
	set(0x43, 0x87, 0, 1, 0);
	assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), -EPROTO);
}

static void test_legal_pdus_pass_at_the_target(void **state)
{
	set(0x40, 0x80, 0, ISCSI_TAG_NONE, 5); // answer to our ping
	assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), 0);
	set(0x00, 0x80, 64, 9, ISCSI_TAG_NONE); // libiscsi's ping, not immediate
	assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), 0);
	set(0x01, 0x20, 512, 9, 1024); // more data follows
	assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), 0);
	set(0x05, 0x00, 512, 9, ISCSI_TAG_NONE);
	assert_int_equal(at_target(ISCSI_PHASE_FULL_FEATURE), 0);
}

static void test_initiator_closes_on_a_hostile_target(void **state)
{
	static const struct {
		uint8_t opcode, flags;
		uint32_t data_len, itt, ttt;
	} rows[] = {
		{ISCSI_OP_SCSI_CMD,    0x80, 0,  1,		 0		   },
		{ 0x3c,		0x80, 0,	 1,		    0	      },
		{ ISCSI_OP_SCSI_RSP,   0x00, 0,  1,		 0		   },
		{ ISCSI_OP_SCSI_RSP,   0x86, 0,  1,		 0		   },
		{ ISCSI_OP_SCSI_RSP,   0x98, 0,  1,		 0		   },
		{ ISCSI_OP_DATA_IN,    0x01, 8,  1,		0		  },
		{ ISCSI_OP_DATA_IN,    0x87, 8,  1,		0		  },
		{ ISCSI_OP_DATA_IN,    0x82, 8,  1,		0		  },
		{ ISCSI_OP_DATA_IN,    0xc0, 8,  1,		0		  },
		{ ISCSI_OP_R2T,	0x80, 0,	 1,		    ISCSI_TAG_NONE},
		{ ISCSI_OP_R2T,	0x80, 0,	 1,		    7	      }, // desired length 0
		{ ISCSI_OP_R2T,	0x80, 4,	 1,		    7	      },
		{ ISCSI_OP_NOP_IN,	   0x80, 4,  ISCSI_TAG_NONE, 7	      },
		{ ISCSI_OP_TMF_RSP,    0x80, 4,  1,		0		  },
		{ ISCSI_OP_LOGOUT_RSP, 0x80, 4,	1,		   0	     },
		{ ISCSI_OP_TEXT_RSP,   0x00, 4,  1,		 ISCSI_TAG_NONE},
		{ ISCSI_OP_TEXT_RSP,   0xc0, 4,  1,		 3		   },
		{ ISCSI_OP_REJECT,	   0x80, 47, ISCSI_TAG_NONE, 0	       },
		{ ISCSI_OP_ASYNC,	  0x80, 1,  ISCSI_TAG_NONE, 0	     },
		{ ISCSI_OP_LOGIN_RSP,  0x80, 0,  1,		  0		    },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		set(rows[i].opcode, rows[i].flags, rows[i].data_len, rows[i].itt, rows[i].ttt);
		assert_int_equal(at_initiator(ISCSI_PHASE_FULL_FEATURE), -EPROTO);
	}
}

static void test_legal_pdus_pass_at_the_initiator(void **state)
{
	set(ISCSI_OP_DATA_IN, 0x83, 512, 1, ISCSI_TAG_NONE); // status and underflow
	assert_int_equal(at_initiator(ISCSI_PHASE_FULL_FEATURE), 0);
	set(ISCSI_OP_R2T, 0x80, 0, 1, 7);
	put_be32(bhs + 44, 1);
	assert_int_equal(at_initiator(ISCSI_PHASE_FULL_FEATURE), 0);
	set(ISCSI_OP_REJECT, 0x80, 48, ISCSI_TAG_NONE, 0);
	assert_int_equal(at_initiator(ISCSI_PHASE_FULL_FEATURE), 0);
	set(ISCSI_OP_TEXT_RSP, 0x40, 4, 1, 3);
	assert_int_equal(at_initiator(ISCSI_PHASE_DISCOVERY), 0);
}

static void test_ahs_extended_cdb_and_read_length(void **state)
{
	uint8_t ahs[] = { 0,  18, 1,  0,  1,  2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
			  13, 14, 15, 16, 17, 0, 0, 0, 0, 5, 2, 0, 0, 1,  0,  2 };
	ahs[1] = 18; // 17 bytes of CDB, 21 bytes in all, 3 of pad
	struct iscsi_ahs_info info;
	assert_int_equal(iscsi_ahs_parse(ahs, sizeof ahs, &info, &e), 0);
	assert_ptr_equal(info.cdb_ext, ahs + 4);
	assert_int_equal(info.cdb_ext_len, 17);
	assert_true(info.has_bidi_read);
	assert_int_equal(info.bidi_read_len, 0x10002);
}

static void test_ahs_that_does_not_fit_is_rejected(void **state)
{
	struct iscsi_ahs_info info;
	uint8_t longer[8] = { 0, 6, 1 }, empty[4] = { 0 }, unknown[8] = { 0, 5, 9 };
	uint8_t bidi[8] = { 0, 4, 2 }, twice[16] = { 0, 5, 2, 0, 0, 0, 0, 0, 0, 5, 2 };
	static uint8_t huge[300] = { 1, 0, 1 };
	assert_int_equal(iscsi_ahs_parse(longer, 8, &info, &e), ISCSI_REJECT_INVALID_FIELD);
	assert_int_equal(iscsi_ahs_parse(empty, 4, &info, &e), ISCSI_REJECT_INVALID_FIELD);
	assert_int_equal(iscsi_ahs_parse(unknown, 8, &info, &e), ISCSI_REJECT_NOT_SUPPORTED);
	assert_int_equal(iscsi_ahs_parse(bidi, 8, &info, &e), ISCSI_REJECT_INVALID_FIELD);
	assert_int_equal(iscsi_ahs_parse(twice, 16, &info, &e), ISCSI_REJECT_INVALID_FIELD);
	assert_int_equal(iscsi_ahs_parse(huge, 300, &info, &e), ISCSI_REJECT_INVALID_FIELD);
	assert_int_equal(iscsi_ahs_parse(NULL, 0, &info, &e), 0);
}

static void test_serial_numbers_wrap(void **state)
{
	assert_true(serial32_lt(0xffffffff, 0));
	assert_false(serial32_lt(0, 0xffffffff));
	assert_true(serial32_le(7, 7));
	assert_true(serial32_in(1, 0xfffffffe, 3));
	assert_false(serial32_in(4, 0xfffffffe, 3));
}

static void test_a_closed_window_holds_nothing(void **state)
{
	assert_false(serial32_in(10, 10, 9));
	assert_false(serial32_in(9, 10, 9));
	assert_false(serial32_in(0, 0, 0xffffffff));
}

static void test_big_endian_accessors(void **state)
{
	uint8_t b[9] = { 0 };
	put_be64(b + 1, 0x0102030405060708);
	assert_int_equal(b[1], 1);
	assert_int_equal(get_be64(b + 1), 0x0102030405060708);
	assert_int_equal(get_be32(b + 1), 0x01020304);
	assert_int_equal(get_be24(b + 1), 0x010203);
	assert_int_equal(get_be16(b + 1), 0x0102);
	put_be24(b, 0xff112233);
	assert_int_equal(get_be24(b), 0x112233);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths_are_decoded),
		cmocka_unit_test(test_too_much_data_closes),
		cmocka_unit_test(test_login_phase_takes_login_only),
		cmocka_unit_test(test_discovery_takes_text_and_logout_only),
		cmocka_unit_test(test_target_rejects_with_the_right_reason),
		cmocka_unit_test(test_ahs_only_with_a_scsi_command),
		cmocka_unit_test(test_a_login_request_after_login_closes),
		cmocka_unit_test(test_legal_pdus_pass_at_the_target),
		cmocka_unit_test(test_initiator_closes_on_a_hostile_target),
		cmocka_unit_test(test_legal_pdus_pass_at_the_initiator),
		cmocka_unit_test(test_ahs_extended_cdb_and_read_length),
		cmocka_unit_test(test_ahs_that_does_not_fit_is_rejected),
		cmocka_unit_test(test_serial_numbers_wrap),
		cmocka_unit_test(test_a_closed_window_holds_nothing),
		cmocka_unit_test(test_big_endian_accessors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
