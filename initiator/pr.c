// SPDX-License-Identifier: BSD-2-Clause
// Persistent reservations: parameter data to and from words. Lengths in it are the target's: each
// is compared with what was received. SPC-5 6.15, 6.16, 7.6.4.
#include "initiator/pr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "transport/wire/be.h"

enum { HEADER = 8, RESERVATION = 16, STATUS = 24, SRP_ID = 24, ISCSI_FIRST = 4 };

// --- types ---

static const struct {
	uint8_t type;
	const char *name, *shorter;
} types[] = {
	{1,  "write-exclusive",			"we"  },
	{ 3, "exclusive-access",			 "ea"  },
	{ 5, "write-exclusive-registrants-only",	 "wero"},
	{ 6, "exclusive-access-registrants-only", "earo"},
	{ 7, "write-exclusive-all-registrants",	"wear"},
	{ 8, "exclusive-access-all-registrants",	 "eaar"},
};
#define TYPE_COUNT (sizeof types / sizeof *types)

const char *pr_type_name(uint8_t type)
{
	static _Thread_local char unknown[16];
	for (size_t i = 0; i < TYPE_COUNT; i++)
		if (types[i].type == type)
			return types[i].name;
	snprintf(unknown, sizeof unknown, "type %u", type);
	return unknown;
}

uint8_t pr_type_parse(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	bool is_number = *text >= '0' && *text <= '9' && !*end;
	for (size_t i = 0; i < TYPE_COUNT; i++)
		if (is_number ? n == types[i].type
			      : !strcasecmp(text, types[i].name) ||
					!strcasecmp(text, types[i].shorter))
			return types[i].type;
	return 0;
}

// --- answers ---

bool pr_list_parse(struct pr_list *ret, const uint8_t *data, uint32_t len)
{
	if (len < HEADER)
		return false;
	uint32_t claimed = get_be32(data + 4), came = len - HEADER;
	ret->generation = get_be32(data);
	ret->data = data + HEADER;
	ret->is_cut = claimed > came;
	ret->len = ret->is_cut ? came : claimed;
	return true;
}

bool pr_key_at(const struct pr_list *l, uint32_t index, uint64_t *ret)
{
	if (index >= l->len / 8)
		return false;
	*ret = get_be64(l->data + 8 * (size_t)index);
	return true;
}

bool pr_reservation_parse(const struct pr_list *l, struct pr_reservation *ret)
{
	if (l->len < RESERVATION)
		return false;
	ret->key = get_be64(l->data);
	ret->scope = l->data[13] >> 4;
	ret->type = l->data[13] & 0xf;
	return true;
}

static void hex(char *ret, const uint8_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		snprintf(ret + 2 * (size_t)i, 3, "%02x", from[i]);
}

// iSCSI: the name, cut at its first NUL. SRP: its two halves. Others: their first bytes.
static void port_text(const uint8_t *id, uint32_t n, char ret[PR_PORT_TEXT])
{
	uint8_t protocol = n ? id[0] & 0xf : 0;
	*ret = 0;
	if (protocol == 5 && n > ISCSI_FIRST) {
		uint32_t at = 0;
		for (; at < n - ISCSI_FIRST && at < PR_PORT_TEXT - 1 && id[ISCSI_FIRST + at];
		     at++) {
			uint8_t c = id[ISCSI_FIRST + at];
			ret[at] = c >= 0x20 && c < 0x7f ? (char)c : '?';
		}
		ret[at] = 0;
	} else if (protocol == 4 && n >= SRP_ID) {
		hex(ret, id + 8, 8);
		ret[16] = ':';
		hex(ret + 17, id + 16, 8);
	} else if (n) {
		hex(ret, id, n < 32 ? n : 32);
	}
}

bool pr_registration_next(const struct pr_list *l, uint32_t *at, struct pr_registration *ret)
{
	if (l->len - *at < STATUS)
		return false;
	const uint8_t *d = l->data + *at;
	uint32_t n = get_be32(d + 20);
	if (n > l->len - *at - STATUS)
		return false;
	ret->key = get_be64(d);
	ret->is_holder = d[12] & 1;
	ret->has_all_ports = d[12] & 2;
	ret->scope = d[13] >> 4;
	ret->type = d[13] & 0xf;
	ret->relative_port = get_be16(d + 18);
	port_text(d + STATUS, n, ret->port);
	*at += STATUS + n;
	return true;
}

bool pr_capabilities_parse(struct pr_capabilities *ret, const uint8_t *data, uint32_t len)
{
	if (len < HEADER)
		return false;
	*ret = (struct pr_capabilities){
		.replaces_lost = data[2] & 0x80,
		.compatible_reserve = data[2] & 0x10,
		.specified_ports = data[2] & 0x08,
		.all_ports = data[2] & 0x04,
		.persists = data[2] & 0x01,
		.is_persistent = data[3] & 0x01,
		.has_types = data[3] & 0x80,
	};
	// Byte 4 has types 1 to 7 as its bits 1 to 7, byte 5 has type 8 as its bit 0.
	ret->types = (uint16_t)((data[4] & 0xea) | (data[5] & 1) << 8);
	return true;
}

void pr_out_build(uint8_t ret[PR_OUT_LEN], uint64_t key, uint64_t service_key)
{
	memset(ret, 0, PR_OUT_LEN);
	put_be64(ret, key);
	put_be64(ret + 8, service_key);
}
