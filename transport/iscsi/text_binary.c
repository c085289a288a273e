// SPDX-License-Identifier: BSD-2-Clause
// Binary values in text: 0x hexadecimal and 0b base64 [RFC 7143 §6.1, RFC 4648 §4].
#include "transport/iscsi/text.h"

#include <errno.h>
#include <string.h>

static int hex_decode(const char *s, uint8_t *ret, size_t size, size_t *ret_len)
{
	size_t n = strlen(s);
	if (!n || n % 2)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (text_hex_digit(s[i]) < 0)
			return -EINVAL;
	if (n / 2 > size)
		return -EMSGSIZE;
	for (size_t i = 0; i < n / 2; i++)
		ret[i] = (uint8_t)(text_hex_digit(s[2 * i]) << 4 | text_hex_digit(s[2 * i + 1]));
	*ret_len = n / 2;
	return 0;
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// The number of digits of s without padding, or 0 if s is not base64. Padding is optional but must
// be correct; unused bits must be zero.
static size_t base64_digits(const char *s)
{
	size_t n = strlen(s), digits = n;
	while (digits && n - digits < 2 && s[digits - 1] == '=')
		digits--;
	if (digits % 4 == 1 || (digits != n && n % 4))
		return 0;
	for (size_t i = 0; i < digits; i++)
		if (base64_digit(s[i]) < 0)
			return 0;
	if ((digits % 4 == 2 && base64_digit(s[digits - 1]) & 15) ||
	    (digits % 4 == 3 && base64_digit(s[digits - 1]) & 3))
		return 0;
	return digits;
}

static int base64_decode(const char *s, uint8_t *ret, size_t size, size_t *ret_len)
{
	size_t digits = base64_digits(s), bytes = digits * 3 / 4;
	if (!bytes)
		return -EINVAL;
	if (bytes > size)
		return -EMSGSIZE;
	uint32_t acc = 0;
	size_t at = 0;
	for (size_t i = 0; i < digits; i++) {
		acc = acc << 6 | (uint32_t)base64_digit(s[i]);
		if (i % 4)
			ret[at++] = (uint8_t)(acc >> (6 - i % 4 * 2));
	}
	*ret_len = bytes;
	return 0;
}

int text_binary_decode(const char *value, uint8_t *ret, size_t size, size_t *ret_len)
{
	if (value[0] != '0')
		return -EINVAL;
	switch (value[1]) {
	case 'x':
	case 'X':
		return hex_decode(value + 2, ret, size, ret_len);
	case 'b':
	case 'B':
		return base64_decode(value + 2, ret, size, ret_len);
	default:
		return -EINVAL;
	}
}

// Begins a pair whose value is prefix and value_len characters; NULL: it does not fit.
static char *begin(struct text_out *o, const char *key, const char *prefix, size_t value_len)
{
	size_t need;
	if (__builtin_add_overflow(value_len, strlen(key) + strlen(prefix) + 2, &need) ||
	    need > o->size - o->len) {
		o->is_full = true;
		return NULL;
	}
	if (text_append(o, key, prefix))
		return NULL;
	return o->buf + o->len - 1; // over the NUL
}

static int finish(struct text_out *o, char *end)
{
	*end = 0;
	o->len = (size_t)(end + 1 - o->buf);
	return 0;
}

int text_append_hex(struct text_out *o, const char *key, const void *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *in = data;
	char *at = n > SIZE_MAX / 4 ? NULL : begin(o, key, "0x", 2 * n);
	if (!at)
		return -ENOSPC;
	for (size_t i = 0; i < n; i++) {
		*at++ = digits[in[i] >> 4];
		*at++ = digits[in[i] & 15];
	}
	return finish(o, at);
}

int text_append_base64(struct text_out *o, const char *key, const void *data, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *in = data;
	char *at = n > SIZE_MAX / 4 ? NULL : begin(o, key, "0b", (n + 2) / 3 * 4);
	if (!at)
		return -ENOSPC;
	for (size_t i = 0; i < n; i += 3) {
		uint32_t three = (uint32_t)in[i] << 16;
		three |= i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0;
		three |= i + 2 < n ? in[i + 2] : 0;
		*at++ = digits[three >> 18];
		*at++ = digits[three >> 12 & 63];
		*at++ = i + 1 < n ? digits[three >> 6 & 63] : '=';
		*at++ = i + 2 < n ? digits[three & 63] : '=';
	}
	return finish(o, at);
}
