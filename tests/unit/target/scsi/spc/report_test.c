// SPDX-License-Identifier: BSD-2-Clause
// REPORT LUNS, REPORT SUPPORTED OPERATION CODES, REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS.
#include "target/scsi/lun_map.h"
#include "target/scsi/scsi_test.h"
#include "target/scsi/server/dispatch.h"

static int luns(uint8_t select, uint8_t alloc)
{
	return BENCH_IN(&b, 0, &c, alloc, 0xa0, 0, select, 0, 0, 0, 0, 0, 0, alloc, 0, 0);
}

static int opcodes(uint8_t options, uint8_t opcode, uint16_t sa)
{
	return BENCH_IN(&b, 0, &c, 65535, 0xa3, 0x0c, options, opcode, (uint8_t)(sa >> 8),
			(uint8_t)sa, 0, 0, 0xff, 0xff, 0, 0);
}

static void the_list_holds_every_lun_of_the_map(void **state)
{
	start(NULL);
	const uint16_t numbers[] = { 0, 3, 300 };
	struct lu *const lus[] = { b.lu, b.lu, b.lu };
	bench_set_map(&b, 0, 3, numbers, lus);
	expect_good(luns(0, 64));
	assert_int_equal(get_be32(c.data), 24);
	assert_int_equal(lun_decode(c.data + 8), 0);
	assert_int_equal(lun_decode(c.data + 16), 3);
	assert_int_equal(lun_decode(c.data + 24), 300);
}

static void a_cut_list_keeps_its_full_length(void **state)
{
	start(NULL);
	luns(2, 12);
	assert_int_equal(c.data_in, 12);
	assert_int_equal(get_be32(c.data), 8);
}

static void there_are_no_well_known_units(void **state)
{
	start(NULL);
	expect_good(luns(1, 64));
	assert_int_equal(get_be32(c.data), 0);
	assert_int_equal(c.data_in, 8);
}

static void an_unknown_select_report_is_refused(void **state)
{
	start(NULL);
	luns(0x55, 64);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void a_lun_that_is_not_there_answers_report_luns(void **state)
{
	start(&(struct bench_options){ .lun = 5 });
	memset(&c, 0, offsetof(struct bench_cmd, data));
	memcpy(c.cdb, (uint8_t[]){ 0xa0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0 }, 12);
	c.cdb_len = 12;
	c.expected_in = 64;
	bench_start(&b, 0, &c);
	bench_wait(&c);
	expect_good(c.status);
	assert_int_equal(lun_decode(c.data + 8), 5);
}

static void reading_the_list_ends_its_unit_attention(void **state)
{
	start(NULL);
	const uint16_t numbers[] = { 0, 1 };
	struct lu *const lus[] = { b.lu, b.lu };
	bench_set_map(&b, 0, 2, numbers, lus);
	luns(0, 64);
	assert_int_equal(tur(0), 0);
}

static void all_commands_are_those_of_the_rows(void **state)
{
	start(NULL);
	unsigned there = 0;
	for (const struct opcode_row *row = opcode_rows; row->name; row++)
		there += opcode_is_available(row, b.lu);
	expect_good(opcodes(0, 0, 0));
	assert_int_equal(get_be32(c.data), 8 * there);
	assert_int_equal(c.data_in, 4 + 8 * there);
}

static void timeouts_lengthen_every_descriptor(void **state)
{
	start(NULL);
	expect_good(opcodes(0x80, 0, 0));
	assert_int_equal(get_be32(c.data) % 20, 0);
	assert_int_equal(c.data[4 + 5] & 0x02, 0x02);
	assert_int_equal(get_be16(c.data + 12), 0x000a);
}

static void one_command_tells_length_and_usage(void **state)
{
	static const uint8_t usage[] = { 0x28, 0x18, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0 };
	start(NULL);
	expect_good(opcodes(1, 0x28, 0));
	assert_int_equal(c.data[1], 0x03);
	assert_int_equal(get_be16(c.data + 2), 10);
	assert_memory_equal(c.data + 4, usage, 10);
}

static void dpo_and_fua_are_not_used_where_not_advertised(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_fua_write=0", NULL}
	 });
	opcodes(1, 0x28, 0);
	assert_int_equal(c.data[5], 0);
}

static void unmap_of_write_same_is_used_where_it_is_advertised(void **state)
{
	start(NULL);
	opcodes(1, 0x93, 0);
	assert_int_equal(c.data[5], 0x01);
	opcodes(1, 0x41, 0);
	assert_int_equal(c.data[5], 0);
	assert_int_equal(bench_attr(&b, "emulate_tpws", "1"), 0);
	tur(0); // INQUIRY DATA HAS CHANGED
	opcodes(1, 0x93, 0);
	assert_int_equal(c.data[5], 0x09);
	opcodes(1, 0x41, 0);
	assert_int_equal(c.data[5], 0x08);
}

static void a_command_that_is_not_there_is_not_supported(void **state)
{
	start(NULL);
	expect_good(opcodes(1, 0xd1, 0));
	assert_int_equal(c.data[1], 0x01);
	assert_int_equal(get_be16(c.data + 2), 0);
}

static void option_1_of_an_opcode_with_service_actions_is_refused(void **state)
{
	start(NULL);
	opcodes(1, 0x9e, 0x10);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void option_2_of_an_opcode_without_service_actions_is_refused(void **state)
{
	start(NULL);
	opcodes(2, 0x28, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void option_2_finds_a_service_action(void **state)
{
	start(NULL);
	expect_good(opcodes(2, 0x9e, 0x10));
	assert_int_equal(c.data[1], 0x03);
	assert_int_equal(c.data[5], 0x10);
}

static void option_3_finds_both_kinds(void **state)
{
	start(NULL);
	opcodes(3, 0x28, 0);
	assert_int_equal(c.data[1], 0x03);
	opcodes(3, 0x9e, 0x10);
	assert_int_equal(c.data[1], 0x03);
	opcodes(3, 0x28, 1);
	assert_int_equal(c.data[1], 0x01);
}

static void other_options_are_refused(void **state)
{
	start(NULL);
	opcodes(4, 0x28, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void the_command_goes_with_its_attribute(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_rsoc=0", NULL}
	    });
	opcodes(0, 0, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void task_management_functions_are_listed(void **state)
{
	start(NULL);
	expect_good(BENCH_IN(&b, 0, &c, 16, 0xa3, 0x0d, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0));
	assert_int_equal(c.data_in, 4);
	// Not CLEAR ACA (20h): not supported with NORMACA=0.
	assert_int_equal(c.data[0], 0xda);
	BENCH_IN(&b, 0, &c, 16, 0xa3, 0x0d, 0x80, 0, 0, 0, 0, 0, 0, 16, 0, 0);
	assert_int_equal(c.data_in, 16);
	assert_int_equal(c.data[3], 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_list_holds_every_lun_of_the_map),
		T(a_cut_list_keeps_its_full_length),
		T(there_are_no_well_known_units),
		T(an_unknown_select_report_is_refused),
		T(a_lun_that_is_not_there_answers_report_luns),
		T(reading_the_list_ends_its_unit_attention),
		T(all_commands_are_those_of_the_rows),
		T(timeouts_lengthen_every_descriptor),
		T(one_command_tells_length_and_usage),
		T(dpo_and_fua_are_not_used_where_not_advertised),
		T(unmap_of_write_same_is_used_where_it_is_advertised),
		T(a_command_that_is_not_there_is_not_supported),
		T(option_1_of_an_opcode_with_service_actions_is_refused),
		T(option_2_of_an_opcode_without_service_actions_is_refused),
		T(option_2_finds_a_service_action),
		T(option_3_finds_both_kinds),
		T(other_options_are_refused),
		T(the_command_goes_with_its_attribute),
		T(task_management_functions_are_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
