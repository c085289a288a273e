// SPDX-License-Identifier: BSD-2-Clause
#include "transport/srp/list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/wire/be.h"

#define NAME_LEN  (3 + 2 * SRP_PORT_ID_LEN) // "ib." and the digits
#define ENTRY_MAX (NAME_LEN + 1 + TCP_ADDR_TEXT)

const uint8_t srp_list_port[SRP_PORT_ID_LEN] = "farblock";

// --- writing ---

void srp_list_begin(struct srp_list_out *o, uint8_t *page, uint32_t size)
{
	struct srp_list_page *h = (void *)page;
	*h = (struct srp_list_page){ .type = SRP_LIST_TYPE,
				     .page_code = SRP_LIST_PAGE,
				     .version = SRP_LIST_VERSION };
	memcpy(h->signature, srp_list_port, sizeof h->signature);
	srp_list_move(o, page, size);
	o->len = sizeof *h;
}

void srp_list_move(struct srp_list_out *o, uint8_t *page, uint32_t size)
{
	o->page = page;
	o->size = size < SRP_LIST_MAX ? size : SRP_LIST_MAX;
}

int srp_list_append(struct srp_list_out *o, const char *name, const struct tcp_addr *portal)
{
	char address[TCP_ADDR_TEXT], text[ENTRY_MAX];
	struct tcp_addr a = *portal;
	if (a.sa.sa_family == AF_INET6)
		a.in6.sin6_scope_id = 0; // an interface of this machine, unknown to the peer
	int n = snprintf(text, sizeof text, "%.*s%c%s", NAME_LEN, name ? name : "",
			 name ? ' ' : ',', tcp_addr_format(&a, address));
	// A further portal takes the place of the NUL.
	uint64_t at = name ? o->len : o->len - 1, end = at + (uint64_t)n + 1;
	if (end > o->size)
		return -ENOSPC;
	memcpy(o->page + at, text, (size_t)n + 1);
	o->len = (uint32_t)end;
	return 0;
}

uint32_t srp_list_end(struct srp_list_out *o, bool is_cut)
{
	struct srp_list_page *h = (void *)o->page;
	put_be16(h->page_len, (uint16_t)(o->len - offsetof(struct srp_list_page, signature)));
	h->flags = is_cut ? SRP_LIST_CUT : 0;
	return o->len;
}

// --- reading ---

int srp_list_parse(struct srp_list *ret, const uint8_t *page, uint32_t len, struct err *e)
{
	const struct srp_list_page *h = (const void *)page;
	if (len < sizeof *h || h->page_code != SRP_LIST_PAGE ||
	    memcmp(h->signature, srp_list_port, sizeof h->signature))
		return err_set(e, -EPROTO, "discovery: the answer is not farblock's list");
	if (h->version != SRP_LIST_VERSION)
		return err_set(e, -EPROTO, "discovery: list of version %u (only %u is known)",
			       h->version, SRP_LIST_VERSION);
	uint64_t said = (uint64_t)get_be16(h->page_len) + offsetof(struct srp_list_page, signature);
	if (said < sizeof *h || said > len)
		return err_set(e, -EPROTO, "discovery: list of %u bytes of which %u have come",
			       (unsigned)said, len);
	*ret = (struct srp_list){ .at = (const char *)page + sizeof *h,
				  .end = (const char *)page + said,
				  .is_cut = h->flags & SRP_LIST_CUT };
	return 0;
}

static int bad_entry(const struct srp_list *l, const char *cause, struct err *e)
{
	return err_set(e, -EPROTO, "discovery: entry %u: %s", l->count, cause);
}

// The value of a hex digit as it is written: lower case. -1: none.
static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The name at the begin of an entry of len bytes, and the blank behind it.
static bool take_name(const char *entry, size_t len, uint8_t ret[SRP_PORT_ID_LEN])
{
	if (len <= NAME_LEN || memcmp(entry, "ib.", 3) || entry[NAME_LEN] != ' ')
		return false;
	for (unsigned i = 0; i < SRP_PORT_ID_LEN; i++) {
		int high = digit(entry[3 + 2 * i]), low = digit(entry[4 + 2 * i]);
		if (high < 0 || low < 0)
			return false;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

// Address and port, both given; no interface, which would be one of the target's.
static bool take_portal(const char *from, size_t len, struct tcp_addr *ret)
{
	char text[TCP_ADDR_TEXT];
	if (len >= sizeof text)
		return false;
	memcpy(text, from, len);
	text[len] = 0;
	return !strchr(text, '%') && !tcp_addr_parse(ret, text, 0, NULL) && tcp_addr_port(ret) &&
	       !tcp_addr_is_wildcard(ret);
}

int srp_list_next(struct srp_list *l, struct srp_listed *ret, struct err *e)
{
	if (!l->portal && l->at == l->end)
		return 0;
	if (!l->portal) {
		const char *nul = memchr(l->at, 0, (size_t)(l->end - l->at));
		l->count++;
		if (!nul)
			return bad_entry(l, "it has no end", e);
		if (!take_name(l->at, (size_t)(nul - l->at), l->target))
			return bad_entry(l, "no target's name", e);
		l->portal = l->at + NAME_LEN + 1;
		l->at = nul + 1;
	}
	size_t len = strcspn(l->portal, ",");
	if (!take_portal(l->portal, len, &ret->portal))
		return bad_entry(l, "invalid portal", e);
	memcpy(ret->target, l->target, sizeof ret->target);
	l->portal = l->portal[len] ? l->portal + len + 1 : NULL;
	return 1;
}
