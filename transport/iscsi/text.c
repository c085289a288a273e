// SPDX-License-Identifier: BSD-2-Clause
// Text segments: bounded parsing and appending [RFC 7143 §6.1]. Binary values are in
// text_binary.c.
#include "transport/iscsi/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Letters, digits and ".-+@_" make a key; '#' is that of X#NodeArchitecture.
static bool can_be_in_key(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr(".-+@_#", c));
}

void text_iter_init(struct text_iter *it, const void *text, size_t len)
{
	it->at = text;
	it->left = text ? len : 0;
}

int text_next(struct text_iter *it, struct text_pair *ret)
{
	while (it->left && !*it->at) {
		it->at++;
		it->left--;
	}
	if (!it->left)
		return 0;
	const char *end = memchr(it->at, 0, it->left);
	if (!end)
		return -EPROTO;
	const char *equals = memchr(it->at, '=', (size_t)(end - it->at));
	if (!equals || equals == it->at || equals - it->at > ISCSI_KEY_MAX)
		return -EPROTO;
	for (const char *c = it->at; c < equals; c++)
		if (!can_be_in_key(*c))
			return -EPROTO;
	ret->key = it->at;
	ret->key_len = (size_t)(equals - it->at);
	ret->value = equals + 1;
	ret->value_len = (size_t)(end - ret->value);
	it->left -= (size_t)(end + 1 - it->at);
	it->at = end + 1;
	return 1;
}

bool text_key_is(const struct text_pair *pair, const char *name)
{
	return strlen(name) == pair->key_len && memcmp(pair->key, name, pair->key_len) == 0;
}

int text_find(const void *text, size_t len, const char *key, struct text_pair *ret)
{
	struct text_iter it;
	text_iter_init(&it, text, len);
	int rc;
	while ((rc = text_next(&it, ret)) > 0)
		if (text_key_is(ret, key))
			return 1;
	return rc;
}

bool text_list_next(const char **at, const char **ret_item, size_t *ret_len)
{
	if (!*at)
		return false;
	const char *comma = strchr(*at, ',');
	*ret_item = *at;
	*ret_len = comma ? (size_t)(comma - *at) : strlen(*at);
	*at = comma ? comma + 1 : NULL;
	return true;
}

int text_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int text_number(const char *value, uint64_t lo, uint64_t hi, uint64_t *ret)
{
	int base = 10;
	if (value[0] == '0' && (value[1] == 'x' || value[1] == 'X')) {
		base = 16;
		value += 2;
	}
	if (!*value)
		return -EINVAL;
	uint64_t n = 0;
	bool is_over = false;
	for (; *value; value++) {
		int d = text_hex_digit(*value);
		if (d < 0 || d >= base)
			return -EINVAL;
		is_over |= __builtin_mul_overflow(n, (uint64_t)base, &n);
		is_over |= __builtin_add_overflow(n, (uint64_t)d, &n);
	}
	if (is_over || n < lo || n > hi)
		return -ERANGE;
	*ret = n;
	return 0;
}

void text_out_init(struct text_out *o, void *buf, size_t size)
{
	*o = (struct text_out){ .buf = buf, .size = size };
}

int text_append_len(struct text_out *o, const char *key, size_t key_len, const char *value)
{
	if (!key_len || memchr(key, '=', key_len) || memchr(key, 0, key_len))
		return -EINVAL;
	size_t value_len = strlen(value), room = o->size - o->len;
	if (key_len > room || value_len > room - key_len || room - key_len - value_len < 2) {
		o->is_full = true;
		return -ENOSPC;
	}
	char *at = o->buf + o->len;
	memcpy(at, key, key_len);
	at[key_len] = '=';
	memcpy(at + key_len + 1, value, value_len + 1);
	o->len += key_len + value_len + 2;
	return 0;
}

int text_append(struct text_out *o, const char *key, const char *value)
{
	return text_append_len(o, key, strlen(key), value);
}

int text_append_number(struct text_out *o, const char *key, uint64_t value)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
	return text_append(o, key, digits);
}
