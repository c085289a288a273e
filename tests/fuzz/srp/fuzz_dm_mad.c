// SPDX-License-Identifier: BSD-2-Clause
// Device management datagrams of anybody on the fabric. The first byte is the number of
// controllers.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/srp/dm_mad.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_zero(const uint8_t *p, size_t len)
{
	while (len && !*p)
		p++, len--;
	return !len;
}

// The controllers are at the end of their memory, so that one beyond them is found.
static void answer(const struct srp_io_unit *u, const uint8_t *mad, size_t len)
{
	struct dm_mad m, r;

	memset(&r, 0xee, sizeof r);
	if (!srp_dm_answer(u, mad, len, &r))
		return;
	if (len != sizeof m)
		abort();
	memcpy(&m, mad, sizeof m);
	if (m.mgmt_class != DM_CLASS || m.method & DM_RESPONSE || !(r.method & DM_RESPONSE))
		abort();
	if (memcmp(r.tid, m.tid, sizeof m.tid) || memcmp(r.modifier, m.modifier, 4))
		abort();
	// What failed tells nothing, and what is reserved is zero.
	if (get_be16(r.status) && !is_zero(r.data, sizeof r.data))
		abort();
	if (!is_zero(r.rsvd3, sizeof r.rsvd3))
		abort();
	if (get_be16(r.attribute) == DM_SERVICE_ENTRIES && !get_be16(r.status) &&
	    memcmp(r.data, "SRP.T10:", 8))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct srp_io_unit u = { .change_id = 1 };

	if (!size)
		return 0;
	u.count = data[0];
	struct srp_controller *c = calloc(u.count, sizeof *c);
	if (!c && u.count)
		return 0;
	for (unsigned i = 0; i < u.count; i++)
		memset(c[i].name, 'x', sizeof c[i].name - i % 2);
	u.controllers = c;
	answer(&u, data + 1, size - 1);
	free(c);
	return 0;
}
