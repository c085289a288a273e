// SPDX-License-Identifier: BSD-2-Clause
// Copies by tokens: the third-party copy page, parameter lists, and results.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/token.h"
#include "transport/wire/be.h"

enum { INFO = 32 + 18 + 4 + 2 + TOKEN_LEN };

// A page with token limits (1000 and 500 blocks) and these supported commands.
static uint32_t page(uint8_t *b, const uint8_t *commands, uint8_t count)
{
	uint32_t len = 4 + 4 + 32;
	memset(b, 0, 256);
	b[1] = 0x8f;
	put_be16(b + 6, 32);
	put_be64(b + 8 + 16, 1000);
	put_be64(b + 8 + 24, 500);
	if (commands) {
		put_be16(b + len, 0x0001);
		put_be16(b + len + 2, (uint16_t)(1 + count));
		b[len + 4] = count;
		memcpy(b + len + 5, commands, count);
		len += 5u + count;
	}
	put_be16(b + 2, (uint16_t)(len - 4));
	return len;
}

static void limits_are_those_of_the_page(void **state)
{
	uint8_t b[256];
	struct token_limits l;
	assert_true(token_limits_parse(&l, b, page(b, NULL, 0)));
	assert_int_equal(l.blocks, 1000);
	assert_int_equal(l.optimal, 500);
	assert_true(l.can_populate && l.can_write);
}

static void a_list_of_commands_says_which_there_are(void **state)
{
	static const uint8_t no_write[] = { 0x83, 2, 0x00, 0x10, 0x84, 1, 0x07 };
	static const uint8_t no_info[] = { 0x83, 3, 0x00, 0x10, 0x11, 0x84, 1, 0x00 };
	uint8_t b[256];
	struct token_limits l;
	assert_true(token_limits_parse(&l, b, page(b, no_write, sizeof no_write)));
	assert_true(l.can_populate && !l.can_write);
	assert_true(token_limits_parse(&l, b, page(b, no_info, sizeof no_info)));
	assert_true(!l.can_populate && !l.can_write);
}

static void another_page_or_none_has_no_tokens(void **state)
{
	uint8_t b[256];
	struct token_limits l;
	uint32_t len = page(b, NULL, 0);
	assert_false(token_limits_parse(&l, b, 3));
	assert_false(token_limits_parse(&l, b, len - 1)); // a descriptor that is cut off
	b[1] = 0x83;
	assert_false(token_limits_parse(&l, b, len));
}

static void lists_have_the_standards_offsets(void **state)
{
	uint8_t p[TOKEN_POPULATE_LEN], w[TOKEN_WRITE_LEN], token[TOKEN_LEN];
	memset(token, 0x5a, sizeof token);
	token_populate_list(p, 7, 9);
	assert_int_equal(get_be16(p), 30);
	assert_int_equal(get_be16(p + 14), 16);
	assert_int_equal(get_be64(p + 16), 7);
	assert_int_equal(get_be32(p + 24), 9);
	token_write_list(w, token, 11, 13);
	assert_int_equal(get_be16(w), 550);
	assert_memory_equal(w + 16, token, sizeof token);
	assert_int_equal(get_be16(w + 534), 16);
	assert_int_equal(get_be64(w + 536), 11);
	assert_int_equal(get_be32(w + 544), 13);
}

static void result(uint8_t b[INFO], uint8_t status)
{
	memset(b, 0, INFO);
	put_be32(b, INFO - 4);
	b[4] = 0x10;
	b[5] = status;
	put_be32(b + 8, 50);
	b[13] = b[14] = 18;
	b[15] = 0xf1;
	put_be64(b + 16, 77);
	put_be32(b + 32 + 18, 2 + TOKEN_LEN);
	memset(b + INFO - TOKEN_LEN, 0xa5, TOKEN_LEN);
}

static void a_token_is_behind_the_sense_data(void **state)
{
	uint8_t b[INFO];
	struct token_info i;
	result(b, 0x01);
	assert_true(token_info_parse(&i, b, sizeof b, 0x10));
	assert_true(i.is_done && !i.is_running && i.has_token && i.has_blocks);
	assert_int_equal(i.blocks, 77);
	assert_int_equal(i.token[TOKEN_LEN - 1], 0xa5);
	assert_int_equal(i.sense_len, 18);
	assert_false(token_info_parse(&i, b, sizeof b, 0x11));
}

static void a_token_that_is_cut_off_is_none(void **state)
{
	uint8_t b[INFO];
	struct token_info i;
	result(b, 0x01);
	assert_true(token_info_parse(&i, b, sizeof b - 1, 0x10));
	assert_false(i.has_token);
	put_be32(b, INFO - 5); // by its own words
	assert_true(token_info_parse(&i, b, sizeof b, 0x10));
	assert_false(i.has_token);
	assert_false(token_info_parse(&i, b, 31, 0x10));
}

static void states_tell_running_from_failed(void **state)
{
	uint8_t b[INFO];
	struct token_info i;
	result(b, 0x11);
	assert_true(token_info_parse(&i, b, sizeof b, 0x10));
	assert_true(i.is_running && !i.is_done);
	assert_int_equal(i.delay_ms, 50);
	result(b, 0x02);
	assert_true(token_info_parse(&i, b, sizeof b, 0x10));
	assert_true(!i.is_running && !i.is_done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_those_of_the_page),
		cmocka_unit_test(a_list_of_commands_says_which_there_are),
		cmocka_unit_test(another_page_or_none_has_no_tokens),
		cmocka_unit_test(lists_have_the_standards_offsets),
		cmocka_unit_test(a_token_is_behind_the_sense_data),
		cmocka_unit_test(a_token_that_is_cut_off_is_none),
		cmocka_unit_test(states_tell_running_from_failed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
