// SPDX-License-Identifier: BSD-2-Clause
// Tables of buffer descriptors: lengths that do not fit together are refused, each table that does
// is taken. T10 SRP 5.6.2.
#include "transport/srp/command_iu.h"

static struct srp_command c;

// A data-in table in the IU, of two descriptors.
static int begin_table(void **state)
{
	begin(state);
	iu[5] = 0x02;
	iu[7] = 2;
	add(table, sizeof table);
	return 0;
}

static int parse(void)
{
	return srp_command_parse(&c, iu, iu_len, OFFSET, NULL);
}

enum {
	TABLE_LEN = 48 + 12,
	DATA_LEN = 48 + 16,
	FIRST_LEN = 48 + 20 + 12,
	SECOND_LEN = 48 + 36 + 12
};

static void a_refused_table_leaves_the_tag(void **state)
{
	set32(TABLE_LEN, 31);
	assert_int_equal(parse(), -EINVAL);
	assert_memory_equal(&c.tag, head + 8, 8);
	assert_int_equal(c.sol_not, 6);
}

static void a_table_is_of_whole_descriptors(void **state)
{
	for (uint32_t len = 0; len < 100; len++) {
		set32(TABLE_LEN, len);
		assert_int_equal(parse(), len % 16 || len < 32 ? -EINVAL : 0);
	}
}

static void fewer_descriptors_in_the_iu_are_not_summed_up(void **state)
{
	iu[7] = 1;
	assert_int_equal(parse(), 0);
	assert_int_equal(c.in.count, 1);
	assert_int_equal(c.in.table.len, 32);
	assert_int_equal(c.in.len, 0x3000);
	iu[7] = 0;
	set32(DATA_LEN, 0xffffffff);
	cut(48 + 20);
	assert_int_equal(parse(), 0);
	assert_int_equal(c.in.count, 0);
	assert_int_equal(c.in.len, 0xffffffff);
}

static void a_table_has_a_largest_size(void **state)
{
	set32(TABLE_LEN, 4096 * 16);
	assert_int_equal(parse(), 0);
	set32(TABLE_LEN, 4097 * 16);
	assert_int_equal(parse(), -EINVAL);
	set32(TABLE_LEN, 0xfffffff0);
	assert_int_equal(parse(), -EINVAL);
}

static void lengths_add_up_to_the_data(void **state)
{
	for (int change = -1; change <= 1; change++) {
		set32(DATA_LEN, (uint32_t)(0x3000 + change));
		assert_int_equal(parse(), change ? -EINVAL : 0);
	}
	set32(DATA_LEN, 0);
	assert_int_equal(parse(), -EINVAL);
}

static void a_sum_beyond_32_bits_is_not_its_remainder(void **state)
{
	// 0x80000800 twice is 0x1000 modulo 2^32.
	set32(FIRST_LEN, 0x80000800);
	set32(SECOND_LEN, 0x80000800);
	set32(DATA_LEN, 0x1000);
	assert_int_equal(parse(), -EINVAL);
	set32(FIRST_LEN, 0xffffffff);
	set32(SECOND_LEN, 0);
	set32(DATA_LEN, 0xffffffff);
	assert_int_equal(parse(), 0);
}

static void empty_descriptors_are_taken(void **state)
{
	set32(FIRST_LEN, 0);
	set32(DATA_LEN, 0x2000);
	assert_int_equal(parse(), 0);
	set32(SECOND_LEN, 0);
	set32(DATA_LEN, 0);
	assert_int_equal(parse(), 0);
	assert_int_equal(c.in.len, 0);
	iu[7] = 0;
	set32(TABLE_LEN, 0);
	assert_int_equal(parse(), 0);
}

static void the_table_of_data_out_is_checked_too(void **state)
{
	iu[5] = 0x20;
	iu[6] = 2;
	iu[7] = 0;
	assert_int_equal(parse(), 0);
	set32(DATA_LEN, 0x2fff);
	assert_int_equal(parse(), -EINVAL);
}

static void whole_tables_are_summed_in_64_bits(void **state)
{
	enum { COUNT = SRP_TABLE_MAX };
	uint8_t *whole = calloc(COUNT, 16);
	assert_non_null(whole);
	assert_true(srp_table_is_valid(whole, 0, 0));
	assert_false(srp_table_is_valid(whole, 0, 1));
	for (uint32_t i = 0; i < COUNT; i++)
		whole[16 * i + 13] = 0x10; // 2^20 each: 2^32 in all
	assert_false(srp_table_is_valid(whole, COUNT, 0));
	assert_true(srp_table_is_valid(whole, COUNT - 1, 0xfff00000));
	free(whole);
}

static void a_descriptor_is_written_as_it_is_read(void **state)
{
	uint8_t out[16];
	struct srp_desc d;
	srp_desc_parse(&d, one);
	srp_desc_put(out, &d);
	assert_memory_equal(out, one, 16);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_table, end)
	const struct CMUnitTest tests[] = {
		TEST(a_refused_table_leaves_the_tag),
		TEST(a_table_is_of_whole_descriptors),
		TEST(fewer_descriptors_in_the_iu_are_not_summed_up),
		TEST(a_table_has_a_largest_size),
		TEST(lengths_add_up_to_the_data),
		TEST(a_sum_beyond_32_bits_is_not_its_remainder),
		TEST(empty_descriptors_are_taken),
		TEST(the_table_of_data_out_is_checked_too),
		TEST(whole_tables_are_summed_in_64_bits),
		TEST(a_descriptor_is_written_as_it_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
