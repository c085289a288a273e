// SPDX-License-Identifier: BSD-2-Clause
// Discovery over SRP: the port that it is asked at, and the list of targets as written and as read.
// The format is farblock's own; docs/srp.md describes it.
//
// Pure functions over the caller's bytes: any thread, nothing blocks, nothing allocates. The
// reader trusts nothing: an entry is either of exactly this form or an error.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/tcp/addr.h"
#include "transport/wire/srp.h"

enum {
	SRP_LIST_PAGE = 0xc0, // of vital product data
	SRP_LIST_VERSION = 1,
	SRP_LIST_MAX = 65535, // bytes of a page: what ALLOCATION LENGTH of INQUIRY permits
};

// The TARGET PORT IDENTIFIER of discovery: "farblock" and zeros.
extern const uint8_t srp_list_port[SRP_PORT_ID_LEN];

// ---- writing ----

struct srp_list_out {
	uint8_t *page;
	uint32_t size, len; // bytes; len: used
};

// Begins a page of size bytes, at least sizeof(struct srp_list_page).
void srp_list_begin(struct srp_list_out *o, uint8_t *page, uint32_t size);
// Continues in larger memory, to which the page has been copied.
void srp_list_move(struct srp_list_out *o, uint8_t *page, uint32_t size);
// Appends a target, "ib." and 32 hex digits, with one portal; name NULL: another portal of the last
// one. -ENOSPC: it does not fit, nothing has changed.
int srp_list_append(struct srp_list_out *o, const char *name, const struct tcp_addr *portal);
// Completes the header; is_cut: more is not listed. Returns the length of the page.
uint32_t srp_list_end(struct srp_list_out *o, bool is_cut);

// ---- reading ----

struct srp_list {
	const char *at, *end;
	const char *portal; // the next one of the entry, NULL: none
	unsigned count;	    // entries so far
	uint8_t target[SRP_PORT_ID_LEN];
	bool is_cut; // the target has more
};
struct srp_listed { // a target at one of its portals
	uint8_t target[SRP_PORT_ID_LEN];
	struct tcp_addr portal; // neither a wildcard nor port 0
};

// Begins to read a page of len received bytes, which stay the caller's. -EPROTO: not such a page,
// or shorter than it says.
int srp_list_parse(struct srp_list *ret, const uint8_t *page, uint32_t len, struct err *e);
// 1: *ret is filled. 0: the end. -EPROTO.
int srp_list_next(struct srp_list *l, struct srp_listed *ret, struct err *e);
