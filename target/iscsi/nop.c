// SPDX-License-Identifier: BSD-2-Clause
// NOP-Out and NOP-In: echoes, our own pings, updates of the window. RFC 7143 11.18, 11.19.
#include "target/iscsi/nop.h"

#include <string.h>

#include "target/iscsi/async.h"
#include "target/iscsi/worker.h"
#include "transport/wire/be.h"

static void nop_in(struct conn *c, const uint8_t itt[4], uint32_t ttt, const void *data,
		   uint32_t len, unsigned flags)
{
	struct iscsi_nop_in h = { .opcode = ISCSI_OP_NOP_IN, .flags = ISCSI_F };
	if (itt)
		memcpy(h.itt, itt, 4);
	else
		put_be32(h.itt, ISCSI_TAG_NONE);
	put_be32(h.ttt, ttt);
	conn_send(c, (const uint8_t *)&h, data, len, flags);
}

int nop_out(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs, const uint8_t *data,
	    struct err *e)
{
	const struct iscsi_nop_out *h = (const void *)bhs;
	if (!c->knows_pings) {
		c->knows_pings = true;
		async_held(c);
	}
	if (get_be32(h->itt) == ISCSI_TAG_NONE) {
		c->is_ping_out = false; // the answer to ours
		return 0;
	}
	uint32_t len = pdu->data_len;
	len = len < c->params.max_send_data ? len : c->params.max_send_data;
	nop_in(c, h->itt, ISCSI_TAG_NONE, data, len, DM_ADVANCES);
	return 0;
}

void nop_ping(struct conn *c)
{
	uint32_t ttt = conn_next_ttt(c);
	c->is_ping_out = true;
	c->ping_ns = worker_now(c->session.worker);
	nop_in(c, NULL, ttt, NULL, 0, 0);
}

void nop_window(struct conn *c)
{
	nop_in(c, NULL, ISCSI_TAG_NONE, NULL, 0, 0);
}
