// SPDX-License-Identifier: BSD-2-Clause
// SendTargets responses and TargetAddress values [RFC 7143 App. C, §13.8].
#include "transport/iscsi/sendtargets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/iscsi/name.h"

// Letters, digits, "-._:%": no character with a meaning to a shell or a log.
static bool is_host(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= 'A' && s[i] <= 'Z') &&
		    !(s[i] >= '0' && s[i] <= '9') && (!s[i] || !strchr("-._:%", s[i])))
			return false;
	return n >= 1 && n <= ISCSI_HOST_MAX;
}

static int bad_address(const char *value, const char *cause, struct err *e)
{
	return err_set(e, -EINVAL, "invalid address '%.100s': %s (host[:port])", value, cause);
}

// Splits off the host; the rest begins with ':', ',' or the end.
static const char *take_host(const char *value, struct iscsi_address *ret)
{
	bool is_bracketed = *value == '[';
	const char *host = value + is_bracketed;
	size_t n = strcspn(host, is_bracketed ? "]" : ":,");
	if (!is_host(host, n) || (is_bracketed && host[n] != ']'))
		return NULL;
	memcpy(ret->host, host, n);
	ret->host[n] = 0;
	return host + n + is_bracketed;
}

// A decimal number that ends at end; an address has no hexadecimal numbers.
static int take_number(const char **at, char end, uint64_t lo, uint16_t *ret)
{
	char digits[8];
	size_t n = strspn(*at, "0123456789");
	uint64_t v;
	if (!n || n >= sizeof digits || ((*at)[n] && (*at)[n] != end))
		return -EINVAL;
	memcpy(digits, *at, n);
	digits[n] = 0;
	if (text_number(digits, lo, UINT16_MAX, &v))
		return -EINVAL;
	*ret = (uint16_t)v;
	*at += n;
	return 0;
}

int iscsi_address_parse(const char *value, struct iscsi_address *ret, struct err *e)
{
	*ret = (struct iscsi_address){ .port = ISCSI_PORT };
	const char *at = take_host(value, ret);
	if (!at)
		return bad_address(value, "host is missing", e);
	if (*at == ':') {
		at++;
		if (take_number(&at, ',', 1, &ret->port))
			return bad_address(value, "port must be 1 to 65535", e);
		ret->has_port = true;
	}
	if (*at == ',') {
		at++;
		if (take_number(&at, 0, 0, &ret->tpgt))
			return bad_address(value, "portal group tag must be 0 to 65535", e);
		ret->has_tpgt = true;
	}
	return *at ? bad_address(value, "unexpected text at the end", e) : 0;
}

int iscsi_address_format(const struct iscsi_address *a, char *ret, size_t size)
{
	bool is_v6 = strchr(a->host, ':');
	char tag[8] = "";
	if (a->has_tpgt)
		snprintf(tag, sizeof tag, ",%u", a->tpgt);
	int n = snprintf(ret, size, "%s%s%s:%u%s", is_v6 ? "[" : "", a->host, is_v6 ? "]" : "",
			 a->port, tag);
	return n < 0 || (size_t)n >= size ? -ENOSPC : 0;
}

int sendtargets_append_name(struct text_out *o, const char *target_name)
{
	return text_append(o, "TargetName", target_name);
}

int sendtargets_append_address(struct text_out *o, const char *host, uint16_t port, uint16_t tpgt)
{
	struct iscsi_address a = { .port = port, .has_tpgt = true, .tpgt = tpgt };
	char value[ISCSI_HOST_MAX + 20];
	if (!is_host(host, strlen(host)))
		return -EINVAL;
	memcpy(a.host, host, strlen(host) + 1);
	int rc = iscsi_address_format(&a, value, sizeof value);
	return rc ? rc : text_append(o, "TargetAddress", value);
}

void sendtargets_iter_init(struct sendtargets_iter *it, const void *text, size_t len)
{
	*it = (struct sendtargets_iter){ 0 };
	text_iter_init(&it->text, text, len);
}

static void fill(struct sendtargets_iter *it, struct sendtargets_record *ret)
{
	*ret = (struct sendtargets_record){ 0 };
	memcpy(ret->target_name, it->name, sizeof ret->target_name);
	it->is_name_pending = false;
}

int sendtargets_next(struct sendtargets_iter *it, struct sendtargets_record *ret, struct err *e)
{
	struct text_pair pair;
	int rc;
	while ((rc = text_next(&it->text, &pair)) > 0) {
		if (text_key_is(&pair, "TargetName")) {
			bool has_bare = it->is_name_pending;
			if (has_bare)
				fill(it, ret);
			if (iscsi_name_normalize(pair.value, pair.value_len, it->name, e))
				return -EPROTO;
			it->is_name_pending = true;
			if (has_bare)
				return 1;
		} else if (text_key_is(&pair, "TargetAddress")) {
			if (!it->name[0])
				return err_set(e, -EPROTO,
					       "SendTargets: TargetAddress without a TargetName");
			fill(it, ret);
			ret->has_address = true;
			if (!iscsi_address_parse(pair.value, &ret->address, e))
				return 1;
			err_prefix(e, "SendTargets: TargetAddress");
			return -EPROTO;
		} else {
			return err_set(e, -EPROTO, "SendTargets: unexpected key %.*s",
				       (int)pair.key_len, pair.key);
		}
	}
	if (rc < 0)
		return err_set(e, -EPROTO, "SendTargets: malformed text");
	if (!it->is_name_pending)
		return 0;
	fill(it, ret);
	return 1;
}
