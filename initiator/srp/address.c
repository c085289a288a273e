// SPDX-License-Identifier: BSD-2-Clause
// Addresses of SRP logical units: see address.h.
#include "initiator/srp/address.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SCHEME	 "srp://"
#define LUN_MAX	 16383 // flat space addressing [SAM-5 4.7.7.3]
#define HALF_LEN 8     // bytes of id_ext, ioc_guid, initiator_ext

// --- values ---

// n characters, exactly 16 hex digits, or 0x before them.
static bool take_half(const char *text, size_t n, uint8_t *ret)
{
	if (n == 2 * HALF_LEN + 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		text += 2;
		n -= 2;
	}
	if (n != 2 * HALF_LEN)
		return false;
	for (size_t i = 0; i < HALF_LEN; i++) {
		char digits[3] = { text[2 * i], text[2 * i + 1] };
		if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
			return false;
		ret[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return true;
}

static bool take_number(const char *text, int base, unsigned long lo, unsigned long hi,
			unsigned long *ret)
{
	char *end;
	errno = 0;
	*ret = strtoul(text, &end, base);
	return isxdigit((unsigned char)*text) && !*end && !errno && *ret >= lo && *ret <= hi;
}

static bool take_host(const char *text, size_t n, char ret[SRPS_HOST_MAX + 1])
{
	if (!n || n > SRPS_HOST_MAX)
		return false;
	memcpy(ret, text, n);
	ret[n] = 0;
	return true;
}

int srps_port_id_parse(const char *text, uint8_t ret[SRP_PORT_ID_LEN], struct err *e)
{
	size_t n = strcspn(text, ":");
	if (!text[n] || !take_half(text, n, ret) ||
	    !take_half(text + n + 1, strlen(text + n + 1), ret + HALF_LEN))
		return err_set(e, -EINVAL,
			       "invalid SRP port identifier: '%.64s' (must be EXTENSION:GUID, 16 "
			       "hex digits each)",
			       text);
	return 0;
}

const char *srps_port_id_format(const uint8_t id[SRP_PORT_ID_LEN], char ret[SRPS_PORT_ID_TEXT])
{
	size_t n = 0;
	for (unsigned i = 0; i < SRP_PORT_ID_LEN; i++)
		n += (size_t)snprintf(ret + n, SRPS_PORT_ID_TEXT - n, "%s%02x",
				      i == HALF_LEN ? ":" : "", id[i]);
	return ret;
}

static int take_lun(const char *text, struct srps_address *ret, struct err *e)
{
	unsigned long lun;
	if (!take_number(text, 10, 0, LUN_MAX, &lun))
		return err_set(e, -EINVAL, "LUN '%.32s': must be 0 to %d", text, LUN_MAX);
	ret->lun = (uint16_t)lun;
	ret->has_lun = true;
	return 0;
}

// --- URLs ---

static int take_target(const char *text, size_t n, struct srps_address *ret, struct err *e)
{
	char id[64];
	if (n >= sizeof id)
		n = sizeof id - 1;
	memcpy(id, text, n);
	id[n] = 0;
	ret->has_target = true;
	return srps_port_id_parse(id, ret->target, e);
}

static int parse_url(const char *text, struct srps_address *ret, struct err *e)
{
	const char *at = text + strlen(SCHEME);
	size_t n = strcspn(at, "/");
	if (memchr(at, '@', n))
		return err_set(e, -EINVAL, "SRP has no user names");
	if (!take_host(at, n, ret->portal))
		return err_set(e, -EINVAL, "%s", n ? "host name too long" : "no host");
	at += n;
	if (!*at || !at[1])
		return 0;
	at++;
	n = strcspn(at, "/");
	int r = take_target(at, n, ret, e);
	at += n;
	return r || !*at || !at[1] ? r : take_lun(at + 1, ret, e);
}

// --- add_target strings ---

enum kind {
	HALF,	     // 16 hex digits
	HOST,	     // address
	NUMBER,	     // uint32_t
	CLASS,	     // io_class
	IB,	     // of the connection manager of InfiniBand
	IGNORED,     // a number
	IGNORED_HEX, // ... in hexadecimal digits
};

#define AT(field) offsetof(struct srps_address, field)
static const struct key {
	const char *name;
	enum kind kind;
	size_t at;
	unsigned long lo, hi;
} keys[] = {
	{"id_ext",		    HALF,		  AT(target) },
	{ "ioc_guid",		      HALF,			    AT(target) + HALF_LEN },
	{ "initiator_ext", HALF,AT(initiator_ext) },
	{ "dest",		  HOST,			     AT(portal) },
	{ "src",		 HOST,	       AT(local) },
	{ "ch_count",		      NUMBER,				 AT(channels), 1, 65535 },
	{ "queue_size",		NUMBER,			AT(channel_depth), 1, 65535 },
	{ "target_can_queue",NUMBER,AT(queue_depth), 1, 1u << 30 },
	{ "max_it_iu_size",		    NUMBER,				    AT(it_iu_len), 64, 1u << 30 },
	{ "pkey",	  IGNORED_HEX,0, 0, 0xffff },
	{ "max_sect",		      IGNORED,				 0, 0, INT_MAX },
	{ "max_cmd_per_lun",		     IGNORED,						       0, 1, INT_MAX },
	{ "cmd_sg_entries",		    IGNORED,				     0, 1, INT_MAX },
	{ "allow_ext_sg",IGNORED,0, 0, INT_MAX },
	{ "sg_tablesize",		  IGNORED,				   0, 1, INT_MAX },
	{ "comp_vector",	 IGNORED,				      0, 0, INT_MAX },
	{ "tl_retry_count",		    IGNORED,				     0, 2, 7 },
	{ "io_class",CLASS},
	{ "dgid",		  IB			      },
	{ "service_id",IB},
};
#define KEY_COUNT (sizeof keys / sizeof *keys)
_Static_assert(KEY_COUNT <= 32, "a bit each");

// Takes a value; false: it is invalid.
static bool take_value(const struct key *k, const char *value, struct srps_address *ret)
{
	void *to = (char *)ret + k->at;
	unsigned long n;
	switch (k->kind) {
	case HALF:
		return take_half(value, strlen(value), to);
	case HOST:
		return take_host(value, strlen(value), to);
	case NUMBER:
		if (!take_number(value, 10, k->lo, k->hi, &n))
			return false;
		*(uint32_t *)to = (uint32_t)n;
		return true;
	case CLASS:
		return take_number(value, 16, 0x0100, 0x0100, &n);
	case IGNORED:
	case IGNORED_HEX:
		if (!take_number(value, k->kind == IGNORED ? 10 : 16, k->lo, k->hi, &n))
			return false;
		n = strlen(ret->ignored);
		snprintf(ret->ignored + n, sizeof ret->ignored - n, "%s%s", n ? ", " : "", k->name);
		return true;
	default:
		return true;
	}
}
_Static_assert(sizeof(unsigned) == sizeof(uint32_t), "numbers");

static int take_pair(char *pair, uint32_t *seen, struct srps_address *ret, struct err *e)
{
	char *value = strchr(pair, '=');
	if (!value)
		return err_set(e, -EINVAL, "'%.64s' is not KEY=VALUE", pair);
	*value++ = 0;
	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (strcmp(keys[i].name, pair))
			continue;
		if (*seen & 1u << i)
			return err_set(e, -EINVAL, "%s is given twice", pair);
		*seen |= 1u << i;
		if (!take_value(&keys[i], value, ret))
			return err_set(e, -EINVAL, "invalid %s: '%.64s'%s", pair, value,
				       keys[i].kind == CLASS ? " (only 0100 is supported)" : "");
		return 0;
	}
	return err_set(e, -EINVAL, "unknown key: '%.64s'", pair);
}

// The key of a name; all of a table are known.
static bool has(uint32_t seen, const char *name)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (!strcmp(keys[i].name, name))
			return seen & 1u << i;
	return false;
}

static int check_pairs(uint32_t seen, struct srps_address *ret, struct err *e)
{
	if (!has(seen, "dest"))
		return err_set(e, -EINVAL, "%s",
			       has(seen, "dgid") || has(seen, "service_id")
				       ? "dgid and service_id connect by IB-CM, which is not "
					 "supported (use dest=ADDRESS:PORT, for RDMA-CM)"
				       : "no dest=ADDRESS:PORT");
	if (!has(seen, "id_ext") || !has(seen, "ioc_guid"))
		return err_set(e, -EINVAL, "no %s", has(seen, "id_ext") ? "ioc_guid" : "id_ext");
	ret->has_target = true;
	ret->has_initiator_ext = has(seen, "initiator_ext");
	return 0;
}

static int parse_string(const char *text, struct srps_address *ret, struct err *e)
{
	char copy[1024];
	uint32_t seen = 0;
	int r = 0;
	size_t n = strlen(text);
	if (n >= sizeof copy)
		return err_set(e, -EINVAL, "too long (%zu bytes)", n);
	memcpy(copy, text, n + 1);
	while (n && strchr("\r\n", copy[n - 1])) // echo's
		copy[--n] = 0;
	char *lun = strchr(copy, '/');
	if (lun)
		*lun++ = 0;
	char *rest = copy, *pair;
	while (!r && (pair = strsep(&rest, ",\n")))
		if (*pair)
			r = take_pair(pair, &seen, ret, e);
	if (!r)
		r = check_pairs(seen, ret, e);
	return r || !lun || !*lun ? r : take_lun(lun, ret, e);
}

// --- either ---

bool srps_address_is_string(const char *text)
{
	return !strstr(text, "://") && strchr(text, '=');
}

int srps_address_parse(const char *text, struct srps_address *ret, struct err *e)
{
	*ret = (struct srps_address){ 0 };
	int r;
	if (!strncasecmp(text, SCHEME, strlen(SCHEME))) {
		r = parse_url(text, ret, e);
		return r ? (err_prefix(e, "invalid URL"), r) : 0;
	}
	if (!srps_address_is_string(text))
		return err_set(e, -EINVAL,
			       "invalid URL: %.80s (srp://host[:port]/id_ext:ioc_guid/lun)", text);
	r = parse_string(text, ret, e);
	return r ? (err_prefix(e, "invalid add_target string"), r) : 0;
}
