// SPDX-License-Identifier: BSD-2-Clause
// TransportIDs, see transport_id.h: parsing into the canonical form and comparison (SPC-4 7.6.4.5
// for iSCSI, 7.6.4.6 for SRP).
#include "target/scsi/reservations/transport_id.h"

#include <errno.h>
#include <string.h>

#include "transport/wire/be.h"

#define ISCSI_NAME_MAX 223
#define ISID_DIGITS    12

enum { TID_SRP = 4, TID_ISCSI = 5 };

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// 1 to 12 hexadecimal digits.
static int parse_isid(const uint8_t *p, size_t len, uint64_t *ret)
{
	uint64_t v = 0;
	if (!len || len > ISID_DIGITS)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		int digit = hex_digit(p[i]);
		if (digit < 0)
			return -EINVAL;
		v = v << 4 | (unsigned)digit;
	}
	*ret = v;
	return 0;
}

static void put_isid(uint8_t *out, uint64_t isid)
{
	memcpy(out, ",i,0x", 5);
	for (int i = 0; i < ISID_DIGITS; i++)
		out[5 + i] = (uint8_t) "0123456789abcdef"[isid >> (44 - 4 * i) & 15];
}

// iSCSI names are compared in lower case (RFC 7143 4.2.7); control characters cannot occur.
static int put_name(struct pr_tid *tid, const uint8_t *name, size_t len)
{
	if (!len || len > ISCSI_NAME_MAX)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (name[i] <= ' ' || name[i] == 0x7f || name[i] == ',')
			return -EINVAL;
		tid->bytes[4 + i] = name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i];
	}
	tid->name_len = (uint16_t)len;
	return 0;
}

// A name with its NUL, padded to 4 bytes, at least 20 (SPC-5 7.6.4.6).
static unsigned iscsi_body_len(size_t name_len)
{
	unsigned len = ((unsigned)name_len + 1 + 3) & ~3u;
	return len < 20 ? 20 : len;
}

static int parse_iscsi(struct pr_tid *tid, const uint8_t *p, size_t len, size_t *ret_used)
{
	unsigned format = p[0] >> 6;
	size_t add = get_be16(p + 2), name_len, text_len;
	if (format > 1 || add < 20 || add % 4 || 4 + add > len)
		return -EINVAL;
	const uint8_t *text = p + 4, *end = memchr(text, 0, add);
	if (!end)
		return -EINVAL;
	text_len = name_len = (size_t)(end - text);
	uint64_t isid = 0;
	if (format == 1) {
		const uint8_t *comma = memchr(text, ',', text_len);
		if (!comma || text_len - (size_t)(comma - text) < 5 || memcmp(comma, ",i,0x", 5))
			return -EINVAL;
		name_len = (size_t)(comma - text);
		if (parse_isid(comma + 5, text_len - name_len - 5, &isid))
			return -EINVAL;
	}
	if (put_name(tid, text, name_len))
		return -EINVAL;
	size_t normal = name_len;
	if (format == 1) {
		put_isid(tid->bytes + 4 + name_len, isid);
		normal += 5 + ISID_DIGITS;
	}
	normal = iscsi_body_len(normal);
	tid->bytes[0] = (uint8_t)(format << 6 | TID_ISCSI);
	put_be16(tid->bytes + 2, (uint16_t)normal);
	tid->has_isid = format == 1;
	tid->len = (uint16_t)(4 + normal);
	*ret_used = 4 + add;
	return 0;
}

static int parse_srp(struct pr_tid *tid, const uint8_t *p, size_t *ret_used)
{
	if (p[0] >> 6)
		return -EINVAL;
	tid->bytes[0] = TID_SRP;
	memcpy(tid->bytes + 8, p + 8, 16);
	tid->len = PR_TID_SRP_LEN;
	*ret_used = PR_TID_SRP_LEN;
	return 0;
}

int pr_tid_parse(struct pr_tid *ret, const uint8_t *p, size_t len, size_t *ret_used)
{
	struct pr_tid tid = { 0 };
	int res = -EINVAL;
	if (len < 24)
		return -EINVAL;
	if ((p[0] & 0x0f) == TID_ISCSI)
		res = parse_iscsi(&tid, p, len, ret_used);
	else if ((p[0] & 0x0f) == TID_SRP)
		res = parse_srp(&tid, p, ret_used);
	if (!res)
		*ret = tid;
	return res;
}

unsigned pr_tid_put_iscsi(uint8_t *out, const char *port)
{
	size_t len = strlen(port);
	unsigned body = iscsi_body_len(len);
	out[0] = 1 << 6 | TID_ISCSI;
	put_be16(out + 2, (uint16_t)body);
	memcpy(out + 4, port, len);
	return 4 + body;
}

unsigned pr_tid_put_srp(uint8_t *out, const uint8_t port_id[16])
{
	out[0] = TID_SRP;
	memcpy(out + 8, port_id, 16);
	return PR_TID_SRP_LEN;
}

bool pr_tid_equal(const struct pr_tid *a, const struct pr_tid *b, bool enforce_isid)
{
	if (a->name_len && b->name_len && !(enforce_isid && a->has_isid && b->has_isid))
		return a->name_len == b->name_len &&
		       !memcmp(a->bytes + 4, b->bytes + 4, a->name_len);
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}
