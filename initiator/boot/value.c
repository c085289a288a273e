// SPDX-License-Identifier: BSD-2-Clause
// See value.h.
#include "initiator/boot/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *field(void *object, const struct ibft_row *row)
{
	return (char *)object + row->at;
}

static void note(void *object, const struct ibft_row *row)
{
	if (row->has)
		*(bool *)((char *)object + row->has) = true;
}

int ibft_number(const char *text, void *object, const struct ibft_row *row, struct err *e)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n > row->max)
		return err_set(e, -EINVAL, "'%.32s': must be a number up to %zu", text, row->max);
	*(uint64_t *)field(object, row) = n;
	note(object, row);
	return 0;
}

// ---- addresses ----

static bool is_null(const struct ibft_address *a)
{
	static const uint8_t zeros[16];
	return !memcmp(a->bytes, zeros, sizeof zeros);
}

// Zeros stand for none.
int ibft_address(const char *text, void *object, const struct ibft_row *row, struct err *e)
{
	struct ibft_address *to = field(object, row), a = { .family = AF_INET };
	if (inet_pton(AF_INET, text, a.bytes) != 1) {
		a.family = AF_INET6;
		if (inet_pton(AF_INET6, text, a.bytes) != 1)
			return err_set(e, -EINVAL, "'%.48s': must be an IPv4 or IPv6 address",
				       text);
	}
	*to = is_null(&a) ? (struct ibft_address){ 0 } : a;
	return 0;
}

void ibft_address_text(const struct ibft_address *a, char ret[IBFT_ADDRESS_TEXT])
{
	if (!a->family || !inet_ntop(a->family, a->bytes, ret, IBFT_ADDRESS_TEXT))
		ret[0] = 0;
}

bool ibft_is_link_local(const struct ibft_address *a)
{
	return a->family == AF_INET6 && a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
}

int ibft_mask(const char *text, void *object, const struct ibft_row *row, struct err *e)
{
	struct in_addr a;
	if (inet_pton(AF_INET, text, &a) == 1) {
		uint32_t host = ~ntohl(a.s_addr);
		if (!(host & (host + 1))) { // ones without a gap
			*(uint64_t *)field(object, row) =
				host == UINT32_MAX ? 0 : (uint64_t)__builtin_clz(host << 1 | 1) + 1;
			return 0;
		}
	}
	return err_set(e, -EINVAL, "'%.32s': must be a network mask such as 255.255.255.0", text);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int ibft_mac(const char *text, void *object, const struct ibft_row *row, struct err *e)
{
	uint8_t *to = field(object, row), mac[6];
	bool is_fine = strlen(text) == 17;
	for (int i = 0; i < 6 && is_fine; i++) {
		int high = digit(text[3 * i]), low = digit(text[3 * i + 1]);
		is_fine = high >= 0 && low >= 0 && (i == 5 || text[3 * i + 2] == ':');
		mac[i] = (uint8_t)(high * 16 + low);
	}
	if (!is_fine)
		return err_set(e, -EINVAL, "'%.32s': must be six bytes such as 52:54:00:12:34:56",
			       text);
	memcpy(to, mac, sizeof mac);
	note(object, row);
	return 0;
}

// ---- the LUN ----

// A byte of count hex digits as the kernel prints it: without leading zero. -1: other text.
static int byte_of(const char *text, size_t count)
{
	if (!count || count > 2 || (count == 2 && *text == '0'))
		return -1;
	int v = 0;
	for (size_t i = 0; i < count; i++)
		v = v * 16 + digit(text[i]);
	return v;
}

// Peripheral addressing of bus 0, or flat addressing [SAM-5 4.7.7].
static int lun_of(int high, int low)
{
	if (high < 0 || low < 0 || (high && (high & 0xc0) != 0x40))
		return -1;
	return (high & 0x3f) << 8 | low;
}

// Eight bytes, each in as few digits as it needs: "0100 0000" without blanks is LUN 1, "010000000"
// LUN 16. The last six are zero, so that the first two remain, whose border only one of both
// methods of addressing allows.
static int lun_of_text(const char *text, size_t len)
{
	if (len < 8 || strspn(text, "0123456789abcdefABCDEF") != len)
		return -1;
	if (len == 16) { // of a kernel that pads
		int high = digit(text[0]) * 16 + digit(text[1]);
		return strspn(text + 4, "0") == 12
			       ? lun_of(high, digit(text[2]) * 16 + digit(text[3]))
			       : -1;
	}
	size_t own = len - 6;
	int lun = -1;
	if (own > 4 || strspn(text + own, "0") != 6)
		return -1;
	for (size_t n = 1; n <= 2 && lun < 0; n++)
		lun = lun_of(byte_of(text, n), byte_of(text + n, own - n));
	return lun;
}

int ibft_lun(const char *text, void *object, const struct ibft_row *row, struct err *e)
{
	struct ibft_target *t = object;
	size_t len = strlen(text);
	int lun = len < IBFT_LUN_TEXT ? lun_of_text(text, len) : -1;
	if (lun < 0)
		return err_set(e, -EINVAL,
			       "'%.32s': must be eight bytes in hex digits of a LUN of one level",
			       text);
	t->lun = (uint16_t)lun;
	t->has_lun = true;
	memcpy(t->lun_text, text, len + 1);
	return 0;
}

// ---- texts ----

int ibft_name(const char *text, void *object, const struct ibft_row *row, struct err *e)
{
	size_t len = strlen(text);
	bool is_fine = len && len <= row->max;
	for (size_t i = 0; i < len && is_fine; i++)
		is_fine = (unsigned char)text[i] > ' ' && text[i] != 0x7f && text[i] != '/';
	if (!is_fine)
		return err_set(e, -EINVAL, "must be the name of an iSCSI node, up to %zu bytes",
			       row->max);
	memcpy(field(object, row), text, len + 1);
	return 0;
}

int ibft_chap(const char *text, void *object, const struct ibft_row *row, struct err *e)
{
	size_t len = strlen(text);
	if (len > row->max || memchr(text, '\n', len))
		return err_set(e, -EINVAL, "must be a line of up to %zu bytes", row->max);
	memcpy(field(object, row), text, len + 1);
	return 0;
}
