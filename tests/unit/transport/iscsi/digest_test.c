// SPDX-License-Identifier: BSD-2-Clause
// CRC32C against published vectors, whole and in pieces.
#include "transport/iscsi/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "transport/wire/be.h"

static void expect(const uint8_t *data, size_t n, const uint8_t wire[4])
{
	uint8_t mine[4];
	digest_header(data, n, mine);
	assert_memory_equal(mine, wire, 4);
	assert_true(digest_is(digest_update(ISCSI_CRC_START, data, n), wire));
}

static void test_vectors_of_the_rfc_hold(void **state)
{
	uint8_t data[32];
	memset(data, 0, 32);
	expect(data, 32, (uint8_t[]){ 0xaa, 0x36, 0x91, 0x8a });
	memset(data, 0xff, 32);
	expect(data, 32, (uint8_t[]){ 0x43, 0xab, 0xa8, 0x62 });
	for (int i = 0; i < 32; i++)
		data[i] = (uint8_t)i;
	expect(data, 32, (uint8_t[]){ 0x4e, 0x79, 0xdd, 0x46 });
	for (int i = 0; i < 32; i++)
		data[i] = (uint8_t)(31 - i);
	expect(data, 32, (uint8_t[]){ 0x5c, 0xdb, 0x3f, 0x11 });
}

static void test_header_of_a_nop_out(void **state)
{
	uint8_t bhs[48] = { 0x40, 0x80 };
	put_be32(bhs + 16, 0x01020304);
	put_be32(bhs + 20, 0xffffffff);
	put_be32(bhs + 24, 5);
	put_be32(bhs + 28, 7);
	expect(bhs, 48, (uint8_t[]){ 0x77, 0xbf, 0x7f, 0x93 });
}

static void test_pieces_give_the_same_as_the_whole(void **state)
{
	uint8_t data[103], padded[104] = { 0 };
	for (size_t i = 0; i < sizeof data; i++)
		padded[i] = data[i] = (uint8_t)(i * 7);
	struct iovec iov[] = {
		{data,	1 },
		     { data + 1,	 0 },
		      { data + 1,  50},
		{ data + 51, 99}
	};
	uint32_t crc = digest_update_iov(ISCSI_CRC_START, iov, 4, sizeof data);
	assert_int_equal(crc, digest_update(ISCSI_CRC_START, data, sizeof data));
	crc = digest_update_pad(crc, sizeof data);
	assert_int_equal(crc, digest_update(ISCSI_CRC_START, padded, sizeof padded));
}

static void test_one_flipped_bit_is_seen(void **state)
{
	uint8_t data[64] = { 1, 2, 3 }, wire[4];
	digest_header(data, sizeof data, wire);
	data[40] ^= 0x10;
	assert_false(digest_is(digest_update(ISCSI_CRC_START, data, sizeof data), wire));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors_of_the_rfc_hold),
		cmocka_unit_test(test_header_of_a_nop_out),
		cmocka_unit_test(test_pieces_give_the_same_as_the_whole),
		cmocka_unit_test(test_one_flipped_bit_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
