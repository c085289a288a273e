// SPDX-License-Identifier: BSD-2-Clause
// TEST UNIT READY, REQUEST SENSE, PREVENT ALLOW, diagnostics, capacity, and what every command
// has in common: unknown LUNs and opcodes, NACA.
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/scsi_test.h"

static void run_on_lun(uint64_t lun, const uint8_t *cdb, unsigned len, uint32_t in)
{
	memset(&c, 0, offsetof(struct bench_cmd, data));
	memcpy(c.cdb, cdb, len);
	c.cdb_len = len;
	c.expected_in = in;
	c.lun = lun;
	bench_start(&b, 0, &c);
	bench_wait(&c);
}

static void test_unit_ready_is_good(void **state)
{
	start(NULL);
	assert_int_equal(tur(0), 0);
}

static void an_unknown_opcode_is_an_invalid_opcode(void **state)
{
	start(NULL);
	BENCH_NONE(&b, 0, &c, 0xd1, 0, 0, 0, 0, 0);
	expect_code(SENSE_INVALID_OPCODE);
}

static void an_unknown_service_action_is_an_invalid_field(void **state)
{
	start(NULL);
	BENCH_IN(&b, 0, &c, 32, 0x9e, 0x1e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void a_service_action_that_is_switched_off_is_an_invalid_field(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_rsoc=0", NULL}
	    });
	BENCH_IN(&b, 0, &c, 32, 0xa3, 0x0c, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
	assert_int_equal(get_be16(c.sense + 16), 1);
	BENCH_NONE(&b, 0, &c, 0x48, 0x02, 0, 0, 0, 0, 0, 0, 0, 0); // BLOCK ERASE of a thick disk
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void an_opcode_without_any_service_action_is_an_invalid_opcode(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_pr=0", "emulate_3pc=0", NULL}
	   });
	for (unsigned sa = 0; sa < 32; sa++) {
		BENCH_NONE(&b, 0, &c, 0x5f, (uint8_t)sa, 0, 0, 0, 0, 0, 0, 0, 0);
		expect_code(SENSE_INVALID_OPCODE);
		BENCH_NONE(&b, 0, &c, 0x84, (uint8_t)sa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		expect_code(SENSE_INVALID_OPCODE);
	}
}

static void naca_is_refused(void **state)
{
	start(NULL);
	BENCH_NONE(&b, 0, &c, 0, 0, 0, 0, 0, 0x04);
	expect_code(SENSE_INVALID_FIELD_CDB);
	assert_int_equal(get_be16(c.sense + 16), 5);
}

static void the_aca_attribute_is_refused(void **state)
{
	start(NULL);
	memset(&c, 0, offsetof(struct bench_cmd, data));
	c.cdb_len = 6;
	c.attr = TASK_ACA;
	bench_start(&b, 0, &c);
	bench_wait(&c);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void a_lun_that_is_not_mapped_is_not_supported(void **state)
{
	start(NULL);
	run_on_lun(7, (uint8_t[6]){ 0 }, 6, 0);
	expect_code(SENSE_LUN_NOT_SUPPORTED);
}

static void an_address_that_is_none_is_not_supported(void **state)
{
	start(NULL);
	run_on_lun(UINT64_MAX, (uint8_t[6]){ 0 }, 6, 0);
	expect_code(SENSE_LUN_NOT_SUPPORTED);
}

static void request_sense_of_no_lun_tells_it_as_data(void **state)
{
	start(NULL);
	run_on_lun(7, (uint8_t[]){ 0x03, 0, 0, 0, 18, 0 }, 6, 18);
	expect_good(c.status);
	assert_int_equal(c.data[2], SK_ILLEGAL_REQUEST);
	assert_int_equal(c.data[12], 0x25);
}

static void request_sense_without_cause_is_no_sense(void **state)
{
	start(NULL);
	expect_good(BENCH_IN(&b, 0, &c, 18, 0x03, 0, 0, 0, 18, 0));
	assert_int_equal(c.data[0], 0x70);
	assert_int_equal(c.data[2], SK_NO_SENSE);
}

static void request_sense_in_descriptor_format(void **state)
{
	start(NULL);
	expect_good(BENCH_IN(&b, 0, &c, 252, 0x03, 1, 0, 0, 252, 0));
	assert_int_equal(c.data[0], 0x72);
	assert_int_equal(c.data_in, 8);
}

static void request_sense_takes_the_unit_attention(void **state)
{
	start(&(struct bench_options){ .keeps_ua = true });
	expect_good(BENCH_IN(&b, 0, &c, 18, 0x03, 0, 0, 0, 18, 0));
	assert_int_equal(c.data[2], SK_UNIT_ATTENTION);
	assert_int_equal(c.data[12], 0x29);
	assert_int_equal(tur(0), 0);
}

static void an_ejected_medium_is_not_ready(void **state)
{
	start(NULL);
	b.lu->medium = LU_MEDIUM_EJECTED;
	assert_int_equal(tur(0), SENSE_MEDIUM_NOT_PRESENT);
	BENCH_IN(&b, 0, &c, 8, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	expect_code(SENSE_MEDIUM_NOT_PRESENT);
}

static void sanitizing_is_not_ready_with_its_progress(void **state)
{
	start(NULL);
	b.lu->sanitize = 0x8000 + 1;
	assert_int_equal(tur(0), SENSE_NOT_READY_SANITIZE);
	assert_int_equal(get_be16(c.sense + 16), 0x8000);
	BENCH_IN(&b, 0, &c, 18, 0x03, 0, 0, 0, 18, 0);
	assert_int_equal(get_be16(c.data + 16), 0x8000);
	b.lu->sanitize = 0;
}

static void prevention_counts_each_nexus_once(void **state)
{
	start(&(struct bench_options){
		.nexuses = 2, .attrs = (const char *[]){"removable=1", NULL}
	       });
	BENCH_NONE(&b, 0, &c, 0x1e, 0, 0, 0, 1, 0);
	BENCH_NONE(&b, 0, &c, 0x1e, 0, 0, 0, 1, 0);
	BENCH_NONE(&b, 1, &c, 0x1e, 0, 0, 0, 1, 0);
	assert_int_equal(b.lu->prevented, 2);
	BENCH_NONE(&b, 0, &c, 0x1e, 0, 0, 0, 0, 0);
	assert_int_equal(b.lu->prevented, 1);
}

static void prevention_ends_with_the_nexus(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"removable=1", NULL}
	 });
	BENCH_NONE(&b, 0, &c, 0x1e, 0, 0, 0, 1, 0);
	bench_relogin(&b, 0);
	assert_int_equal(b.lu->prevented, 0);
}

static void leave(void *nexus)
{
	nexus_leave(nexus);
}

static void prevention_ends_before_the_answer_to_a_logout(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"removable=1", NULL}
	 });
	BENCH_NONE(&b, 0, &c, 0x1e, 0, 0, 0, 1, 0);
	bench_on_nexus(&b, 0, leave, b.nexuses[0]);
	assert_int_equal(b.lu->prevented, 0);
}

static void prevention_ends_with_a_reset(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"removable=1", NULL}
	 });
	BENCH_NONE(&b, 0, &c, 0x1e, 0, 0, 0, 1, 0);
	bench_tmf(&b, 0, TMF_LU_RESET, 0);
	assert_int_equal(b.lu->prevented, 0);
}

static void a_fixed_medium_knows_no_prevention(void **state)
{
	start(NULL);
	BENCH_NONE(&b, 0, &c, 0x1e, 0, 0, 0, 1, 0);
	expect_code(SENSE_INVALID_OPCODE);
}

static void the_default_self_test_is_good(void **state)
{
	start(NULL);
	expect_good(BENCH_NONE(&b, 0, &c, 0x1d, 0x04, 0, 0, 0, 0));
}

static void an_extended_self_test_is_refused(void **state)
{
	start(NULL);
	BENCH_NONE(&b, 0, &c, 0x1d, 0x40, 0, 0, 0, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void diagnostic_pages_list_themselves(void **state)
{
	static const uint8_t expected[] = { 0, 0, 0, 1, 0 };
	start(NULL);
	expect_good(BENCH_IN(&b, 0, &c, 252, 0x1c, 1, 0, 0, 252, 0));
	assert_int_equal(c.data_in, 5);
	assert_memory_equal(c.data, expected, 5);
}

static void capacity10_is_the_last_block(void **state)
{
	start(NULL);
	expect_good(BENCH_IN(&b, 0, &c, 8, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0));
	assert_int_equal(get_be32(c.data), 2047);
	assert_int_equal(get_be32(c.data + 4), 512);
}

static void capacity10_of_a_huge_unit_is_all_ones(void **state)
{
	start(&(struct bench_options){ .nullio = true, .size = 3ull << 40 });
	BENCH_IN(&b, 0, &c, 8, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(get_be32(c.data), 0xffffffff);
	BENCH_IN(&b, 0, &c, 32, 0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0);
	assert_true(get_be64(c.data) == (3ull << 31) - 1);
}

static void capacity10_with_an_lba_and_no_pmi_is_refused(void **state)
{
	start(NULL);
	BENCH_IN(&b, 0, &c, 8, 0x25, 0, 0, 0, 0, 1, 0, 0, 0, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void capacity16_accepts_every_allocation_length(void **state)
{
	start(NULL);
	for (uint8_t n = 0; n < 40; n++) {
		expect_good(BENCH_IN(&b, 0, &c, n, 0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n,
				     0, 0));
		assert_int_equal(c.data_in, n < 32 ? n : 32);
	}
}

static void capacity16_of_an_unprotected_unit_has_no_protection(void **state)
{
	start(NULL);
	BENCH_IN(&b, 0, &c, 32, 0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0);
	assert_true(get_be64(c.data) == 2047);
	assert_int_equal(get_be32(c.data + 8), 512);
	assert_int_equal(c.data[12], 0);
}

static void synchronize_cache_of_everything_is_good(void **state)
{
	start(NULL);
	expect_good(BENCH_NONE(&b, 0, &c, 0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0));
	expect_good(BENCH_NONE(&b, 0, &c, 0x91, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

static void synchronize_cache_past_the_end_is_out_of_range(void **state)
{
	start(NULL);
	BENCH_NONE(&b, 0, &c, 0x35, 0, 0, 0, 7, 255, 0, 0, 2, 0);
	expect_code(SENSE_LBA_RANGE);
}

static void a_write_protected_path_refuses_writes(void **state)
{
	uint8_t block[512] = { 0 };
	start(NULL);
	b.nexuses[0]->luns[0]->is_write_protected = true;
	BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	expect_code(SENSE_WRITE_PROTECTED);
	BENCH_IN(&b, 0, &c, 4, 0x1a, 0x08, 0x3f, 0, 4, 0);
	assert_int_equal(c.data[2] & 0x80, 0x80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_unit_ready_is_good),
		T(an_unknown_opcode_is_an_invalid_opcode),
		T(an_unknown_service_action_is_an_invalid_field),
		T(a_service_action_that_is_switched_off_is_an_invalid_field),
		T(an_opcode_without_any_service_action_is_an_invalid_opcode),
		T(naca_is_refused),
		T(the_aca_attribute_is_refused),
		T(a_lun_that_is_not_mapped_is_not_supported),
		T(an_address_that_is_none_is_not_supported),
		T(request_sense_of_no_lun_tells_it_as_data),
		T(request_sense_without_cause_is_no_sense),
		T(request_sense_in_descriptor_format),
		T(request_sense_takes_the_unit_attention),
		T(an_ejected_medium_is_not_ready),
		T(sanitizing_is_not_ready_with_its_progress),
		T(prevention_counts_each_nexus_once),
		T(prevention_ends_with_the_nexus),
		T(prevention_ends_before_the_answer_to_a_logout),
		T(prevention_ends_with_a_reset),
		T(a_fixed_medium_knows_no_prevention),
		T(the_default_self_test_is_good),
		T(an_extended_self_test_is_refused),
		T(diagnostic_pages_list_themselves),
		T(capacity10_is_the_last_block),
		T(capacity10_of_a_huge_unit_is_all_ones),
		T(capacity10_with_an_lba_and_no_pmi_is_refused),
		T(capacity16_accepts_every_allocation_length),
		T(capacity16_of_an_unprotected_unit_has_no_protection),
		T(synchronize_cache_of_everything_is_good),
		T(synchronize_cache_past_the_end_is_out_of_range),
		T(a_write_protected_path_refuses_writes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
