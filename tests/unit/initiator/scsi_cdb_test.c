// SPDX-License-Identifier: BSD-2-Clause
// CDBs, logical unit numbers and sense data.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/scsi_cdb.h"

static void cdbs_are_those_of_the_standards(void **state)
{
	static const struct {
		enum scsi_op op;
		struct scsi_args args;
		uint8_t cdb[16];
	} rows[] = {
		{SCSI_TEST_UNIT_READY,	{ 0 },			       { 0 }				     },
		{ SCSI_INQUIRY,
		  { .len = 0x1ff, .flags = 1, .page = 0x83 },
		  { 0x12, 1, 0x83, 1, 0xff }								},
		{ SCSI_READ_CAPACITY_16,
		  { .len = 32 },
		  { 0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32 }					      },
		{ SCSI_READ_10,
		  { .lba = 0x01020304, .len = 0x0506, .flags = 8 },
		  { 0x28, 8, 1, 2, 3, 4, 0, 5, 6 }							  },
		{ SCSI_WRITE_16,
		  { .lba = 0x0102030405060708, .len = 0x090a0b0c },
		  { 0x8a, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }					     },
		{ SCSI_REPORT_LUNS,	    { .len = 0x01020304 },	   { 0xa0, 0, 0, 0, 0, 0, 1, 2, 3, 4 }},
		{ SCSI_MODE_SENSE_6,	     { .len = 255, .page = 0x3f }, { 0x1a, 0, 0x3f, 0, 255 }	     },
		{ SCSI_PR_OUT,
		  { .len = 24, .flags = 1, .page = 5 },
		  { 0x5f, 1, 5, 0, 0, 0, 0, 0, 24 }							 },
		{ SCSI_UNMAP,	      { .len = 24 },		     { 0x42, 0, 0, 0, 0, 0, 0, 0, 24 }  },
		{ SCSI_WRITE_SAME_16,
		  { .lba = 9, .len = 8, .flags = 8 },
		  { 0x93, 8, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 8 }						  },
		{ SCSI_COMPARE_AND_WRITE,
		  { .lba = 1, .len = 2 },
		  { 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2 }						  },
		{ SCSI_VERIFY_10,
		  { .lba = 1, .len = 2, .flags = 2 },
		  { 0x2f, 2, 0, 0, 0, 1, 0, 0, 2 }							  },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t cdb[16];
		assert_int_equal(scsi_cdb(cdb, rows[i].op, &rows[i].args), 0);
		assert_memory_equal(cdb, rows[i].cdb, 16);
	}
}

static void what_does_not_fit_a_cdb_is_refused(void **state)
{
	uint8_t cdb[16];
	struct scsi_args far = { .lba = 1ull << 32, .len = 1 };
	struct scsi_args much = { .len = 65536 };
	struct scsi_args flags = { .flags = 1 };
	struct scsi_args lba = { .lba = 1 };
	assert_int_equal(scsi_cdb(cdb, SCSI_READ_10, &far), -ERANGE);
	assert_int_equal(scsi_cdb(cdb, SCSI_READ_16, &far), 0);
	assert_int_equal(scsi_cdb(cdb, SCSI_WRITE_10, &much), -ERANGE);
	assert_int_equal(scsi_cdb(cdb, SCSI_TEST_UNIT_READY, &flags), -EINVAL);
	assert_int_equal(scsi_cdb(cdb, SCSI_INQUIRY, &lba), -ERANGE);
	assert_int_equal(scsi_cdb(cdb, SCSI_OP_MAX, NULL), -EINVAL);
}

static void luns_above_255_are_flat(void **state)
{
	struct scsi_cmd c;
	scsi_cmd_init(&c, 255);
	assert_memory_equal(c.lun, "\0\xff\0\0\0\0\0\0", 8);
	scsi_cmd_init(&c, 256);
	assert_memory_equal(c.lun, "\x41\0\0\0\0\0\0\0", 8);
	scsi_cmd_init(&c, 16383);
	assert_memory_equal(c.lun, "\x7f\xff\0\0\0\0\0\0", 8);
}

static void commands_without_data_take_none(void **state)
{
	struct scsi_cmd c;
	uint8_t b[8];
	assert_int_equal(scsi_cmd_set(&c, 0, SCSI_TEST_UNIT_READY, NULL, b, sizeof b), -EINVAL);
}

// A copy of exactly len bytes, so that AddressSanitizer sees what lies behind.
static bool parse(const void *sense, size_t len, struct scsi_sense *ret)
{
	uint8_t *copy = malloc(len ? len : 1);
	memcpy(copy, sense, len);
	bool ok = scsi_sense_parse(copy, len, ret);
	free(copy);
	return ok;
}

static void sense_of_any_length_is_read_within_its_bounds(void **state)
{
	static const uint8_t fixed[18] = { 0x70, 0, 3, [12] = 0x11, [13] = 7 };
	static const uint8_t descriptor[8] = { 0x73, 5, 0x24, 1 };
	struct scsi_sense s;
	for (size_t n = 0; n <= sizeof fixed; n++)
		assert_int_equal(parse(fixed, n, &s), n > 2);
	assert_int_equal(s.key, 3);
	assert_int_equal(s.asc, 0x11);
	assert_int_equal(s.ascq, 7);
	assert_true(parse(fixed, 3, &s));
	assert_int_equal(s.asc, 0);
	for (size_t n = 0; n <= sizeof descriptor; n++)
		assert_int_equal(parse(descriptor, n, &s), n > 3);
	assert_int_equal(s.key, 5);
	assert_int_equal(s.asc, 0x24);
	assert_true(s.is_deferred);
	assert_false(parse("\x7f\0\3\0\0\0\0\0", 8, &s));
}

static void a_failure_is_told_in_words_and_numbers(void **state)
{
	struct scsi_cmd c;
	char text[120];
	scsi_cmd_init(&c, 0);
	c.status = SCSI_CHECK_CONDITION;
	c.sense_len = 18;
	memcpy(c.sense, "\x70\0\3\0\0\0\0\0\0\0\0\0\x11\0", 14);
	scsi_cmd_text(&c, text, sizeof text);
	assert_string_equal(text, "MEDIUM ERROR, unrecovered read error (03/11/00)");
	c.sense_len = 0;
	scsi_cmd_text(&c, text, sizeof text);
	assert_string_equal(text, "CHECK CONDITION without valid sense data");
	c.status = SCSI_RESERVATION_CONFLICT;
	scsi_cmd_text(&c, text, sizeof text);
	assert_string_equal(text, "RESERVATION CONFLICT (0x18)");
	c.status = SCSI_GOOD;
	scsi_cmd_text(&c, text, sizeof text);
	assert_string_equal(text, "");
}

static void a_command_is_refused_by_illegal_request_or_without_sense_data(void **state)
{
	struct scsi_cmd c;
	scsi_cmd_init(&c, 0);
	assert_false(scsi_cmd_is_refused(&c));
	c.status = SCSI_CHECK_CONDITION;
	assert_true(scsi_cmd_is_refused(&c));
	c.sense_len = 18;
	memcpy(c.sense, "\x70\0\5\0\0\0\0\0\0\0\0\0\x24\0", 14);
	assert_true(scsi_cmd_is_refused(&c));
	c.sense[2] = 0;
	assert_true(scsi_cmd_is_refused(&c));
	c.sense[2] = 3;
	assert_false(scsi_cmd_is_refused(&c));
	c.sense_len = 2; // damaged
	assert_false(scsi_cmd_is_refused(&c));
	c.sense_len = 0;
	c.status = SCSI_BUSY;
	assert_false(scsi_cmd_is_refused(&c));
	c.status = SCSI_CHECK_CONDITION;
	c.res = -EIO;
	assert_false(scsi_cmd_is_refused(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cdbs_are_those_of_the_standards),
		cmocka_unit_test(what_does_not_fit_a_cdb_is_refused),
		cmocka_unit_test(luns_above_255_are_flat),
		cmocka_unit_test(commands_without_data_take_none),
		cmocka_unit_test(sense_of_any_length_is_read_within_its_bounds),
		cmocka_unit_test(a_failure_is_told_in_words_and_numbers),
		cmocka_unit_test(a_command_is_refused_by_illegal_request_or_without_sense_data),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
