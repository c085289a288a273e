// SPDX-License-Identifier: BSD-2-Clause
// iSCSI names: normalises received names, checks the syntax of new ones [RFC 7143 §4.2.7].
#include "transport/iscsi/name.h"

#include <errno.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#include "core/utf8.h"

int iscsi_name_normalize(const char *name, size_t len, char ret[ISCSI_NAME_MAX + 1], struct err *e)
{
	ret[0] = 0;
	if (!len || len > ISCSI_NAME_MAX)
		return err_set(e, -EINVAL, "iSCSI name: invalid length %zu (1 to %d bytes)", len,
			       ISCSI_NAME_MAX);
	const uint8_t *s = (const uint8_t *)name;
	for (size_t i = 0; i < len;) {
		size_t n = utf8_len(s + i, len - i);
		if (!n || s[i] == ' ' || utf8_is_control(s + i, n)) {
			ret[0] = 0;
			return err_set(e, -EINVAL,
				       "iSCSI name: invalid byte 0x%02x at offset %zu (no blanks, "
				       "control characters or malformed UTF-8)",
				       s[i], i);
		}
		for (; n; n--, i++)
			ret[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 0x20 : s[i]);
	}
	ret[len] = 0;
	return 0;
}

static bool is_hex(const char *s, size_t n)
{
	return strlen(s) == n && strspn(s, "0123456789abcdef") == n;
}

// yyyy-mm.domain, not empty before an optional colon.
static bool is_iqn_tail(const char *s)
{
	static const char form[] = "dddd-dd.";
	for (int i = 0; form[i]; i++)
		if (form[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != form[i])
			return false;
	int month = (s[5] - '0') * 10 + s[6] - '0';
	s += sizeof form - 1;
	return month >= 1 && month <= 12 && *s && *s != ':' && *s != '.';
}

// Characters that stringprep permits: letters, digits, "-.:" and non-ASCII.
static bool has_name_characters_only(const char *s)
{
	for (; *s; s++)
		if ((uint8_t)*s < 0x80 && !(*s >= 'a' && *s <= 'z') && !(*s >= '0' && *s <= '9') &&
		    !strchr("-.:", *s))
			return false;
	return true;
}

int iscsi_name_check(const char *name, struct err *e)
{
	if (!has_name_characters_only(name))
		return err_set(e, -EINVAL,
			       "%.100s: invalid character in iSCSI name (letters, digits, '-', '.' "
			       "and ':')",
			       name);
	if (strncmp(name, "iqn.", 4) == 0 && is_iqn_tail(name + 4))
		return 0;
	if (strncmp(name, "eui.", 4) == 0 && is_hex(name + 4, 16))
		return 0;
	if (strncmp(name, "naa.", 4) == 0 && (is_hex(name + 4, 16) || is_hex(name + 4, 32)))
		return 0;
	return err_set(e, -EINVAL,
		       "%.100s: not an iSCSI name (iqn.2003-01.org.example:text, eui. and 16, or "
		       "naa. and 16 or 32 hex digits)",
		       name);
}

int iscsi_name_check_type(const char *name, struct err *e)
{
	static const char *const types[] = { "iqn.", "eui.", "naa." };
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (!strncmp(name, types[i], strlen(types[i])))
			return 0;
	return err_set(e, -EINVAL, "'%.100s' does not start with iqn., eui. or naa.", name);
}

void iscsi_isid_format(const uint8_t isid[ISCSI_ISID_LEN], char ret[ISCSI_ISID_TEXT])
{
	snprintf(ret, ISCSI_ISID_TEXT, "0x%02x%02x%02x%02x%02x%02x", isid[0], isid[1], isid[2],
		 isid[3], isid[4], isid[5]);
}

int iscsi_isid_random(uint8_t ret[ISCSI_ISID_LEN])
{
	if (getrandom(ret, ISCSI_ISID_LEN, 0) != ISCSI_ISID_LEN)
		return errno ? -errno : -EIO;
	ret[0] = (uint8_t)((ret[0] & ~ISCSI_ISID_TYPE_MASK) | ISCSI_ISID_TYPE_RANDOM);
	return 0;
}

int name_iscsi(const char *in, bool is_target, char out[224], struct err *e)
{
	int r = iscsi_name_normalize(in, strlen(in), out, e);
	if (!r && strchr(out, '/'))
		r = err_set(e, -EINVAL, "a name cannot contain /");
	if (!r && is_target)
		r = iscsi_name_check(out, e);
	else if (!r)
		r = iscsi_name_check_type(out, e);
	if (r < 0)
		err_prefix(e, "WWN not valid as: iqn, naa, eui");
	return r;
}
