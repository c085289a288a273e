// SPDX-License-Identifier: BSD-2-Clause
// The iSER header's codec against hand-made bytes. RFC 7145 9.
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transport/iser/iser.h"
#include "transport/wire/be.h"

// A read of 4096 bytes with a 4-byte AHS and 5 bytes of data, to be cut and spoilt.
#define MSG_LEN (ISER_HDR_LEN + ISCSI_BHS_LEN + 4 + 5)

static void make(uint8_t msg[MSG_LEN + 8])
{
	static const uint8_t head[ISER_HDR_LEN] = {
		0x1c, 0, 0,    0,    0x11, 0x22, 0x33, 0x44, 0, 0, 0, 1, 2, 3,
		4,    5, 0x55, 0x66, 0x77, 0x88, 0,    0,    0, 9, 8, 7, 6, 5,
	};
	memset(msg, 0, MSG_LEN + 8);
	memcpy(msg, head, sizeof head);
	msg[ISER_HDR_LEN] = ISCSI_OP_SCSI_CMD;
	msg[ISER_HDR_LEN + 4] = 1;
	msg[ISER_HDR_LEN + 7] = 5;
}

static void both_tags_are_read(void **state)
{
	uint8_t msg[MSG_LEN + 8];
	struct iser_msg m;
	make(msg);
	assert_int_equal(iser_msg_parse(&m, msg, MSG_LEN, NULL), 0);
	assert_int_equal(m.opcode, ISER_CONTROL);
	assert_true(m.has_write && m.has_read);
	assert_int_equal(m.write.stag, 0x11223344);
	assert_int_equal(m.write.base, 0x102030405);
	assert_int_equal(m.read.stag, 0x55667788);
	assert_int_equal(m.read.base, 0x908070605);
}

static void parts_of_the_pdu_are_found(void **state)
{
	uint8_t msg[MSG_LEN + 8];
	struct iser_msg m;
	make(msg);
	assert_int_equal(iser_msg_parse(&m, msg, MSG_LEN, NULL), 0);
	assert_int_equal(m.pdu.opcode, ISCSI_OP_SCSI_CMD);
	assert_ptr_equal(m.bhs, msg + 28);
	assert_ptr_equal(m.ahs, msg + 76);
	assert_ptr_equal(m.data, msg + 80);
	assert_int_equal(m.pdu.data_len, 5);
}

static void empty_parts_are_null(void **state)
{
	uint8_t msg[ISER_HDR_LEN + ISCSI_BHS_LEN] = { ISER_CONTROL };
	struct iser_msg m;
	assert_int_equal(iser_msg_parse(&m, msg, sizeof msg, NULL), 0);
	assert_null(m.ahs);
	assert_null(m.data);
	assert_false(m.has_write || m.has_read);
}

static void every_shorter_message_is_refused(void **state)
{
	uint8_t msg[MSG_LEN + 8];
	struct iser_msg m;
	struct err e;
	make(msg);
	for (uint32_t len = 0; len < MSG_LEN; len++)
		assert_int_equal(iser_msg_parse(&m, msg, len, &e), -EPROTO);
}

static void padding_is_at_most_four_bytes(void **state)
{
	uint8_t msg[MSG_LEN + 8];
	struct iser_msg m;
	struct err e;
	make(msg);
	assert_int_equal(iser_msg_parse(&m, msg, MSG_LEN + 4, &e), 0);
	assert_int_equal(iser_msg_parse(&m, msg, MSG_LEN + 5, &e), -EPROTO);
}

static void other_opcodes_are_refused(void **state)
{
	uint8_t msg[MSG_LEN + 8];
	struct iser_msg m;
	struct err e;
	make(msg);
	for (unsigned op = 0; op < 256; op += 16) {
		msg[0] = (uint8_t)op;
		bool is_known = op >= ISER_CONTROL && op <= ISER_HELLO_REPLY;
		assert_int_equal(iser_msg_parse(&m, msg, MSG_LEN, &e), is_known ? 0 : -EPROTO);
	}
}

static void hello_has_versions_and_depth(void **state)
{
	uint8_t msg[ISER_HDR_LEN] = { 0x20, 0xaa, 0x01, 0x02 };
	struct iser_msg m;
	assert_int_equal(iser_msg_parse(&m, msg, sizeof msg, NULL), 0);
	assert_int_equal(m.opcode, ISER_HELLO);
	assert_int_equal(m.version_max, ISER_VERSION);
	assert_int_equal(m.version, ISER_VERSION);
	assert_int_equal(m.depth, 0x102);
}

static void hello_reply_reads_as_it_was_written(void **state)
{
	uint8_t msg[ISER_HDR_LEN];
	struct iser_msg m;
	for (int is_refused = 0; is_refused < 2; is_refused++) {
		iser_hello_reply_put(msg, 70000, is_refused);
		assert_int_equal(iser_msg_parse(&m, msg, sizeof msg, NULL), 0);
		assert_int_equal(m.opcode, ISER_HELLO_REPLY);
		assert_int_equal(m.is_refused, is_refused);
		assert_int_equal(m.version_max, ISER_VERSION);
		assert_int_equal(m.version, ISER_VERSION);
		assert_int_equal(m.depth, 0xffff);
	}
}

static void header_reads_as_it_was_written(void **state)
{
	uint8_t msg[ISER_HDR_LEN + ISCSI_BHS_LEN] = { 0 };
	struct iser_tag write = { 0x01020304, 0xfffffffffffffff0 }, read = { 5, 6 };
	struct iser_msg m;
	iser_hdr_put(msg, &write, NULL);
	assert_int_equal(iser_msg_parse(&m, msg, sizeof msg, NULL), 0);
	assert_true(m.has_write && !m.has_read);
	assert_int_equal(m.write.stag, write.stag);
	assert_int_equal(m.write.base, write.base);
	iser_hdr_put(msg, NULL, &read);
	assert_int_equal(iser_msg_parse(&m, msg, sizeof msg, NULL), 0);
	assert_true(!m.has_write && m.has_read);
	assert_int_equal(m.read.base, 6);
	assert_int_equal(m.write.stag, 0);
}

static void without_tags_only_the_opcode_is_set(void **state)
{
	static const uint8_t want[ISER_HDR_LEN] = { 0x10 };
	uint8_t got[ISER_HDR_LEN];
	memset(got, 0xff, sizeof got);
	iser_hdr_put(got, NULL, NULL);
	assert_memory_equal(got, want, sizeof want);
}

static void private_data_is_four_bytes_with_flags(void **state)
{
	static const uint8_t with[4] = { 0x80 }, without[4] = { 0xc0 };
	uint8_t got[ISER_CM_LEN];
	iser_cm_put(got, true);
	assert_memory_equal(got, with, sizeof with);
	iser_cm_put(got, false);
	assert_memory_equal(got, without, sizeof without);
}

static void invalidation_needs_private_data_that_allows_it(void **state)
{
	assert_false(iser_cm_can_invalidate(NULL, 0));
	assert_false(iser_cm_can_invalidate((const uint8_t *)"\xc0\0\0", 4));
	assert_true(iser_cm_can_invalidate((const uint8_t *)"\x80\0\0", 4));
	assert_true(iser_cm_can_invalidate((const uint8_t *)"\0", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_tags_are_read),
		cmocka_unit_test(parts_of_the_pdu_are_found),
		cmocka_unit_test(empty_parts_are_null),
		cmocka_unit_test(every_shorter_message_is_refused),
		cmocka_unit_test(padding_is_at_most_four_bytes),
		cmocka_unit_test(other_opcodes_are_refused),
		cmocka_unit_test(hello_has_versions_and_depth),
		cmocka_unit_test(hello_reply_reads_as_it_was_written),
		cmocka_unit_test(header_reads_as_it_was_written),
		cmocka_unit_test(without_tags_only_the_opcode_is_set),
		cmocka_unit_test(private_data_is_four_bytes_with_flags),
		cmocka_unit_test(invalidation_needs_private_data_that_allows_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
