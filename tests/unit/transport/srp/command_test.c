// SPDX-License-Identifier: BSD-2-Clause
// CMD and its buffer descriptors against hand-made bytes. T10 SRP 6.8, 5.6; immediate data as Linux
// sends it.
#include "transport/srp/command_iu.h"

static void check_desc(const uint8_t *raw, uint32_t len)
{
	struct srp_desc d;
	srp_desc_parse(&d, raw);
	assert_true(d.va == 0x1112131415161718);
	assert_int_equal(d.key, 0x21222324);
	assert_int_equal(d.len, len);
}

static void a_command_without_data_is_read(void **state)
{
	struct srp_command c;
	uint64_t tag;
	memcpy(&tag, head + 8, 8);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	assert_true(c.tag == tag);
	assert_ptr_equal(c.lun, iu + 20);
	assert_int_equal(c.attr, SRP_ATTR_HEAD_OF_QUEUE);
	assert_int_equal(c.sol_not, SRP_SCSOLNT | SRP_UCSOLNT);
	assert_ptr_equal(c.cdb, iu + 32);
	assert_int_equal(c.cdb_len, 16);
	assert_int_equal(c.out.format, SRP_NO_DATA);
	assert_int_equal(c.in.format, SRP_NO_DATA);
	assert_int_equal(c.out.len + c.in.len, 0);
}

static void a_direct_descriptor_is_of_its_direction(void **state)
{
	struct srp_command c;
	iu[5] = 0x01;
	iu[6] = iu[7] = 0xff; // counts are of tables
	add(one, sizeof one);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	assert_int_equal(c.out.format, SRP_NO_DATA);
	assert_int_equal(c.in.format, SRP_DIRECT);
	assert_int_equal(c.in.len, 0x1234);
	assert_int_equal(c.in.count, 1);
	check_desc(c.in.descs, 0x1234);
	iu[5] = 0x10;
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	assert_int_equal(c.out.len, 0x1234);
	assert_int_equal(c.in.len, 0);
}

static void descriptors_follow_the_additional_cdb(void **state)
{
	static const uint8_t more[12] = { 1, 2, 3 };
	struct srp_command c;
	iu[5] = 0x01;
	iu[31] = 12 | 3; // the low bits are reserved
	add(more, sizeof more);
	add(one, sizeof one);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	assert_int_equal(c.cdb_len, 28);
	assert_memory_equal(c.cdb + 16, more, 12);
	check_desc(c.in.descs, 0x1234);
}

static void a_table_is_read(void **state)
{
	struct srp_command c;
	iu[5] = 0x02;
	iu[7] = 2;
	add(table, sizeof table);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	assert_int_equal(c.in.format, SRP_INDIRECT);
	assert_int_equal(c.in.len, 0x3000);
	assert_int_equal(c.in.count, 2);
	assert_true(c.in.table.va == 0x1112131415161718);
	assert_int_equal(c.in.table.key, 0x21222324);
	assert_int_equal(c.in.table.len, 32);
	check_desc(c.in.descs, 0x1000);
	check_desc(c.in.descs + 16, 0x2000);
}

static void data_out_comes_first(void **state)
{
	struct srp_command c;
	iu[5] = 0x21;
	iu[6] = 2;
	add(table, sizeof table);
	add(one, sizeof one);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	assert_int_equal(c.out.len, 0x3000);
	assert_int_equal(c.in.len, 0x1234);
	iu[5] = 0x12;
	iu[6] = 0;
	iu[7] = 2;
	memcpy(iu + 48, one, sizeof one);
	memcpy(iu + 64, table, sizeof table);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	assert_int_equal(c.out.len, 0x1234);
	assert_int_equal(c.in.len, 0x3000);
	assert_ptr_equal(c.in.descs, iu + 64 + 20);
}

static void every_shorter_command_is_refused(void **state)
{
	struct srp_command c;
	static const uint8_t more[4] = { 0 };
	iu[5] = 0x21;
	iu[6] = 2;
	iu[31] = 4;
	add(more, sizeof more);
	add(table, sizeof table);
	add(one, sizeof one);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	while (iu_len) {
		cut(iu_len - 1);
		assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), -EPROTO);
	}
}

static void the_largest_counts_need_their_bytes(void **state)
{
	static const uint8_t room[252 + 2 * (20 + 255 * 16)];
	struct srp_command c;
	iu[5] = 0x22;
	iu[6] = iu[7] = 255;
	iu[31] = 252;
	add(room, sizeof room - 1);
	set32(48 + 252 + 12, 255 * 16);
	set32(48 + 252 + 20 + 255 * 16 + 12, 255 * 16);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), -EPROTO);
	add(room, 1);
	assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL), 0);
	assert_int_equal(c.cdb_len, 268);
	assert_int_equal(c.in.count, 255);
}

static void unknown_formats_are_refused(void **state)
{
	static const uint8_t room[200];
	struct srp_command c;
	add(room, sizeof room);
	for (unsigned format = 0; format < 256; format++) {
		iu[5] = (uint8_t)format;
		bool is_known = format >> 4 <= 3 && (format & 15) <= 2;
		assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL) == -EPROTO,
				 !is_known);
	}
}

static void another_opcode_is_refused(void **state)
{
	struct srp_command c;
	for (unsigned op = 0; op < 256; op++) {
		iu[0] = (uint8_t)op;
		assert_int_equal(srp_command_parse(&c, iu, iu_len, OFFSET, NULL),
				 op == 2 ? 0 : -EPROTO);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_command_without_data_is_read),
		TEST(a_direct_descriptor_is_of_its_direction),
		TEST(descriptors_follow_the_additional_cdb),
		TEST(a_table_is_read),
		TEST(data_out_comes_first),
		TEST(every_shorter_command_is_refused),
		TEST(the_largest_counts_need_their_bytes),
		TEST(unknown_formats_are_refused),
		TEST(another_opcode_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
