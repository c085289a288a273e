// SPDX-License-Identifier: BSD-2-Clause
// Turns requests and responses into segments, as many as one sendmsg takes, payload directly
// from its memory. RFC 5044 4.1, RFC 5040 5.
//
// A message is sent completely before the next one starts. Requests and responses take turns, but
// several of a kind at a time: the peer receives a run of responses in place, and a run of small
// sends with one receive.
#include "transport/rdma/iwarp/tx_batch.h"

#include <string.h>

#include "transport/rdma/iwarp/crc.h"

#define RUN	    32	       // messages of one kind before the other has its turn
#define BATCH_BYTES (4u << 20) // a socket rarely takes more

static struct rnic_wr *wr_of(struct iw_batch *b)
{
	return list_entry(b->wr, struct rnic_wr, link);
}

static struct iw_response *response_of(struct iw_batch *b)
{
	struct iw_qp *qp = b->qp;

	return &qp->irq[(qp->irq_head + b->response) % qp->irq_room];
}

// Whether the peer may still read the memory of a response.
static bool is_gone(const struct iw_batch *b, const struct iw_response *r)
{
	return r->len && !iw_stag_holds(r->source, b->qp, r->source_stag);
}

// --- pieces ---

void iw_batch_add(struct iw_batch *b, uint8_t *p, uint32_t len)
{
	struct iovec *last = b->count ? &b->iov[b->count - 1] : NULL;

	b->bytes += len;
	if (last && (uint8_t *)last->iov_base + last->iov_len == p) {
		last->iov_len += len; // the tail of one frame, the head of the next
		return;
	}
	b->iov[b->count++] = (struct iovec){ p, len };
}

// How many of the next len bytes fit into the vector, with head and tail.
static uint32_t fitting(const struct iw_batch *b, uint32_t len)
{
	struct iw_cursor c = b->cursor;
	uint32_t fits = 0;
	uint8_t *p;

	for (unsigned i = b->count + 2; i < IW_TX_IOV && fits < len; i++)
		fits += iw_cursor_next(&c, len - fits, &p);
	return fits;
}

static uint32_t add_payload(struct iw_batch *b, uint32_t len, uint32_t crc, bool has_crc)
{
	uint8_t *p;

	for (uint32_t n; (n = iw_cursor_next(&b->cursor, len, &p)); len -= n) {
		if (has_crc)
			crc = iw_crc(crc, p, n);
		iw_batch_add(b, p, n);
	}
	return crc;
}

static void copy_payload(struct iw_batch *b, uint32_t len)
{
	uint8_t *p;

	for (uint32_t n; (n = iw_cursor_next(&b->cursor, len, &p)); len -= n) {
		memcpy(b->at, p, n);
		b->at += n;
	}
}

uint32_t iw_put_tail(uint8_t *out, uint32_t len, uint32_t crc, bool has_crc)
{
	uint32_t pad = -len & 3;

	memset(out, 0, pad + MPA_CRC_LEN);
	if (has_crc)
		iw_crc_put(iw_crc(crc, out, pad), out + pad);
	return pad + MPA_CRC_LEN;
}

// --- headers ---

static uint32_t put_send(const struct rnic_wr *wr, uint8_t *out, bool is_last, uint32_t len,
			 uint32_t mo)
{
	static const enum rdmap_opcode ops[2][2] = {
		{RDMAP_SEND,	      RDMAP_SEND_SE	    },
		{ RDMAP_SEND_INVALIDATE, RDMAP_SEND_SE_INVALIDATE},
	};
	bool has_key = wr->opcode == RNIC_SEND_INVALIDATE;

	return ddp_put_untagged(out, ops[has_key][!!(wr->flags & RNIC_SOLICITED)], is_last, len,
				has_key ? wr->rkey : 0, DDP_QN_SEND,
				(uint32_t)wr->scratch[IW_WR_MSN], mo);
}

// Writes the header of the next FPDU, with len bytes of payload from b->sent on, to out.
static uint32_t put_header(struct iw_batch *b, uint8_t *out, bool is_last, uint32_t len)
{
	if (b->is_response_turn) {
		const struct iw_response *r = response_of(b);
		return ddp_put_tagged(out, RDMAP_READ_RESPONSE, is_last, len, r->sink_stag,
				      r->sink_to + b->sent);
	}
	const struct rnic_wr *wr = wr_of(b);
	switch (wr->opcode) {
	case RNIC_READ:
		return ddp_put_read_request(out, (uint32_t)wr->scratch[IW_WR_MSN],
					    (uint32_t)wr->scratch[IW_WR_STAG], 0,
					    (uint32_t)wr->bytes, wr->rkey, wr->remote_addr);
	case RNIC_WRITE:
		return ddp_put_tagged(out, RDMAP_WRITE, is_last, len, wr->rkey,
				      wr->remote_addr + b->sent);
	default:
		return put_send(wr, out, is_last, len, (uint32_t)b->sent);
	}
}

// --- a batch ---

// The next message, or the current one. False: no message.
static bool pick(struct iw_batch *b)
{
	struct iw_qp *qp = b->qp;

	if (!b->is_in_message) {
		bool has_wr = b->wr != &qp->tx, has_response = b->response < qp->irq_count;
		if (!has_wr && !has_response)
			return false;
		bool wants_response = b->is_response_turn != (b->run == RUN);
		b->run = b->run == RUN ? 0 : b->run;
		b->is_response_turn = has_response && (!has_wr || wants_response);
		b->run++;
	}
	return true;
}

static uint64_t size_of(struct iw_batch *b)
{
	if (b->is_response_turn)
		return response_of(b)->len;
	return wr_of(b)->opcode == RNIC_READ ? 0 : wr_of(b)->bytes;
}

static bool is_untagged(struct iw_batch *b)
{
	return !b->is_response_turn && wr_of(b)->opcode != RNIC_WRITE;
}

static void set_cursor(struct iw_batch *b)
{
	if (!b->is_response_turn) {
		struct rnic_wr *wr = wr_of(b);
		iw_cursor_set(&b->cursor, wr->sge, wr->opcode == RNIC_READ ? 0 : wr->nsge, b->sent);
		return;
	}
	const struct iw_response *r = response_of(b);
	const struct iw_stag *s = r->source;
	if (s)
		iw_cursor_set(&b->cursor, s->nsge > 1 ? s->sge : &s->one, s->nsge,
			      r->offset + b->sent);
	else
		b->cursor = (struct iw_cursor){ 0 };
}

// Another len bytes of b's current message are in FPDUs.
static void advance(struct iw_batch *b, uint32_t len, bool is_last)
{
	b->sent += len;
	b->is_in_message = !is_last;
	if (!is_last)
		return;
	b->sent = 0;
	if (b->is_response_turn)
		b->response++;
	else
		b->wr = b->wr->next;
}

static void begin(struct iw_batch *b, struct iw_qp *qp)
{
	b->qp = qp;
	b->count = b->fpdu_count = 0;
	b->at = qp->dev->frames;
	b->bytes = 0;
	b->wr = qp->tx.next;
	b->response = 0;
	b->sent = 0;
	b->is_in_message = qp->is_in_message;
	// The last batch may have ended in the middle of a turn: start with the other kind.
	b->is_response_turn = qp->is_response_turn != !qp->is_in_message;
	b->run = 0;
	if (!b->is_in_message)
		return;
	b->sent = b->is_response_turn ? response_of(b)->sent : wr_of(b)->scratch[IW_WR_SENT];
	set_cursor(b);
}

static void skip_payload(struct iw_batch *b, uint32_t len)
{
	uint8_t *past;

	for (uint32_t n; (n = iw_cursor_next(&b->cursor, len, &past)); len -= n)
		;
}

// The rest of the partially sent FPDU.
static void add_partial(struct iw_batch *b)
{
	struct iw_partial *p = &b->qp->partial;
	uint32_t skip = p->sent;

	b->fpdus[b->fpdu_count++] = (struct iw_fpdu){
		.is_response = b->is_response_turn,
		.is_last = p->is_last,
		.is_partial = true,
		.len = p->len,
		.left = p->head_len + p->external + p->tail_len - skip,
	};
	if (skip < p->head_len)
		iw_batch_add(b, p->head + skip, p->head_len - skip);
	skip -= skip < p->head_len ? skip : p->head_len;
	uint32_t out = skip < p->external ? skip : p->external;
	skip_payload(b, out + p->len - p->external); // the rest was in head
	add_payload(b, p->external - out, 0, false);
	skip -= out;
	iw_batch_add(b, p->tail + skip, p->tail_len - skip);
	advance(b, p->len, p->is_last);
}

// Determines the payload length of the next FPDU; false: the batch is full.
static bool choose_len(struct iw_batch *b, uint32_t *ret_len, bool *ret_is_last)
{
	uint64_t left = size_of(b) - b->sent;
	uint32_t most = b->qp->mulpdu - (is_untagged(b) ? DDP_UNTAGGED_LEN : DDP_TAGGED_LEN);
	uint32_t len = left < most ? (uint32_t)left : most;
	uint32_t fits = fitting(b, len);

	if (fits < len && b->fpdu_count)
		return false;
	*ret_len = fits; // very many very small pieces: a shorter FPDU
	*ret_is_last = fits == left;
	return true;
}

static bool add_fpdu(struct iw_batch *b)
{
	struct iw_fpdu *f = &b->fpdus[b->fpdu_count];
	bool has_crc = b->qp->has_crc, is_last;
	uint32_t len, crc = IW_CRC_START;

	if (!choose_len(b, &len, &is_last))
		return false;
	*f = (struct iw_fpdu){ .is_response = b->is_response_turn, .is_last = is_last, .len = len };
	f->head = b->at;
	b->at += put_header(b, b->at, is_last, len);
	if (is_untagged(b) && len <= IW_TX_COPY)
		copy_payload(b, len);
	else
		f->external = len;
	f->head_len = (uint32_t)(b->at - f->head);
	iw_batch_add(b, f->head, f->head_len);
	if (has_crc)
		crc = iw_crc(crc, f->head, f->head_len);
	crc = add_payload(b, f->external, crc, has_crc);
	f->tail = b->at;
	f->tail_len = iw_put_tail(b->at, f->head_len + f->external, crc, has_crc);
	b->at += f->tail_len;
	iw_batch_add(b, f->tail, f->tail_len);
	f->left = f->head_len + f->external + f->tail_len;
	b->fpdu_count++;
	advance(b, len, is_last);
	return true;
}

bool iw_batch_begin_rest(struct iw_batch *b, struct iw_qp *qp)
{
	begin(b, qp);
	if (!qp->partial.is_there)
		return true;
	if (b->is_response_turn && is_gone(b, response_of(b)))
		return false;
	add_partial(b);
	return true;
}

bool iw_batch_build(struct iw_batch *b, struct iw_qp *qp)
{
	begin(b, qp);
	if (b->is_in_message && b->is_response_turn && is_gone(b, response_of(b)))
		return false;
	if (qp->partial.is_there)
		add_partial(b);
	while (b->fpdu_count < IW_TX_FPDUS && b->count + 3 < IW_TX_IOV && b->bytes < BATCH_BYTES) {
		bool goes_on = b->is_in_message;
		if (!pick(b))
			break;
		if (!goes_on) {
			if (b->is_response_turn && is_gone(b, response_of(b)))
				return b->fpdu_count > 0; // what precedes it may be sent
			set_cursor(b);
		}
		if (!add_fpdu(b))
			break;
	}
	return true;
}
