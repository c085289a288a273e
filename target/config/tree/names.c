// SPDX-License-Identifier: BSD-2-Clause
// Names of objects: rules, and generated names.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>

#include "core/attr.h"
#include "core/utf8.h"
#include "target/config/tree/names.h"
#include "target/config/tree/tree.h"

int name_check_storage(const char *name, struct err *e)
{
	size_t len = strlen(name);
	if (!len || len > NAME_MAX_LEN)
		return err_set(e, -EINVAL, "invalid name of a storage object (1 to %d characters)",
			       NAME_MAX_LEN);
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return err_set(e, -EINVAL,
			       "invalid name of a storage object: . and .. are reserved");
	for (size_t i = 0, n; i < len; i += n) {
		const uint8_t *p = (const uint8_t *)name + i;
		n = utf8_len(p, len - i);
		if (!n || *p == '/' || *p == ' ' || utf8_is_control(p, n))
			return err_set(
				e, -EINVAL,
				"invalid name of a storage object: it contains /, newline or "
				"spaces/tabs%s",
				*p < 0x80 && *p >= ' ' ? "" : " (nor control characters)");
	}
	return 0;
}

int name_check_dev(const char *dev, struct err *e)
{
	size_t len = strlen(dev);
	for (size_t i = 0, n; i < len; i += n) {
		const uint8_t *p = (const uint8_t *)dev + i;
		char shown[160];
		n = utf8_len(p, len - i);
		if (n && !utf8_is_control(p, n))
			continue;
		utf8_show(dev, shown, sizeof shown);
		return err_set(e, -EINVAL,
			       "dev: control characters in %s (rename "
			       "it, or link to it by another name)",
			       shown);
	}
	return 0;
}

int name_check_wwn(const char *uuid, struct err *e)
{
	if (is_uuid(uuid))
		return 0;
	return err_set(e, -EINVAL,
		       "wwn: invalid unit serial '%.60s' (a UUID such as "
		       "5b0c3f0e-7c21-4f63-9a0d-2d7e41f0a911)",
		       uuid);
}

// getrandom() of so few bytes neither blocks nor fails once the machine is up; before that it
// waits, which is better than a name that is not unique.
static void random_bytes(uint8_t *out, size_t len)
{
	while (getrandom(out, len, 0) != (ssize_t)len)
		;
}

static void hex(const uint8_t *in, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", in[i]);
}

void name_new_uuid(char out[40])
{
	uint8_t b[16];
	random_bytes(b, sizeof b);
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	char h[33];
	hex(b, sizeof b, h);
	snprintf(out, 40, "%.8s-%.4s-%.4s-%.4s-%.12s", h, h + 8, h + 12, h + 16, h + 20);
}

void name_new_secret(char out[NAME_SECRET_SIZE])
{
	static const char letters[64] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
	uint8_t b[NAME_SECRET_SIZE - 1];
	random_bytes(b, sizeof b);
	for (size_t i = 0; i < sizeof b; i++)
		out[i] = letters[b[i] % sizeof letters];
	out[sizeof b] = 0;
	explicit_bzero(b, sizeof b);
}

void name_new_alias(char out[11])
{
	uint8_t b[5];
	random_bytes(b, sizeof b);
	hex(b, sizeof b, out);
}

// The first label in lower case, without characters that a name cannot contain.
static void label(const char *in, char *out, size_t size)
{
	size_t n = 0;
	for (; *in && *in != '.' && n + 1 < size; in++)
		if (isalnum((unsigned char)*in) || *in == '-')
			out[n++] = (char)tolower((unsigned char)*in);
	out[n] = 0;
	if (!n)
		snprintf(out, size, "localhost");
}

void name_new_iqn(char out[224])
{
	struct utsname u;
	char host[65], machine[65], serial[13];
	uint8_t b[6];
	if (uname(&u) < 0)
		memset(&u, 0, sizeof u);
	label(u.nodename, host, sizeof host);
	label(u.machine, machine, sizeof machine);
	random_bytes(b, sizeof b);
	hex(b, sizeof b, serial);
	snprintf(out, 224, "iqn.2003-01.org.linux-iscsi.%s.%s:sn.%s", host, machine, serial);
}

void name_new_srp_port(char out[224])
{
	char guid[17];
	uint8_t b[8];
	random_bytes(b, sizeof b);
	b[0] = (uint8_t)((b[0] | 2) & ~1); // an EUI-64: local, individual
	hex(b, sizeof b, guid);
	snprintf(out, 224, "ib.fe80000000000000%s", guid);
}
