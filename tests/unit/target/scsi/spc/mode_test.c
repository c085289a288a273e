// SPDX-License-Identifier: BSD-2-Clause
// MODE SENSE and MODE SELECT.
#include "target/scsi/held_store.h"

static int sense6(uint8_t flags, uint8_t page, uint8_t subpage, uint8_t alloc)
{
	return BENCH_IN(&b, 0, &c, alloc, 0x1a, flags, page, subpage, alloc, 0);
}

static int select6(const uint8_t *list, uint8_t len)
{
	return BENCH_OUT(&b, 0, &c, list, len, 0x15, 0x10, 0, 0, len, 0);
}

// A list with the Control page, D_SENSE and SWP as wanted.
static void control_list(uint8_t list[16], bool d_sense, bool swp)
{
	memset(list, 0, 16);
	sense6(0x08, 0x0a, 0, 16);
	memcpy(list + 4, c.data + 4, 12);
	list[6] = d_sense ? 0x04 : 0;
	list[8] = swp ? 0x08 : 0;
}

static void all_pages_ascend_and_fill_the_announced_length(void **state)
{
	start(NULL);
	expect_good(sense6(0x08, 0x3f, 0, 255));
	assert_int_equal(c.data_in, c.data[0] + 1);
	unsigned at = 4, last = 0;
	while (at < c.data_in) {
		unsigned page = c.data[at] & 0x3f;
		assert_true(page > last);
		last = page;
		at += c.data[at + 1] + 2u;
	}
	assert_int_equal(at, c.data_in);
	assert_int_equal(last, 0x1c);
}

static void the_control_page_is_the_same_in_all_pages_and_alone(void **state)
{
	uint8_t alone[12];
	start(NULL);
	sense6(0x08, 0x0a, 0, 255);
	memcpy(alone, c.data + 4, 12);
	sense6(0x08, 0x3f, 0, 255);
	assert_memory_equal(c.data + 4 + 12 + 20, alone, 12);
}

static void all_subpages_include_the_control_extension(void **state)
{
	start(NULL);
	expect_good(sense6(0x08, 0x0a, 0xff, 255));
	assert_int_equal(c.data_in, 4 + 12 + 32);
	assert_int_equal(c.data[16], 0x4a);
	assert_int_equal(c.data[17], 0x01);
	assert_int_equal(get_be16(c.data + 18), 28);
}

static void a_block_descriptor_tells_blocks_and_length(void **state)
{
	start(NULL);
	sense6(0, 0x0a, 0, 255);
	assert_int_equal(c.data[3], 8);
	assert_int_equal(get_be32(c.data + 4), 2048);
	assert_int_equal(get_be24(c.data + 9), 512);
}

static void llbaa_gives_the_long_descriptor(void **state)
{
	start(NULL);
	BENCH_IN(&b, 0, &c, 255, 0x5a, 0x10, 0x0a, 0, 0, 0, 0, 0, 255, 0);
	assert_int_equal(c.data[4], 0x01);
	assert_int_equal(get_be16(c.data + 6), 16);
	assert_int_equal(get_be64(c.data + 8), 2048);
	assert_int_equal(get_be32(c.data + 20), 512);
	assert_int_equal(c.data_in, get_be16(c.data) + 2);
}

static void truncation_is_no_overflow(void **state)
{
	start(NULL);
	expect_good(sense6(0, 0x3f, 0, 4));
	assert_int_equal(c.data_in, 4);
	assert_int_equal(c.wanted, 4);
}

static void saved_values_are_not_there(void **state)
{
	start(NULL);
	sense6(0x08, 0xc0 | 0x0a, 0, 255);
	expect_code(SENSE(SK_ILLEGAL_REQUEST, 0x39, 0x00));
}

static void an_unknown_page_is_refused(void **state)
{
	start(NULL);
	sense6(0x08, 0x2e, 0, 255);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void changeable_values_are_d_sense_and_swp(void **state)
{
	static const uint8_t expected[12] = { 0x0a, 10, 0x04, 0, 0x08 };
	start(NULL);
	sense6(0x08, 0x40 | 0x0a, 0, 255);
	assert_memory_equal(c.data + 4, expected, 12);
}

static void tas_follows_its_attribute(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_tas=0", NULL}
	   });
	sense6(0x08, 0x0a, 0, 255);
	assert_int_equal(c.data[4 + 5] & 0x40, 0);
}

static void dpofua_is_in_the_header(void **state)
{
	start(NULL);
	sense6(0x08, 0x0a, 0, 255);
	assert_int_equal(c.data[2], 0x10);
}

static void swp_refuses_writes_and_permits_reads(void **state)
{
	uint8_t list[16], block[512] = { 0 };
	start(NULL);
	control_list(list, false, true);
	expect_good(select6(list, 16));
	expect_good(BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0));
	BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	expect_code(SENSE_SW_WRITE_PROTECTED);
}

static void swp_is_told_in_header_and_page(void **state)
{
	uint8_t list[16];
	start(NULL);
	control_list(list, false, true);
	select6(list, 16);
	sense6(0x08, 0x0a, 0, 255);
	assert_int_equal(c.data[2] & 0x80, 0x80);
	assert_int_equal(c.data[4 + 4] & 0x08, 0x08);
}

static void swp_can_be_taken_back(void **state)
{
	uint8_t list[16], block[512] = { 0 };
	start(NULL);
	control_list(list, false, true);
	select6(list, 16);
	control_list(list, false, false);
	expect_good(select6(list, 16));
	expect_good(BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0));
}

static void d_sense_turns_sense_data_into_descriptors(void **state)
{
	uint8_t list[16];
	start(NULL);
	control_list(list, true, false);
	expect_good(select6(list, 16));
	BENCH_NONE(&b, 0, &c, 0xd1, 0, 0, 0, 0, 0);
	assert_int_equal(c.sense[0], 0x72);
	expect_code(SENSE_INVALID_OPCODE);
}

static void other_nexuses_learn_of_the_change(void **state)
{
	uint8_t list[16];
	start(&(struct bench_options){ .workers = 2, .nexuses = 3 });
	control_list(list, true, false);
	select6(list, 16);
	bench_settle(&b);
	assert_int_equal(tur(0), 0);
	assert_int_equal(tur(1), SENSE(SK_UNIT_ATTENTION, 0x2a, 0x01));
	assert_int_equal(tur(2), SENSE(SK_UNIT_ATTENTION, 0x2a, 0x01));
}

static void no_change_raises_no_unit_attention(void **state)
{
	uint8_t list[16];
	start(&(struct bench_options){ .nexuses = 2 });
	control_list(list, false, false);
	select6(list, 16);
	assert_int_equal(tur(1), 0);
}

static void a_reset_brings_the_defaults_back(void **state)
{
	uint8_t list[16];
	start(NULL);
	control_list(list, true, true);
	select6(list, 16);
	assert_int_equal(bench_tmf(&b, 0, TMF_LU_RESET, 0), TMF_COMPLETE);
	tur(0);
	sense6(0x08, 0x0a, 0, 255);
	assert_int_equal(c.data[4 + 2] & 0x04, 0);
	assert_int_equal(c.data[4 + 4] & 0x08, 0);
}

static void sp_is_refused(void **state)
{
	uint8_t list[16];
	start(NULL);
	control_list(list, false, false);
	BENCH_OUT(&b, 0, &c, list, 16, 0x15, 0x11, 0, 0, 16, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void a_list_of_length_0_is_good(void **state)
{
	start(NULL);
	expect_good(BENCH_NONE(&b, 0, &c, 0x15, 0x10, 0, 0, 0, 0));
}

static void a_list_cut_in_a_page_has_the_wrong_length(void **state)
{
	uint8_t list[16];
	start(NULL);
	control_list(list, false, false);
	select6(list, 15);
	expect_code(SENSE_PARAM_LIST_LENGTH);
}

static void a_list_cut_in_the_header_has_the_wrong_length(void **state)
{
	uint8_t list[16] = { 0 };
	start(NULL);
	select6(list, 3);
	expect_code(SENSE_PARAM_LIST_LENGTH);
}

static void what_cannot_change_is_refused_with_its_byte(void **state)
{
	uint8_t list[16];
	start(NULL);
	control_list(list, false, false);
	list[4 + 3] ^= 0x10;
	select6(list, 16);
	expect_code(SENSE_INVALID_FIELD_PARAM);
	assert_int_equal(get_be16(c.sense + 16), 7);
}

static void a_refused_list_changes_nothing(void **state)
{
	uint8_t list[28];
	start(NULL);
	control_list(list, true, true);
	memset(list + 16, 0, 12);
	list[16] = 0x2f; // there is no such page
	list[17] = 10;
	select6(list, 28);
	expect_code(SENSE_INVALID_FIELD_PARAM);
	sense6(0x08, 0x0a, 0, 255);
	assert_int_equal(c.data[4 + 2] & 0x04, 0);
}

static void a_descriptor_of_the_present_block_length_is_accepted(void **state)
{
	uint8_t list[24] = { 0 };
	start(NULL);
	list[3] = 8;
	put_be24(list + 9, 512);
	expect_good(select6(list, 12));
}

static void a_descriptor_of_another_block_length_is_refused(void **state)
{
	uint8_t list[24] = { 0 };
	start(NULL);
	list[3] = 8;
	put_be24(list + 9, 4096);
	select6(list, 12);
	expect_code(SENSE_INVALID_FIELD_PARAM);
}

static void select10_takes_its_own_header(void **state)
{
	uint8_t list[20] = { 0 };
	start(NULL);
	sense6(0x08, 0x0a, 0, 16);
	memcpy(list + 8, c.data + 4, 12);
	list[8 + 4] |= 0x08;
	expect_good(BENCH_OUT(&b, 0, &c, list, 20, 0x55, 0x10, 0, 0, 0, 0, 0, 0, 20, 0));
	sense6(0x08, 0x0a, 0, 255);
	assert_int_equal(c.data[2] & 0x80, 0x80);
}

static void a_ram_disk_has_no_write_cache_to_switch(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_write_cache=1", NULL}
	   });
	sense6(0x08, 0x40 | 0x08, 0, 255);
	assert_int_equal(c.data[4 + 2], 0);
	sense6(0x08, 0x08, 0, 255);
	assert_int_equal(c.data[4 + 2] & 0x04, 0);
}

static void the_write_cache_stays_off_where_its_attribute_is_0(void **state)
{
	uint8_t list[24] = { 0 };
	held_start(&(struct bench_options){ 0 });
	held_passes = true;
	sense6(0x08, 0x40 | 0x08, 0, 255);
	assert_int_equal(c.data[4 + 2] & 0x04, 0);
	sense6(0x08, 0x08, 0, 24);
	memcpy(list + 4, c.data + 4, 20);
	list[4 + 2] |= 0x04;
	select6(list, 24);
	expect_code(SENSE_INVALID_FIELD_PARAM);
	BENCH_OUT(&b, 0, &c, (uint8_t[512]){ 0 }, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(held_fua, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(all_pages_ascend_and_fill_the_announced_length),
		T(the_control_page_is_the_same_in_all_pages_and_alone),
		T(all_subpages_include_the_control_extension),
		T(a_block_descriptor_tells_blocks_and_length),
		T(llbaa_gives_the_long_descriptor),
		T(truncation_is_no_overflow),
		T(saved_values_are_not_there),
		T(an_unknown_page_is_refused),
		T(changeable_values_are_d_sense_and_swp),
		T(tas_follows_its_attribute),
		T(dpofua_is_in_the_header),
		T(swp_refuses_writes_and_permits_reads),
		T(swp_is_told_in_header_and_page),
		T(swp_can_be_taken_back),
		T(d_sense_turns_sense_data_into_descriptors),
		T(other_nexuses_learn_of_the_change),
		T(no_change_raises_no_unit_attention),
		T(a_reset_brings_the_defaults_back),
		T(sp_is_refused),
		T(a_list_of_length_0_is_good),
		T(a_list_cut_in_a_page_has_the_wrong_length),
		T(a_list_cut_in_the_header_has_the_wrong_length),
		T(what_cannot_change_is_refused_with_its_byte),
		T(a_refused_list_changes_nothing),
		T(a_descriptor_of_the_present_block_length_is_accepted),
		T(a_descriptor_of_another_block_length_is_refused),
		T(select10_takes_its_own_header),
		T(a_ram_disk_has_no_write_cache_to_switch),
		T(the_write_cache_stays_off_where_its_attribute_is_0),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
