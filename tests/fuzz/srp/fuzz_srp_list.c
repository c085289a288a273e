// SPDX-License-Identifier: BSD-2-Clause
// The list of discovery as an initiator reads it: what is accepted can be written, and read again
// as the same.
#include <errno.h>

#include "exact.h"
#include "transport/srp/list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_one(struct srp_list_out *o, const struct srp_listed *one, bool is_next)
{
	char name[sizeof "ib." + 2 * SRP_PORT_ID_LEN] = "ib.";
	for (unsigned i = 0; i < SRP_PORT_ID_LEN; i++) {
		name[3 + 2 * i] = "0123456789abcdef"[one->target[i] >> 4];
		name[4 + 2 * i] = "0123456789abcdef"[one->target[i] & 15];
	}
	must(!srp_list_append(o, is_next ? name : NULL, &one->portal));
}

static void write_again(struct srp_list l, uint8_t *page, uint32_t *ret_len)
{
	struct srp_list_out o;
	struct srp_listed one;
	struct err e;
	unsigned count = 0;
	srp_list_begin(&o, page, SRP_LIST_MAX);
	// An address has one form when it is written; 65535 bytes hold fewer of the longest.
	while (o.len < SRP_LIST_MAX / 2 && srp_list_next(&l, &one, &e) > 0) {
		must(tcp_addr_port(&one.portal) && !tcp_addr_is_wildcard(&one.portal));
		write_one(&o, &one, l.count != count);
		count = l.count;
	}
	*ret_len = srp_list_end(&o, l.is_cut);
}

static void must_be_same(struct srp_list a, struct srp_list b)
{
	struct srp_listed one, other;
	struct err e;
	must(a.is_cut == b.is_cut);
	while (srp_list_next(&b, &other, &e) > 0) {
		must(srp_list_next(&a, &one, &e) == 1);
		must(!memcmp(one.target, other.target, sizeof one.target));
		must(!tcp_addr_compare(&one.portal, &other.portal));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t page[SRP_LIST_MAX];
	struct srp_list start, l, again;
	struct srp_listed one;
	struct err e;
	uint32_t len;
	uint8_t *p = exact_copy(data, size);
	int r = srp_list_parse(&start, p, (uint32_t)size, &e);
	if (!r)
		for (l = start; (r = srp_list_next(&l, &one, &e)) > 0;)
			;
	must(!r || r == -EPROTO);
	if (!r) {
		write_again(start, page, &len);
		must(!srp_list_parse(&again, page, len, &e));
		must_be_same(start, again);
	}
	free(p);
	return 0;
}
