// SPDX-License-Identifier: BSD-2-Clause
// Attribute rows: converts between text and fields; parses sizes. Pure
// functions, any thread.
#include "core/attr.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct attr_row *attr_find(const struct attr_row *rows, const char *name)
{
	for (const struct attr_row *row = rows; row && row->name; row++)
		if (*row->name == *name &&
		    !strcmp(row->name, name)) // runs 300,000 times per restore
			return row;
	return NULL;
}

static void *field_of(const struct attr_row *row, void *base)
{
	return (char *)base + row->offset;
}

static const void *const_field_of(const struct attr_row *row, const void *base)
{
	return (const char *)base + row->offset;
}

// text NULL: the value is not quoted.
static int refuse(const struct attr_row *row, const char *cause, const char *text, struct err *e)
{
	char range[160];
	attr_range(row, range, sizeof range);
	if (row->flags & ATTR_SECRET || !text)
		return err_set(e, -EINVAL, "%s: value %s (%s)", row->name, cause, range);
	return err_set(e, -EINVAL, "%s: '%.60s' %s (%s)", row->name, text, cause, range);
}

bool parse_bool(const char *text, bool *ret)
{
	static const char *const words[][2] = {
		{"0",      "1"   },
		      { "false", "true"},
		   { "no",	   "yes" },
		    { "off",   "on"  }
	};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		for (int v = 0; v < 2; v++)
			if (!strcasecmp(text, words[i][v])) {
				*ret = v;
				return true;
			}
	return false;
}

bool is_yes(const char *text)
{
	bool is;
	return text && parse_bool(text, &is) && is;
}

// Parses a decimal or 0x number. Sign and magnitude are separate, so that
// the whole range of uint64_t fits.
static bool parse_number(const char *text, bool *ret_negative, uint64_t *ret)
{
	*ret_negative = *text == '-';
	if (*ret_negative)
		text++;
	if (!isdigit((unsigned char)*text))
		return false;
	bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;
	errno = 0;
	*ret = strtoull(text, &end, is_hex ? 16 : 10);
	return !errno && !*end;
}

static int set_unsigned(const struct attr_row *row, void *field, const char *text, struct err *e)
{
	bool is_negative;
	uint64_t v;
	if (!parse_number(text, &is_negative, &v))
		return refuse(row, "is not a number", text, e);
	uint64_t top = row->type == ATTR_UINT64 ? UINT64_MAX : UINT32_MAX;
	if (row->max && (uint64_t)row->max < top)
		top = (uint64_t)row->max;
	if ((is_negative && v) || v < (uint64_t)row->min || v > top)
		return refuse(row, "is out of range", text, e);
	if (row->type == ATTR_UINT64)
		__atomic_store_n((uint64_t *)field, v, __ATOMIC_RELAXED);
	else
		__atomic_store_n((uint32_t *)field, (uint32_t)v, __ATOMIC_RELAXED);
	return 0;
}

static int set_signed(const struct attr_row *row, void *field, const char *text, struct err *e)
{
	bool is_negative;
	uint64_t v;
	if (!parse_number(text, &is_negative, &v))
		return refuse(row, "is not a number", text, e);
	if (v > INT32_MAX)
		return refuse(row, "is out of range", text, e);
	int64_t n = is_negative ? -(int64_t)v : (int64_t)v;
	if (n < row->min || n > row->max)
		return refuse(row, "is out of range", text, e);
	__atomic_store_n((int32_t *)field, (int32_t)n, __ATOMIC_RELAXED);
	return 0;
}

static int set_enum(const struct attr_row *row, void *field, const char *text, struct err *e)
{
	for (uint32_t i = 0; row->choices[i]; i++)
		if (!strcasecmp(row->choices[i], text)) {
			__atomic_store_n((uint32_t *)field, i, __ATOMIC_RELAXED);
			return 0;
		}
	return refuse(row, "is not a valid choice", text, e);
}

static int set_string(const struct attr_row *row, void *field, const char *text, struct err *e)
{
	size_t len = strlen(text), room = (size_t)row->max;
	if (len >= room)
		return refuse(row, "is too long", text, e);
	for (const char *p = text; *p; p++)
		if (iscntrl((unsigned char)*p))
			return refuse(row, "contains a control character", NULL, e);
	memset(field, 0, room);
	memcpy(field, text, len);
	return 0;
}

static const char *bool_range(const struct attr_row *row)
{
	return row->range ? row->range : "0 or 1";
}

int attr_set(const struct attr_row *row, void *base, const char *text, struct err *e)
{
	void *field = field_of(row, base);
	bool is;
	switch (row->type) {
	case ATTR_BOOL:
		if (!parse_bool(text, &is))
			return err_set(e, -EINVAL, "%s: must be %s, not '%.60s'", row->name,
				       bool_range(row), text);
		__atomic_store_n((uint32_t *)field, is, __ATOMIC_RELAXED);
		return 0;
	case ATTR_UINT:
	case ATTR_UINT64:
		return set_unsigned(row, field, text, e);
	case ATTR_INT:
		return set_signed(row, field, text, e);
	case ATTR_ENUM:
		return set_enum(row, field, text, e);
	case ATTR_STRING:
		return set_string(row, field, text, e);
	}
	return refuse(row, "cannot be set", text, e);
}

void attr_defaults(const struct attr_row *rows, void *base)
{
	for (const struct attr_row *row = rows; row && row->name; row++)
		if (row->default_text)
			attr_set(row, base, row->default_text, NULL);
}

size_t attr_get(const struct attr_row *row, const void *base, char *out, size_t size)
{
	const void *field = const_field_of(row, base);
	uint32_t v = 0;
	if (row->type != ATTR_STRING && row->type != ATTR_UINT64)
		v = __atomic_load_n((const uint32_t *)field, __ATOMIC_RELAXED);
	switch (row->type) {
	case ATTR_BOOL:
	case ATTR_UINT:
		snprintf(out, size, "%" PRIu32, v);
		break;
	case ATTR_UINT64:
		snprintf(out, size, "%" PRIu64,
			 __atomic_load_n((const uint64_t *)field, __ATOMIC_RELAXED));
		break;
	case ATTR_INT:
		snprintf(out, size, "%" PRId32, (int32_t)v);
		break;
	case ATTR_ENUM: {
		uint32_t n = 0;
		while (row->choices[n])
			n++;
		snprintf(out, size, "%s", v < n ? row->choices[v] : "");
		break;
	}
	case ATTR_STRING:
		snprintf(out, size, "%.*s", (int)row->max, (const char *)field);
		break;
	}
	return strlen(out);
}

static void range_of_choices(const struct attr_row *row, char *out, size_t size)
{
	size_t used = 0;
	out[0] = 0;
	for (uint32_t i = 0; row->choices[i] && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "|" : "",
					 row->choices[i]);
}

size_t attr_range(const struct attr_row *row, char *out, size_t size)
{
	switch (row->type) {
	case ATTR_BOOL:
		snprintf(out, size, "%s", bool_range(row));
		break;
	case ATTR_UINT:
		snprintf(out, size, "%" PRId64 "..%" PRId64, row->min,
			 row->max ? row->max : (int64_t)UINT32_MAX);
		break;
	case ATTR_UINT64:
		snprintf(out, size, "%" PRIu64 "..%" PRIu64, (uint64_t)row->min,
			 row->max ? (uint64_t)row->max : UINT64_MAX);
		break;
	case ATTR_INT:
		snprintf(out, size, "%" PRId64 "..%" PRId64, row->min, row->max);
		break;
	case ATTR_ENUM:
		range_of_choices(row, out, size);
		break;
	case ATTR_STRING:
		if (row->range)
			snprintf(out, size, "%s", row->range);
		else
			snprintf(out, size, "at most %" PRId64 " characters", row->max - 1);
		break;
	}
	return strlen(out);
}

// "", "b", "k", "kb", "kib", ... "p": the shift, or -1.
static int unit_shift(const char *unit)
{
	static const char letters[] = "kmgtp";
	if (!*unit || !strcasecmp(unit, "b"))
		return 0;
	const char *at = strchr(letters, tolower((unsigned char)*unit));
	if (!at)
		return -1;
	unit++;
	if (*unit && strcasecmp(unit, "b") && strcasecmp(unit, "ib"))
		return -1;
	return 10 * (int)(at - letters + 1);
}

// Parses the digits after the point, as bytes: floor(0.digits * 2^shift). Nine digits are
// enough for any size that people write; more are refused as a typing error.
static bool parse_fraction(const char **text, int shift, uint64_t *ret)
{
	uint64_t digits = 0, scale = 1;
	const char *p = *text;
	for (; isdigit((unsigned char)*p); p++) {
		if (scale >= 1000000000)
			return false;
		digits = digits * 10 + (uint64_t)(*p - '0');
		scale *= 10;
	}
	if (p == *text)
		return false;
	*text = p;
	*ret = (uint64_t)(((unsigned __int128)digits << shift) / scale);
	return true;
}

bool is_uuid(const char *text)
{
	bool is_fine = strlen(text) == 36;
	for (int i = 0; is_fine && i < 36; i++)
		is_fine = i == 8 || i == 13 || i == 18 || i == 23
				  ? text[i] == '-'
				  : isxdigit((unsigned char)text[i]) != 0;
	return is_fine;
}

int parse_size(const char *text, uint64_t *ret, struct err *e)
{
	static const char cure[] =
		"a number, optionally with K, M, G, T or P, such as 512, 10M or 1.5G";
	if (!isdigit((unsigned char)*text))
		return err_set(e, -EINVAL, "size: invalid value '%.60s' (%s)", text, cure);
	char *end;
	errno = 0;
	uint64_t whole = strtoull(text, &end, 10), fraction = 0;
	int overflow = errno;
	const char *unit = end, *digits = end + 1;
	if (*end == '.')
		unit += 1 + strspn(digits, "0123456789");
	int shift = unit_shift(unit);
	if (shift < 0 || (*end == '.' && !parse_fraction(&digits, shift, &fraction)) ||
	    (*end == '.' && !shift))
		return err_set(e, -EINVAL, "size: invalid value '%.60s' (%s)", text, cure);
	if (overflow || (shift && whole >> (64 - shift)))
		return err_set(e, -ERANGE, "size: '%.60s' is too large (must be below 16384P)",
			       text);
	*ret = (whole << shift) + fraction;
	return 0;
}

void format_size(uint64_t bytes, char out[32])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
	if (bytes < 1024) {
		snprintf(out, 32, "%" PRIu64 " bytes", bytes);
		return;
	}
	double v = (double)bytes / 1024;
	size_t i = 0;
	for (; v >= 1024 && i < 4; i++)
		v /= 1024;
	snprintf(out, 32, "%.1f%s", v, units[i]);
}
