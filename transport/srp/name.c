// SPDX-License-Identifier: BSD-2-Clause
#include "transport/srp/name.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// The hex digits of text without "ib.", "0x", "-" and ":"; returns their number, or -1.
static int hex_digits(const char *text, char out[33])
{
	int n = 0;
	if (!strncasecmp(text, "ib.", 3))
		text += 3;
	else if (!strncasecmp(text, "0x", 2))
		text += 2;
	for (; *text; text++) {
		if (*text == ':' || *text == '-')
			continue;
		if (!isxdigit((unsigned char)*text) || n == 32)
			return -1;
		out[n++] = (char)tolower((unsigned char)*text);
	}
	out[n] = 0;
	return n;
}

int name_srpt_target(const char *in, char out[SRP_NAME_MAX + 1], struct err *e)
{
	char hex[33];
	int n = hex_digits(in, hex);
	if (n != 32 && n != 16)
		return err_set(e, -EINVAL,
			       "WWN not valid as: ib: '%.100s' (ib. and the 32 hex digits of a "
			       "port's GID, or the 16 of its GUID)",
			       in);
	// A port's first GID is the link-local prefix and its GUID [IBA 4.1.1].
	snprintf(out, SRP_NAME_MAX + 1, "ib.%s%s", n == 16 ? "fe80000000000000" : "", hex);
	return 0;
}

// Written as a port's GUID or id is: colons after every 2 or every 4 digits. An IPv6 address
// without a shorter spelling is taken for a port id.
static bool has_even_groups(const char *text)
{
	size_t first = strcspn(text, ":");
	if (!text[first] || (first != 2 && first != 4))
		return false;
	while (text[first] == ':') {
		text += first + 1;
		if (strcspn(text, ":") != first)
			return false;
	}
	return true;
}

static bool is_ip6(const char *in)
{
	struct in6_addr ip6;
	return inet_pton(AF_INET6, in, &ip6) == 1 && !has_even_groups(in);
}

// The address of one initiator, as connections report it. 0, 1 if it is no address, or -EINVAL.
static int address(const char *in, char out[SRP_NAME_MAX + 1], struct err *e)
{
	struct in6_addr ip6;
	struct in_addr ip4;
	bool is_4 = inet_pton(AF_INET, in, &ip4) == 1;
	if (!is_4 && inet_pton(AF_INET6, in, &ip6) != 1)
		return 1;
	if (!is_4 && IN6_IS_ADDR_V4MAPPED(&ip6)) {
		memcpy(&ip4, &ip6.s6_addr[12], sizeof ip4);
		is_4 = true;
	}
	if (is_4 ? !ip4.s_addr || IN_MULTICAST(ntohl(ip4.s_addr))
		 : IN6_IS_ADDR_UNSPECIFIED(&ip6) || IN6_IS_ADDR_MULTICAST(&ip6))
		return err_set(e, -EINVAL, "'%.100s' is not the address of an initiator", in);
	if (is_4)
		inet_ntop(AF_INET, &ip4, out, SRP_NAME_MAX + 1);
	else
		inet_ntop(AF_INET6, &ip6, out, SRP_NAME_MAX + 1);
	if (has_even_groups(out))
		return err_set(e, -EINVAL, "'%.100s' is ambiguous: '%s' is a port's name too", in,
			       out);
	return 0;
}

int name_srpt_initiator(const char *in, char out[SRP_NAME_MAX + 1], struct err *e)
{
	char hex[33];
	int n = is_ip6(in) ? -1 : hex_digits(in, hex); // "fe80::1122:3344:5566" has 16, too
	if (n == 32)
		return snprintf(out, SRP_NAME_MAX + 1, "ib.%s", hex), 0;
	if (n == 16) // matches every initiator port of that GUID
		return snprintf(out, SRP_NAME_MAX + 1, "%.4s:%.4s:%.4s:%.4s", hex, hex + 4, hex + 8,
				hex + 12),
		       0;
	n = address(in, out, e);
	if (n <= 0)
		return n;
	return err_set(e, -EINVAL,
		       "WWN not valid as: ib: '%.100s' (ib. and the 32 hex digits of an initiator "
		       "port id, the 16 of a port GUID, or an IP address)",
		       in);
}
