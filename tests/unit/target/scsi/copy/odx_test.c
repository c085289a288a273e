// SPDX-License-Identifier: BSD-2-Clause
// POPULATE TOKEN, WRITE USING TOKEN, RECEIVE ROD TOKEN INFORMATION: a token gives the data of
// its moment or an error.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "target/scsi/copy/odx.h"
#include "target/scsi/reservations/pr_bench.h"

static uint8_t pattern[1 << 16];
static uint8_t token[ROD_TOKEN_LEN];

enum {
	TOKEN_UNKNOWN = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x04),
	TOKEN_REVOKED = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x06),
	TOKEN_DELETED = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x09),
};

static int setup(void **state)
{
	bench_init(&b, &(struct bench_options){ .workers = 2, .nexuses = 2, .size = 32 << 20 });
	for (unsigned i = 0; i < sizeof pattern; i++)
		pattern[i] = (uint8_t)(i * 11 + i / 512);
	BENCH_OUT(&b, 0, &c, pattern, 65536, 0x2a, 0, 0, 0, 0, 0, 0, 0, 128, 0);
	return 0;
}

static int teardown(void **state)
{
	bench_done(&b);
	return 0;
}

static int token_cmd(uint8_t sa, uint32_t list_id, const uint8_t *list, uint32_t len)
{
	uint8_t cdb[16] = { 0x83, sa };
	put_be32(cdb + 6, list_id);
	put_be32(cdb + 10, len);
	return bench_run(&b, 0, &c, cdb, 16, list, len, 0);
}

static uint32_t put_ranges(uint8_t *list, uint32_t header, unsigned n, const uint64_t (*r)[2])
{
	put_be16(list + header - 2, (uint16_t)(16 * n));
	for (unsigned i = 0; i < n; i++) {
		put_be64(list + header + 16 * i, r[i][0]);
		put_be32(list + header + 16 * i + 8, (uint32_t)r[i][1]);
	}
	put_be16(list, (uint16_t)(header + 16 * n - 2));
	return header + 16 * n;
}

static int populate(uint32_t list_id, unsigned n, const uint64_t (*ranges)[2])
{
	uint8_t list[16 + 16 * 70] = { 0 };
	return token_cmd(0x10, list_id, list, put_ranges(list, 16, n, ranges));
}

static int write_using(uint32_t list_id, uint64_t offset, uint8_t flags, unsigned n,
		       const uint64_t (*ranges)[2])
{
	uint8_t list[536 + 16 * 8] = { 0 };
	list[2] = flags;
	put_be64(list + 8, offset);
	memcpy(list + 16, token, sizeof token);
	return token_cmd(0x11, list_id, list, put_ranges(list, 536, n, ranges));
}

static int information(uint32_t list_id)
{
	uint8_t cdb[16] = { 0x84, 0x07 };
	put_be32(cdb + 2, list_id);
	put_be32(cdb + 10, 1024);
	return bench_run(&b, 0, &c, cdb, 16, NULL, 0, 1024);
}

static void take_token(unsigned n, const uint64_t (*ranges)[2])
{
	assert_int_equal(populate(5, n, ranges), 0);
	assert_int_equal(information(5), 0);
	memcpy(token, c.data + 38, sizeof token);
}

static void expect_data(uint32_t lba, const uint8_t *data, uint16_t blocks)
{
	uint8_t cdb[10] = { 0x28 };
	put_be32(cdb + 2, lba);
	put_be16(cdb + 7, blocks);
	assert_int_equal(bench_run(&b, 0, &c, cdb, 10, NULL, 0, blocks * 512u), 0);
	assert_memory_equal(c.data, data, blocks * 512u);
}

#define RANGES(...)                                                                                \
	(const uint64_t[][2])                                                                      \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void information_holds_the_token(void **state)
{
	assert_int_equal(populate(5, 1, RANGES({ 0, 64 })), 0);
	assert_int_equal(information(5), 0);
	assert_int_equal(get_be32(c.data) + 4, c.data_in);
	assert_int_equal(c.data[4], 0x10);
	assert_int_equal(c.data[5], 1);
	assert_int_equal(c.data[15], 0xf1);
	assert_int_equal(get_be64(c.data + 16), 64);
	assert_int_equal(get_be32(c.data + 32), 514);
	assert_int_equal(get_be32(c.data + 38), ROD_TYPE_POINT_IN_TIME);
	assert_int_equal(get_be16(c.data + 44), 0x1f8);
}

static void a_token_copies_its_blocks(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	assert_int_equal(write_using(6, 0, 0, 1, RANGES({ 1000, 100 })), 0);
	expect_data(1000, pattern, 100);
	information(6);
	assert_int_equal(c.data[4], 0x11);
	assert_int_equal(get_be64(c.data + 16), 100);
}

static void ranges_of_both_sides_are_cut_to_fit(void **state)
{
	take_token(2, RANGES({ 10, 30 }, { 50, 40 }));
	assert_int_equal(write_using(6, 20, 0, 2, RANGES({ 1000, 25 }, { 2000, 25 })), 0);
	expect_data(1000, pattern + 30 * 512, 10);
	expect_data(1010, pattern + 50 * 512, 15);
	expect_data(2000, pattern + 65 * 512, 25);
}

static void a_write_to_its_blocks_revokes_a_token(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	assert_int_equal(BENCH_OUT(&b, 1, &c, pattern, 512, 0x2a, 0, 0, 0, 0, 99, 0, 0, 1, 0), 0);
	write_using(6, 0, 0, 1, RANGES({ 1000, 100 }));
	assert_int_equal(c.code, TOKEN_REVOKED);
}

static void a_write_beside_its_blocks_does_not(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	BENCH_OUT(&b, 1, &c, pattern, 512, 0x2a, 0, 0, 0, 0, 100, 0, 0, 1, 0);
	assert_int_equal(write_using(6, 0, 0, 1, RANGES({ 1000, 100 })), 0);
}

static void writing_over_its_own_source_revokes_it(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	write_using(6, 0, 0, 1, RANGES({ 50, 100 }));
	assert_int_equal(write_using(7, 0, 0, 1, RANGES({ 1000, 100 })), STATUS_CHECK_CONDITION);
	assert_int_equal(c.code, TOKEN_REVOKED);
}

static void a_sanitize_revokes_it(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	assert_int_equal(BENCH_OUT(&b, 1, &c, "\1\0\0\1x", 5, 0x48, 1, 0, 0, 0, 0, 0, 0, 5, 0), 0);
	write_using(6, 0, 0, 1, RANGES({ 1000, 100 }));
	assert_int_equal(c.code, TOKEN_REVOKED);
}

static void an_invented_token_is_unknown(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	token[511] ^= 1;
	write_using(6, 0, 0, 1, RANGES({ 1000, 100 }));
	assert_int_equal(c.code, TOKEN_UNKNOWN);
}

static void a_deleted_token_is_gone(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	assert_int_equal(write_using(6, 0, 0x02, 1, RANGES({ 1000, 100 })), 0);
	write_using(6, 0, 0, 1, RANGES({ 1000, 100 }));
	assert_int_equal(c.code, TOKEN_DELETED);
}

static void the_zero_token_zeroes(void **state)
{
	static const uint8_t zeroes[50 * 512];
	memset(token, 0, sizeof token);
	put_be32(token, ROD_TYPE_ZERO);
	put_be16(token + 6, 0x1f8);
	assert_int_equal(write_using(6, 0, 0, 1, RANGES({ 10, 50 })), 0);
	expect_data(10, zeroes, 50);
	expect_data(60, pattern + 60 * 512, 1);
}

static void the_zero_token_zeroes_more_than_one_write_same(void **state)
{
	static const uint8_t zeroes[512];
	memset(token, 0, sizeof token);
	put_be32(token, ROD_TYPE_ZERO);
	put_be16(token + 6, 0x1f8);
	for (uint32_t lba = 0; lba < 40000; lba += 39999) {
		uint8_t cdb[10] = { 0x2a, [8] = 1 };
		put_be32(cdb + 2, lba);
		assert_int_equal(bench_run(&b, 0, &c, cdb, 10, pattern, 512, 0), 0);
	}
	assert_int_equal(write_using(6, 0, 0, 1, RANGES({ 0, 40000 })), 0);
	expect_data(0, zeroes, 1);
	expect_data(39999, zeroes, 1);
}

static void more_than_the_token_holds_is_invalid(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	write_using(6, 1, 0, 1, RANGES({ 1000, 100 }));
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
}

static void bad_ranges_are_refused(void **state)
{
	populate(5, 1, RANGES({ 65536, 1 }));
	assert_int_equal(c.code, SENSE_LBA_RANGE);
	populate(5, 2, RANGES({ 0, 10 }, { 9, 1 }));
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
	populate(5, 0, NULL);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
}

static void unknown_list_identifiers_are_invalid(void **state)
{
	information(77);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_CDB);
}

static void a_reservation_refuses_the_write_even_with_the_immediate_bit(void **state)
{
	take_token(1, RANGES({ 0, 100 }));
	pr_register(1);
	pr_out(1, OUT_RESERVE, 1, key_of(1), 0, 0);
	assert_int_equal(write_using(6, 0, 1, 1, RANGES({ 1000, 100 })),
			 STATUS_RESERVATION_CONFLICT);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(information_holds_the_token),
		T(a_token_copies_its_blocks),
		T(ranges_of_both_sides_are_cut_to_fit),
		T(a_write_to_its_blocks_revokes_a_token),
		T(a_write_beside_its_blocks_does_not),
		T(writing_over_its_own_source_revokes_it),
		T(a_sanitize_revokes_it),
		T(an_invented_token_is_unknown),
		T(a_deleted_token_is_gone),
		T(the_zero_token_zeroes),
		T(the_zero_token_zeroes_more_than_one_write_same),
		T(more_than_the_token_holds_is_invalid),
		T(bad_ranges_are_refused),
		T(unknown_list_identifiers_are_invalid),
		T(a_reservation_refuses_the_write_even_with_the_immediate_bit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
