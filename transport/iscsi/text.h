// SPDX-License-Identifier: BSD-2-Clause
// Text segments: lists of key=value, each ended by one NUL [RFC 7143 §6.1]. Bounded parsing
// without allocation, bounded appending, numbers and binary values.
//
// Pure functions, any thread, nothing blocks. Parsed pairs point into the caller's bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/wire/iscsi.h"

struct text_pair {
	const char *key; // not NUL-terminated: key_len bytes, 1 to ISCSI_KEY_MAX
	size_t key_len;
	const char *value; // NUL-terminated, value_len bytes without an inner NUL
	size_t value_len;
};

struct text_iter {
	const char *at;
	size_t left;
};

// Starts over len bytes of text (may be NULL when len is 0).
void text_iter_init(struct text_iter *it, const void *text, size_t len);

// 1: the next pair. 0: the end. -EPROTO: no '=', no closing NUL, or an empty, too long or malformed
// key. Surplus NULs between pairs are skipped, since peers send them as padding. The caller checks
// the lengths of values.
int text_next(struct text_iter *it, struct text_pair *ret);

// True if the pair's key is exactly name.
bool text_key_is(const struct text_pair *pair, const char *name);

// The first pair with that key. 1, 0 (none) or -EPROTO (malformed before it was found).
int text_find(const void *text, size_t len, const char *key, struct text_pair *ret);

// Iterates the items of a comma-separated value: *at starts at the value and becomes NULL after the
// last item. False: no further item.
bool text_list_next(const char **at, const char **ret_item, size_t *ret_len);

// The value of a hexadecimal digit, -1 for any other character.
int text_hex_digit(char c);

// Decimal, or hexadecimal after 0x [RFC 7143 §6.1]. -EINVAL: not a number. -ERANGE: outside lo..hi.
int text_number(const char *value, uint64_t lo, uint64_t hi, uint64_t *ret);

// Binary: 0x and an even number of hex digits, or 0b and base64. -EINVAL: malformed or empty.
// -EMSGSIZE: decodes to more than size bytes; nothing is written.
int text_binary_decode(const char *value, uint8_t *ret, size_t size, size_t *ret_len);

struct text_out {
	char *buf;
	size_t size, len;
	bool is_full; // sticky: a pair did not fit; len ends at a complete pair
};

void text_out_init(struct text_out *o, void *buf, size_t size);

// Each appends one complete pair or nothing. 0, -ENOSPC (and is_full), or -EINVAL (key or value
// with a NUL, '=' in the key).
int text_append(struct text_out *o, const char *key, const char *value);
int text_append_len(struct text_out *o, const char *key, size_t key_len, const char *value);
int text_append_number(struct text_out *o, const char *key, uint64_t value);
int text_append_hex(struct text_out *o, const char *key, const void *data, size_t n);
int text_append_base64(struct text_out *o, const char *key, const void *data, size_t n);
