// SPDX-License-Identifier: BSD-2-Clause
// Plans where the bytes of the next receive go. RFC 5044 4, RFC 5041 4.
//
// Payload is received in place. While no large payload can arrive (no read or exposure above
// IW_SMALL), a receive also reads ahead into the device's scratch, and small payload is copied from
// there; else it ends with the first bytes of the next header. In the response to a read it
// continues after those with the expected payload, again in place: its segments have one size,
// except the last. The same applies to a write to exposed scratch, which most peers fill. A wrong
// prediction is detected by the headers.
#include "transport/rdma/iwarp/rx_plan.h"

// A send of the size of a header, which follows a write, and IW_RX_AHEAD.
#define AHEAD_OF_SEND (20 + 76 + MPA_CRC_LEN + IW_RX_AHEAD)
#define PREDICTED     (1u << 20) // limit of predicted bytes in one receive

void iw_check_sink(struct iw_qp *qp)
{
	if (!qp->sink_stag || iw_stag_holds(qp->sink_stag, qp, qp->seg.stag))
		return;
	qp->sink_stag = NULL;
	qp->sink = (struct iw_cursor){ 0 };
}

static void plan_add(struct iw_plan *plan, void *base, uint32_t len)
{
	plan->is_scratch[plan->count] = false;
	plan->iov[plan->count++] = (struct iovec){ base, len };
	plan->asked += len;
}

static void plan_scratch(struct iw_plan *plan, uint32_t len)
{
	plan_add(plan, plan->scratch, len);
	plan->is_scratch[plan->count - 1] = true;
	plan->scratch += len;
}

// Returns how many of the left bytes fit.
static uint32_t plan_sink(struct iw_plan *plan, struct iw_cursor *sink, uint32_t left)
{
	uint32_t placed = 0;
	uint8_t *to;

	while (placed < left && plan->count < IW_RX_IOV) {
		uint32_t n = iw_cursor_next(sink, left - placed, &to);
		if (!n)
			break;
		plan_add(plan, to, n);
		placed += n;
	}
	return placed;
}

// How many bytes should follow the current segment in its message. It is not known how much of the
// exposed memory a write will fill, and the rest must not change, unless it is scratch without data
// after this segment.
static uint64_t predict(const struct iw_qp *qp)
{
	const struct ddp_segment *s = &qp->seg;

	if (s->is_last || qp->is_irregular)
		return 0;
	if (s->opcode == RDMAP_READ_RESPONSE) {
		const struct rnic_wr *wr = list_entry(list_first(&qp->reads), struct rnic_wr, link);
		return wr->bytes - wr->scratch[IW_WR_SENT] - s->len;
	}
	const struct iw_stag *stag = qp->sink_stag;
	uint64_t end = stag ? s->to - stag->base + s->len : 0;
	if (s->opcode != RDMAP_WRITE || !stag || !stag->is_scratch || stag->high != end)
		return 0;
	return stag->len - end;
}

// The segments that should follow the current one, whose payload sink has just consumed.
static void plan_next_segments(struct iw_qp *qp, struct iw_plan *plan, struct iw_cursor *sink)
{
	const struct ddp_segment *s = &qp->seg;
	uint64_t left = predict(qp);
	uint32_t tail = s->tail_len;

	if (!left)
		return;
	while (left && plan->asked < PREDICTED && plan->count + 2 < IW_RX_IOV) {
		uint32_t len = left < s->len ? (uint32_t)left : s->len;
		plan_scratch(plan, tail + IW_RX_AHEAD);
		// The rest is left for the next receive if not all of it fits.
		if (plan_sink(plan, sink, len) < len)
			return;
		tail = (-(len + DDP_TAGGED_LEN + MPA_LENGTH_LEN) & 3) + MPA_CRC_LEN;
		left -= len;
	}
	plan_scratch(plan,
		     tail + (s->opcode == RDMAP_WRITE && !left ? AHEAD_OF_SEND : IW_RX_AHEAD));
}

// The destination of a send's payload is known before its header is complete: one receive can take
// header, payload, tail and the next header. The header then shows whether the prediction was
// right.
static bool plan_send(struct iw_qp *qp, struct iw_plan *plan)
{
	if (qp->rx_need == IW_RX_FIRST || qp->seg.is_tagged || qp->seg.opcode < RDMAP_SEND ||
	    qp->seg.opcode > RDMAP_SEND_SE_INVALIDATE || !iw_open_buffer(qp) ||
	    qp->seg.len > RNIC_RX_SIZE - qp->rx_len)
		return false;
	plan->header = qp->rx_need - qp->rx_have;
	plan_add(plan, qp->rx_header + qp->rx_have, plan->header);
	if (qp->seg.len)
		plan_add(plan, qp->rx->data + qp->rx_len, qp->seg.len);
	return true;
}

static void plan_data(struct iw_qp *qp, struct iw_plan *plan, uint32_t ahead)
{
	struct iw_cursor sink;

	iw_check_sink(qp);
	sink = qp->sink;
	plan->in_place = plan_sink(plan, &sink, qp->data_left);
	if (!plan->in_place) {
		plan_scratch(plan, qp->data_left); // discarded
		return;
	}
	if (plan->in_place < qp->data_left)
		return; // more pieces than one receive takes
	if (qp->large_sinks)
		plan_next_segments(qp, plan, &sink);
	if (plan->in_place == plan->asked) // nothing was predicted
		plan_scratch(plan, qp->seg.tail_len + ahead);
}

void iw_plan_make(struct iw_qp *qp, struct iw_plan *plan)
{
	uint32_t ahead = qp->large_sinks ? IW_RX_AHEAD : IW_SCRATCH / 2;

	plan->count = 0;
	plan->header = plan->in_place = plan->asked = 0;
	plan->scratch = qp->dev->scratch;
	switch (qp->rx_state) {
	case IW_RX_HEADER:
		if (qp->large_sinks && plan_send(qp, plan))
			ahead += qp->seg.tail_len;
		else if (qp->large_sinks)
			ahead = (qp->rx_need > IW_RX_FIRST ? qp->rx_need : IW_RX_AHEAD) -
				qp->rx_have;
		plan_scratch(plan, ahead);
		break;
	case IW_RX_DATA:
		plan_data(qp, plan, ahead);
		break;
	case IW_RX_TAIL:
		plan_scratch(plan, qp->rx_need - qp->rx_have + ahead);
		break;
	}
}
