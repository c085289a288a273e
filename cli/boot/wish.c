// SPDX-License-Identifier: BSD-2-Clause
// boot-info: what the user asks for: a portal, a machine's network adapter.
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "cli/boot/boot.h"

enum { MAC_TEXT = 17, GROUP_BIT = 1 };

// Six pairs of digits with colons. dnsmasq takes more, such as wildcards: those are several
// machines.
static int take_mac(struct boot *b, const char *text, struct err *e)
{
	static const char none[] = "00:00:00:00:00:00";
	unsigned first = 0;
	size_t n = strlen(text);
	bool is_right = n == MAC_TEXT;
	for (size_t i = 0; is_right && i < n; i++)
		is_right = i % 3 == 2 ? text[i] == ':' : isxdigit((unsigned char)text[i]);
	if (!is_right)
		return err_set(e, -EINVAL, "mac: '%.40s' is not of the form 52:54:00:12:34:56",
			       text);
	for (size_t i = 0; i <= n; i++)
		b->mac[i] = (char)tolower((unsigned char)text[i]);
	sscanf(b->mac, "%2x", &first);
	if (first & GROUP_BIT || !strcmp(b->mac, none))
		return err_set(e, -EINVAL, "mac: '%s' is not the address of one adapter", b->mac);
	return 0;
}

int boot_take_wish(struct boot *b, const struct boot_wish *w, struct err *e)
{
	b->wish = w;
	b->has_portal = w->portal;
	int r = w->portal ? tcp_addr_parse(&b->portal, w->portal, 0, e) : 0;
	if (r < 0)
		return err_prefix(e, "portal"), r;
	return w->mac ? take_mac(b, w->mac, e) : 0;
}

bool boot_wants_address(const struct boot *b, const struct tcp_addr *a)
{
	return !b->has_portal || tcp_addr_same_ip(&b->portal, a);
}

bool boot_wants(const struct boot *b, const struct tcp_addr *a)
{
	uint16_t port = b->has_portal ? tcp_addr_port(&b->portal) : 0;
	return boot_wants_address(b, a) && (!port || port == tcp_addr_port(a));
}

void boot_keep_known(struct boot *b, const struct tcp_addr *a)
{
	char text[TCP_ADDR_TEXT];
	size_t n = strlen(b->known);
	tcp_addr_format(a, text);
	if (n + strlen(text) + 2 < sizeof b->known)
		snprintf(b->known + n, sizeof b->known - n, "%s%s", n ? ", " : "", text);
}

int boot_refuse_portal(const struct boot *b, struct err *e)
{
	return err_set(e, -ENOENT, "%.60s is not at '%.40s', but at: %s", b->target,
		       b->wish->portal, *b->known ? b->known : "no address");
}

// Of the end of the name, which is for humans, and the adapter's address: names that differ in
// punctuation alone must not have one tag, by which two machines would get both disks.
void boot_tag(const struct boot *b, char ret[BOOT_TAG_SIZE])
{
	const char *name = b->is_known ? b->initiator : b->target, *colon = strrchr(name, ':');
	char *to = ret, *end = ret + BOOT_NAME_SIZE;
	for (const char *p = colon && colon[1] ? colon + 1 : name; *p && to < end; p++)
		*to++ = isalnum((unsigned char)*p) ? *p : '-';
	*to++ = '-';
	for (const char *p = b->mac; *p; p++)
		if (*p != ':')
			*to++ = *p;
	*to = 0;
}
