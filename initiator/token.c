// SPDX-License-Identifier: BSD-2-Clause
// See token.h. Answers are parsed up to the received length, not the one that they claim.
#include "initiator/token.h"

#include <string.h>

#include "transport/wire/be.h"

enum {
	PAGE = 0x8f,
	TOKEN_LIMITS = 0x0000, // descriptors of the page
	SUPPORTED_COMMANDS = 0x0001,
	LIMITS_LEN = 32,
	POPULATE = 0x10, // service actions of 83h
	WRITE_USING = 0x11,
	RECEIVE_INFO = 0x07, // of 84h
	INFO_HEADER = 32,
	UNITS_BLOCKS = 0xf1,
	NO_DELAY = 0xfffffffe,
	DEL_TKN = 0x02,
};

// --- limits ---

static bool has_action(const uint8_t *list, uint32_t len, uint8_t opcode, uint8_t action)
{
	for (uint32_t at = 0; at + 2 <= len && at + 2 + list[at + 1] <= len;
	     at += 2u + list[at + 1])
		if (list[at] == opcode && memchr(list + at + 2, action, list[at + 1]))
			return true;
	return false;
}

// The first byte is the length of the list.
static void take_commands(struct token_limits *l, const uint8_t *body, uint32_t len)
{
	uint32_t n = len && body[0] < len ? body[0] : len ? len - 1 : 0;
	bool has_info = has_action(body + 1, n, 0x84, RECEIVE_INFO);
	l->can_populate = has_info && has_action(body + 1, n, 0x83, POPULATE);
	l->can_write = has_info && has_action(body + 1, n, 0x83, WRITE_USING);
}

bool token_limits_parse(struct token_limits *ret, const uint8_t *page, uint32_t len)
{
	bool has_limits = false;
	*ret = (struct token_limits){ .can_populate = true, .can_write = true };
	if (len < 4 || page[1] != PAGE)
		return false;
	uint32_t claimed = 4u + get_be16(page + 2), end = claimed < len ? claimed : len;
	for (uint32_t at = 4; at + 4 <= end;) {
		uint32_t n = get_be16(page + at + 2);
		const uint8_t *body = page + at + 4;
		if (n > end - at - 4)
			break;
		if (get_be16(page + at) == TOKEN_LIMITS && n >= LIMITS_LEN) {
			has_limits = true;
			ret->blocks = get_be64(body + 16);
			ret->optimal = get_be64(body + 24);
		} else if (get_be16(page + at) == SUPPORTED_COMMANDS) {
			take_commands(ret, body, n);
		}
		at += 4 + n;
	}
	return has_limits;
}

// --- parameter lists ---

static void put_range(uint8_t *at, uint64_t lba, uint32_t blocks)
{
	put_be16(at - 2, 16);
	put_be64(at, lba);
	put_be32(at + 8, blocks);
}

void token_populate_list(uint8_t ret[TOKEN_POPULATE_LEN], uint64_t lba, uint32_t blocks)
{
	memset(ret, 0, TOKEN_POPULATE_LEN);
	put_be16(ret, TOKEN_POPULATE_LEN - 2);
	put_range(ret + 16, lba, blocks);
}

void token_write_list(uint8_t ret[TOKEN_WRITE_LEN], const uint8_t token[TOKEN_LEN], uint64_t lba,
		      uint32_t blocks)
{
	memset(ret, 0, TOKEN_WRITE_LEN);
	put_be16(ret, TOKEN_WRITE_LEN - 2);
	ret[2] = DEL_TKN;
	memcpy(ret + 16, token, TOKEN_LEN);
	put_range(ret + 536, lba, blocks);
}

// --- the result ---

static void take_token(struct token_info *i, const uint8_t *data, uint32_t len, uint32_t field)
{
	uint32_t at = INFO_HEADER + field; // of the length of the token descriptors
	if (len < at + 4 || get_be32(data + at) < 2 + TOKEN_LEN || len - at - 4 < 2 + TOKEN_LEN)
		return;
	i->has_token = true;
	memcpy(i->token, data + at + 4 + 2, TOKEN_LEN);
}

bool token_info_parse(struct token_info *ret, const uint8_t *data, uint32_t len, uint8_t action)
{
	*ret = (struct token_info){ 0 };
	if (len < INFO_HEADER || (data[4] & 0x1f) != action)
		return false;
	uint64_t claimed = 4 + (uint64_t)get_be32(data);
	len = claimed < len ? (uint32_t)claimed : len;
	uint8_t status = data[5] & 0x7f;
	uint32_t delay = get_be32(data + 8), field = data[13];
	ret->is_running = status >= 0x10 && status <= 0x12;
	// 03h: a token of a part; 04h: a part was not written.
	ret->is_done = status == 0x01 || status == 0x03 || status == 0x04;
	ret->delay_ms = delay >= NO_DELAY ? 0 : delay;
	ret->has_blocks = data[15] == UNITS_BLOCKS;
	ret->blocks = get_be64(data + 16);
	if (len >= INFO_HEADER + field && data[14] <= field) {
		ret->sense = data + INFO_HEADER;
		ret->sense_len = data[14];
	}
	if (len >= INFO_HEADER)
		take_token(ret, data, len, field);
	return true;
}
