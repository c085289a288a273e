// SPDX-License-Identifier: BSD-2-Clause
// SANITIZE: what it leaves on the medium, what it refuses, and that nothing stops it. A gate
// under the unit (st_gate) holds its writes where a test wants to see it at work.
#include "target/scsi/sbc/sbc_test.h"

#include "target/scsi/medium.h"

#define SANITIZE_BROKE SENSE(SK_MEDIUM_ERROR, 0x31, 0x03)
enum { OVERWRITE = 1, BLOCK_ERASE = 2, CRYPTO_ERASE = 3, EXIT_FAILURE_MODE = 0x1f };
enum { AUSE = 0x20, ZNR = 0x40, IMMED = 0x80 };

static uint8_t list[4 + ST_BLOCK + 8];

static uint8_t sanitize(uint8_t action, uint32_t len)
{
	uint8_t cdb[10] = { 0x48, action };
	put_be16(cdb + 7, (uint16_t)len);
	return st_out(cdb, 10, list, len);
}

static uint8_t overwrite(uint8_t action, uint8_t how, uint8_t byte, uint16_t pattern_len)
{
	memset(list, byte, sizeof list);
	list[0] = how;
	list[1] = 0;
	put_be16(list + 2, pattern_len);
	return sanitize(action, 4u + pattern_len);
}

static uint8_t ready(void)
{
	uint8_t cdb[6] = { 0 };
	return st_out(cdb, 6, NULL, 0);
}

static void overwrite_leaves_the_pattern_everywhere(void **state)
{
	st_fill(0, 8, 'a');
	assert_int_equal(overwrite(OVERWRITE, 1, 0xaa, ST_BLOCK), STATUS_GOOD);
	st_expect(0, 256, 0xaa);
	st_expect(ST_BLOCKS / 2, 256, 0xaa);
	st_expect(ST_BLOCKS - 256, 256, 0xaa);
}

static void a_short_pattern_is_repeated_within_each_block(void **state)
{
	memcpy(list, "\1\0\0\3xyz", 7);
	assert_int_equal(sanitize(OVERWRITE, 7), STATUS_GOOD);
	uint8_t back[2 * ST_BLOCK];
	st_read(77, 2, back);
	for (unsigned i = 0; i < sizeof back; i++)
		assert_int_equal(back[i], "xyz"[i % ST_BLOCK % 3]);
}

static void every_second_pass_inverts_the_pattern(void **state)
{
	assert_int_equal(overwrite(OVERWRITE, 0x80 | 2, 0x0f, 4), STATUS_GOOD);
	st_expect(0, 8, 0xf0);
	assert_int_equal(overwrite(OVERWRITE, 0x80 | 3, 0x0f, 4), STATUS_GOOD);
	st_expect(0, 8, 0x0f);
}

static void block_erase_unmaps_everything(void **state)
{
	st_fill(0, 64, 'a');
	st_fill(ST_BLOCKS - 64, 64, 'a');
	assert_int_equal(sanitize(BLOCK_ERASE, 0), STATUS_GOOD);
	st_expect(0, 64, 0);
	st_expect(ST_BLOCKS - 64, 64, 0);
	uint8_t cdb[16] = { 0x9e, 0x12 }, answer[8 + 16];
	put_be32(cdb + 10, sizeof answer);
	assert_int_equal(st_in(cdb, 16, answer, sizeof answer), STATUS_GOOD);
	assert_int_equal(get_be32(answer + 16), ST_BLOCKS);
	assert_int_equal(answer[20], 1);
}

static void cryptographic_erase_leaves_nothing_to_read(void **state)
{
	st_fill(0, 64, 'a');
	assert_int_equal(sanitize(CRYPTO_ERASE, 0), STATUS_GOOD);
	st_expect(0, 64, 0);
}

static void lists_that_are_not_right_are_refused(void **state)
{
	st_fill(0, 8, 'a');
	for (uint32_t len = 0; len < 5; len++)
		st_refused(sanitize(OVERWRITE, len), SENSE_INVALID_FIELD_CDB);
	st_refused(sanitize(OVERWRITE, ST_BLOCK + 5), SENSE_INVALID_FIELD_CDB);
	st_refused(overwrite(OVERWRITE, 0, 0xaa, ST_BLOCK), SENSE_INVALID_FIELD_PARAM);
	st_refused(overwrite(OVERWRITE, 0x21, 0xaa, ST_BLOCK), SENSE_INVALID_FIELD_PARAM);
	memcpy(list, "\1\0\0\0", 4);
	st_refused(sanitize(OVERWRITE, 4 + ST_BLOCK), SENSE_INVALID_FIELD_PARAM);
	memcpy(list, "\1\0\0\5", 4);
	st_refused(sanitize(OVERWRITE, 4 + 4), SENSE_INVALID_FIELD_PARAM);
	st_refused(sanitize(BLOCK_ERASE, 8), SENSE_INVALID_FIELD_CDB);
	st_refused(sanitize(EXIT_FAILURE_MODE, 8), SENSE_INVALID_FIELD_CDB);
	st_expect(0, 8, 'a');
}

static void reserved_bits_and_unknown_actions_are_refused(void **state)
{
	st_refused(sanitize(BLOCK_ERASE | ZNR, 0), SENSE_INVALID_FIELD_CDB);
	for (unsigned i = 2; i <= 6; i++) {
		uint8_t cdb[10] = { 0x48, BLOCK_ERASE };
		cdb[i] = 1;
		st_refused(st_out(cdb, 10, NULL, 0), SENSE_INVALID_FIELD_CDB);
	}
	for (uint8_t action = 0; action < EXIT_FAILURE_MODE; action++) {
		if (action < OVERWRITE || action > CRYPTO_ERASE)
			st_refused(sanitize(action, 0), SENSE_INVALID_FIELD_CDB);
	}
}

static void commands_are_refused_with_progress_while_it_runs(void **state)
{
	st_gate(true);
	assert_int_equal(overwrite(OVERWRITE | IMMED, 1, 0x55, 4), STATUS_GOOD);
	st_refused(ready(), SENSE_NOT_READY_SANITIZE);
	uint8_t read[10] = { 0x28, 0, BE32(0), 0, 0, 1 }, stop[6] = { 0x1b, 0, 0, 0, 1 };
	uint8_t back[ST_BLOCK];
	st_refused(st_in(read, 10, back, sizeof back), SENSE_NOT_READY_SANITIZE);
	st_refused(st_out(stop, 6, NULL, 0), SENSE_NOT_READY_SANITIZE);
	st_refused(overwrite(OVERWRITE, 1, 0x66, 4), SENSE_NOT_READY_SANITIZE);
	uint8_t inquiry[6] = { 0x12, 0, 0, 0, 36 }, answer[36];
	assert_int_equal(st_in(inquiry, 6, answer, sizeof answer), STATUS_GOOD);
	st_gate(false);
	st_until_idle();
	st_expect(0, 8, 0x55);
	st_expect(ST_BLOCKS - 8, 8, 0x55);
}

static void an_abort_ends_the_command_and_not_the_operation(void **state)
{
	st_gate(true);
	memcpy(list, "\1\0\0\1e", 5);
	uint8_t cdb[10] = { 0x48, OVERWRITE, [8] = 5 };
	st_start(cdb, 10, list, 5);
	st_until_sanitizing();
	assert_true(st_abort());
	st_refused(ready(), SENSE_NOT_READY_SANITIZE);
	st_gate(false);
	st_until_idle();
	st_expect(0, 8, 'e');
	st_expect(ST_BLOCKS - 8, 8, 'e');
}

static void a_failure_is_kept_until_it_may_be_left(void **state)
{
	st_break(true);
	st_refused(overwrite(OVERWRITE | AUSE, 1, 0x55, 4), SANITIZE_BROKE);
	st_break(false);
	st_refused(ready(), SANITIZE_BROKE);
	assert_int_equal(sanitize(EXIT_FAILURE_MODE, 0), STATUS_GOOD);
	assert_int_equal(ready(), STATUS_GOOD);
}

static void a_failure_without_ause_is_left_by_success_only(void **state)
{
	st_break(true);
	st_refused(overwrite(OVERWRITE, 1, 0x55, 4), SANITIZE_BROKE);
	st_break(false);
	st_refused(sanitize(EXIT_FAILURE_MODE, 0), SENSE_INVALID_FIELD_CDB);
	st_refused(overwrite(OVERWRITE | AUSE, 1, 0x55, 4), SENSE_INVALID_FIELD_CDB);
	assert_int_equal(overwrite(OVERWRITE, 1, 0x66, 4), STATUS_GOOD);
	assert_int_equal(ready(), STATUS_GOOD);
	st_expect(0, 8, 0x66);
}

static void leaving_a_failure_mode_that_is_not_there_is_good(void **state)
{
	assert_int_equal(sanitize(EXIT_FAILURE_MODE, 0), STATUS_GOOD);
}

static void a_stopped_operation_has_failed(void **state)
{
	st_gate(true);
	assert_int_equal(overwrite(OVERWRITE | IMMED | AUSE, 4, 0x55, 4), STATUS_GOOD);
	sanitize_stop(st_lu());
	st_gate(false);
	st_until_not_sanitizing();
	st_refused(ready(), SANITIZE_BROKE);
}

static void block_erase_needs_thin_provisioning(void **state)
{
	st_lu()->attr.emulate_tpu = st_lu()->attr.emulate_tpws = 0;
	uint8_t cdb[10] = { 0x48, BLOCK_ERASE };
	assert_int_equal(st_out(cdb, 10, NULL, 0), STATUS_CHECK_CONDITION);
	assert_int_equal(st_code() >> 16, SK_ILLEGAL_REQUEST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(overwrite_leaves_the_pattern_everywhere),
		ST_TEST(a_short_pattern_is_repeated_within_each_block),
		ST_TEST(every_second_pass_inverts_the_pattern),
		ST_TEST(block_erase_unmaps_everything),
		ST_TEST(cryptographic_erase_leaves_nothing_to_read),
		ST_TEST(lists_that_are_not_right_are_refused),
		ST_TEST(reserved_bits_and_unknown_actions_are_refused),
		ST_TEST(commands_are_refused_with_progress_while_it_runs),
		ST_TEST(an_abort_ends_the_command_and_not_the_operation),
		ST_TEST(a_failure_is_kept_until_it_may_be_left),
		ST_TEST(a_failure_without_ause_is_left_by_success_only),
		ST_TEST(leaving_a_failure_mode_that_is_not_there_is_good),
		ST_TEST(a_stopped_operation_has_failed),
		ST_TEST(block_erase_needs_thin_provisioning),
	};
	return st_main(tests);
}
