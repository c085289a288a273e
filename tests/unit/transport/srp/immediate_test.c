// SPDX-License-Identifier: BSD-2-Clause
// Immediate data lies behind all descriptors and inside the IU, at the offset of the login.
#include "transport/srp/command_iu.h"

static struct srp_command c;

// Data-out of 100 bytes at 68, as Linux sends it: 4 bytes of descriptor, 16 unused.
static int begin_immediate(void **state)
{
	static const uint8_t rest[4 + 16 + 100] = { [3] = 100, [20] = 0x55, [119] = 0xaa };
	begin(state);
	iu[5] = 0x30;
	add(rest, sizeof rest);
	return 0;
}

static int parse(uint16_t offset)
{
	return srp_command_parse(&c, iu, iu_len, offset, NULL);
}

static void immediate_data_is_found(void **state)
{
	assert_int_equal(parse(OFFSET), 0);
	assert_int_equal(c.out.format, SRP_IMMEDIATE);
	assert_int_equal(c.out.len, 100);
	assert_ptr_equal(c.out.imm, iu + 68);
	assert_int_equal(c.out.imm[0], 0x55);
	assert_int_equal(c.out.imm[99], 0xaa);
	assert_int_equal(c.out.count, 0);
}

static void it_ends_inside_the_iu(void **state)
{
	set32(48, 101);
	assert_int_equal(parse(OFFSET), -EINVAL);
	set32(48, 0xffffffff);
	assert_int_equal(parse(OFFSET), -EINVAL);
	set32(48, 0xffffffff - 67); // 68 more are 0 in 32 bits
	assert_int_equal(parse(OFFSET), -EINVAL);
	set32(48, 99);
	assert_int_equal(parse(OFFSET), 0);
	assert_int_equal(c.out.len, 99);
}

static void a_refused_length_leaves_the_tag(void **state)
{
	set32(48, 101);
	assert_int_equal(parse(OFFSET), -EINVAL);
	assert_memory_equal(&c.tag, head + 8, 8);
}

static void its_offset_is_inside_the_iu(void **state)
{
	set32(48, 0);
	assert_int_equal(parse((uint16_t)iu_len), 0);
	assert_int_equal(parse((uint16_t)(iu_len + 1)), -EINVAL);
	assert_int_equal(parse(0xffff), -EINVAL);
	cut(52);
	assert_int_equal(parse(OFFSET), -EINVAL);
}

static void it_does_not_overlap_the_descriptors(void **state)
{
	set32(48, 1);
	assert_int_equal(parse(52), 0);
	assert_int_equal(parse(51), -EINVAL);
	assert_int_equal(parse(1), -EINVAL);
	iu[31] = 8; // an additional CDB moves them
	set32(56, 1);
	assert_int_equal(parse(59), -EINVAL);
	assert_int_equal(parse(60), 0);
}

static void it_does_not_overlap_those_of_data_in(void **state)
{
	iu[5] = 0x31;
	set32(48, 1);
	assert_int_equal(parse(67), -EINVAL);
	assert_int_equal(parse(68), 0);
	assert_int_equal(c.in.format, SRP_DIRECT);
	assert_ptr_equal(c.in.descs, iu + 52);
}

static void without_its_agreement_the_format_is_unknown(void **state)
{
	assert_int_equal(parse(0), -EPROTO);
}

static void it_is_not_for_data_in(void **state)
{
	iu[5] = 0x03;
	assert_int_equal(parse(OFFSET), -EPROTO);
	iu[5] = 0x33;
	assert_int_equal(parse(OFFSET), -EPROTO);
}

static void a_cut_descriptor_is_refused(void **state)
{
	cut(51);
	assert_int_equal(parse(OFFSET), -EPROTO);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_immediate, end)
	const struct CMUnitTest tests[] = {
		TEST(immediate_data_is_found),
		TEST(it_ends_inside_the_iu),
		TEST(a_refused_length_leaves_the_tag),
		TEST(its_offset_is_inside_the_iu),
		TEST(it_does_not_overlap_the_descriptors),
		TEST(it_does_not_overlap_those_of_data_in),
		TEST(without_its_agreement_the_format_is_unknown),
		TEST(it_is_not_for_data_in),
		TEST(a_cut_descriptor_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
