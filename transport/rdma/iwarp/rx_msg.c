// SPDX-License-Identifier: BSD-2-Clause
// Handles segments: the destination of their payload, and the action when it is complete. One row
// per RDMAP opcode. RFC 5040 4 to 6, RFC 5041 5 and 7.
#include <errno.h>
#include <string.h>

#include "transport/rdma/iwarp/iw_priv.h"

// --- sends [RFC 5040 5.1, RFC 5041 5.3] ---

static bool invalidates(uint8_t opcode)
{
	return opcode == RDMAP_SEND_INVALIDATE || opcode == RDMAP_SEND_SE_INVALIDATE;
}

static unsigned send_begin(struct iw_qp *qp)
{
	const struct ddp_segment *s = &qp->seg;
	uint32_t have = qp->rx ? qp->rx_len : 0;

	if (s->msn != qp->send_msn_in)
		return TERM_DDP_MSN;
	if (s->mo != have)
		return TERM_DDP_MO;
	if (have && s->opcode != qp->rx_opcode)
		return TERM_RDMAP_OPCODE;
	if (s->len > RNIC_RX_SIZE - have)
		return TERM_DDP_TOO_LONG;
	if (!iw_open_buffer(qp)) {
		qp->is_stalled = true;
		return 0;
	}
	qp->rx_opcode = s->opcode;
	qp->flat = (struct rnic_sge){ .addr = qp->rx->data + have, .len = s->len };
	iw_cursor_set(&qp->sink, &qp->flat, 1, 0);
	return 0;
}

static unsigned send_end(struct iw_qp *qp)
{
	struct rnic_rx *rx = qp->rx;

	qp->rx_len += qp->seg.len;
	if (!qp->seg.is_last)
		return 0;
	rx->len = qp->rx_len;
	rx->is_scarce = qp->dev->rx.out > qp->dev->rx.limit / 2;
	rx->is_invalidated = invalidates(qp->seg.opcode);
	rx->invalidated_rkey = rx->is_invalidated ? qp->seg.invalidate : 0;
	if (rx->is_invalidated) {
		struct iw_stag *s =
			iw_stag_invalidatable(&qp->dev->stags, qp, rx->invalidated_rkey);
		if (!s)
			return TERM_RDMAP_INVALIDATE;
		iw_unexpose(qp, s);
	}
	qp->rx = NULL;
	qp->rx_len = 0;
	qp->send_msn_in++;
	qp->qp.ops->received(&qp->qp, rx);
	return 0;
}

// --- tagged [RFC 5040 5.3, RFC 5041 5.2] ---

// The DDP layer has other codes for errors of tagged segments, and none for missing rights, which
// are checked by RDMAP.
static unsigned tagged_code(unsigned code)
{
	static const struct {
		unsigned rdmap, ddp;
	} codes[] = {
		{TERM_RDMAP_STAG,	   TERM_DDP_STAG	 },
		{ TERM_RDMAP_BOUNDS,  TERM_DDP_BOUNDS },
		{ TERM_RDMAP_STREAM,  TERM_DDP_STREAM },
		{ TERM_RDMAP_TO_WRAP, TERM_DDP_TO_WRAP},
	};

	for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].rdmap == code)
			return codes[i].ddp;
	return code;
}

static unsigned write_begin(struct iw_qp *qp)
{
	const struct ddp_segment *s = &qp->seg;
	struct iw_stag *stag;

	if (!s->len)
		return 0; // nothing is placed, the STag is not checked
	unsigned code = iw_stag_check(&qp->dev->stags, qp, s->stag, s->to, s->len,
				      RNIC_REMOTE_WRITE, &stag);
	if (code)
		return tagged_code(code);
	qp->sink_stag = stag;
	iw_cursor_set(&qp->sink, stag->nsge > 1 ? stag->sge : &stag->one, stag->nsge,
		      s->to - stag->base);
	uint64_t end = s->to - stag->base + s->len;
	stag->high = end > stag->high ? end : stag->high;
	stag->moved += s->len;
	return 0;
}

static unsigned write_end(struct iw_qp *qp)
{
	return 0;
}

static struct rnic_wr *oldest_read(const struct iw_qp *qp)
{
	struct list *l = list_first(&qp->reads);

	return l ? list_entry(l, struct rnic_wr, link) : NULL;
}

// Responses arrive in the order of the requests, each without gaps [RFC 5040 5.2].
static unsigned response_begin(struct iw_qp *qp)
{
	const struct ddp_segment *s = &qp->seg;
	struct rnic_wr *wr = oldest_read(qp);

	if (!wr)
		return TERM_RDMAP_OPCODE;
	uint64_t have = wr->scratch[IW_WR_SENT];
	if (wr->bytes && s->stag != wr->scratch[IW_WR_STAG])
		return TERM_DDP_STAG;
	if ((wr->bytes && s->to != have) || s->len > wr->bytes - have ||
	    s->is_last != (s->len == wr->bytes - have))
		return TERM_DDP_BOUNDS;
	if (wr->bytes)
		iw_cursor_set(&qp->sink, wr->sge, wr->nsge, have);
	return 0;
}

static unsigned response_end(struct iw_qp *qp)
{
	struct rnic_wr *wr = oldest_read(qp);

	wr->scratch[IW_WR_SENT] += qp->seg.len;
	if (!qp->seg.is_last)
		return 0;
	list_remove(&wr->link);
	qp->large_sinks -= wr->bytes > IW_SMALL;
	rnic_wr_done(wr, 0);
	return 0;
}

// --- read requests [RFC 5040 5.2] ---

static unsigned request_begin(struct iw_qp *qp)
{
	const struct ddp_segment *s = &qp->seg;

	if (s->msn != qp->read_msn_in)
		return TERM_DDP_MSN;
	if (s->mo)
		return TERM_DDP_MO;
	if (!s->is_last)
		return TERM_DDP_TOO_LONG;
	// More than negotiated: their queue has no buffer for it.
	return qp->irq_count < qp->irq_room ? 0 : TERM_DDP_NO_BUFFER;
}

static unsigned request_end(struct iw_qp *qp)
{
	const struct ddp_segment *s = &qp->seg;
	struct iw_stag *source = NULL;

	if (s->read_len) {
		unsigned code = iw_stag_check(&qp->dev->stags, qp, s->source_stag, s->source_to,
					      s->read_len, RNIC_REMOTE_READ, &source);
		if (code)
			return code;
		if (s->read_len > UINT64_MAX - s->sink_to)
			return TERM_RDMAP_TO_WRAP;
		source->moved += s->read_len;
	}
	qp->irq[(qp->irq_head + qp->irq_count++) % qp->irq_room] = (struct iw_response){
		.source = source,
		.source_stag = s->source_stag,
		.offset = source ? s->source_to - source->base : 0,
		.sink_stag = s->sink_stag,
		.sink_to = s->sink_to,
		.len = s->read_len,
	};
	qp->read_msn_in++;
	iw_tx_soon(qp);
	return 0;
}

// --- terminate [RFC 5040 4.8] ---

static unsigned terminate_begin(struct iw_qp *qp)
{
	if (qp->seg.len < TERM_CONTROL_LEN)
		return TERM_MPA_LENGTH;
	qp->flat = (struct rnic_sge){ .addr = qp->term, .len = sizeof qp->term };
	iw_cursor_set(&qp->sink, &qp->flat, 1, 0); // the rest is discarded
	return 0;
}

static unsigned terminate_end(struct iw_qp *qp)
{
	bool is_read;
	unsigned code = term_decode(qp->term, &is_read);
	struct err e;

	if (term_is_access(code) && is_read)
		qp->read_error = -EACCES;
	err_set(&e, term_is_access(code) ? -EACCES : -ECONNRESET,
		"iwarp: peer terminated the connection: %s (layer %u, type %u, code 0x%02x)",
		term_text(code), code >> 12, code >> 8 & 15, code & 255);
	iw_end(qp, &e);
	return 0;
}

static const struct {
	unsigned (*begin)(struct iw_qp *qp);
	unsigned (*end)(struct iw_qp *qp);
} rows[] = {
	[RDMAP_WRITE] = {write_begin,      write_end	 },
	[RDMAP_READ_REQUEST] = { request_begin,	request_end  },
	[RDMAP_READ_RESPONSE] = { response_begin,  response_end },
	[RDMAP_SEND] = { send_begin,	     send_end     },
	[RDMAP_SEND_INVALIDATE] = { send_begin,	send_end	 },
	[RDMAP_SEND_SE] = { send_begin,	send_end	 },
	[RDMAP_SEND_SE_INVALIDATE] = { send_begin,	   send_end	    },
	[RDMAP_TERMINATE] = { terminate_begin, terminate_end},
};

unsigned iw_segment_begin(struct iw_qp *qp)
{
	unsigned code = ddp_decode(qp->rx_header, &qp->seg);

	return code ? code : rows[qp->seg.opcode].begin(qp);
}

unsigned iw_segment_end(struct iw_qp *qp)
{
	return rows[qp->seg.opcode].end(qp);
}
