// SPDX-License-Identifier: BSD-2-Clause
// The receive state machine: bytes to segments. One loop handles partial reads; the handlers of
// rx_msg.c never see them. RFC 5044 4, RFC 5041 4.
//
//   HEADER -> [DATA] -> TAIL: pad, CRC -> HEADER ...
//
// Payload is received in place, as rx_plan.c predicts; a wrong prediction is detected
// by the headers.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/iwarp/crc.h"
#include "transport/rdma/iwarp/rx_plan.h"

// A round's share of a connection: bytes, messages and time.
#define ROUND_BYTES    (4u << 20)
#define ROUND_MESSAGES 256u
#define ROUND_NS       1000000u
#define CLOCK_EACH     16u // messages between two reads of the clock; the first starts the time
#define GRACE_USEC     10000000u

static void resume(struct iw_rx_wait *w);

static void next_segment(struct iw_qp *qp)
{
	qp->rx_state = IW_RX_HEADER;
	qp->rx_have = 0;
	qp->rx_need = IW_RX_FIRST;
	qp->sink_stag = NULL;
	qp->sink = (struct iw_cursor){ 0 };
}

// The header is complete: finds the message's destination. Runs again when a missing buffer is
// free.
static unsigned header_in(struct iw_qp *qp)
{
	unsigned code = iw_segment_begin(qp);

	if (qp->is_stalled)
		iw_rx_wait(&qp->dev->rx, &qp->rx_wait, resume);
	if (code || qp->is_stalled)
		return code;
	if (qp->has_crc)
		qp->rx_crc = iw_crc(IW_CRC_START, qp->rx_header, qp->seg.header_len);
	qp->data_left = qp->seg.len;
	qp->rx_state = qp->data_left ? IW_RX_DATA : IW_RX_TAIL;
	qp->rx_have = 0;
	qp->rx_need = qp->seg.tail_len;
	return 0;
}

static void share_begin(struct iw_qp *qp)
{
	qp->rx_left = ROUND_MESSAGES;
	qp->rx_until = 0;
}

// Counts a message of the share; ends the share if its time is over. Tagged payload is not a
// message.
static void share_use(struct iw_qp *qp)
{
	if (qp->seg.is_tagged)
		return;
	if (qp->rx_left)
		qp->rx_left--;
	if (qp->rx_left % CLOCK_EACH)
		return;
	uint64_t now = clock_ns();
	if (!qp->rx_until)
		qp->rx_until = now + ROUND_NS;
	else if (now >= qp->rx_until)
		qp->rx_left = 0;
}

static unsigned tail_in(struct iw_qp *qp)
{
	if (qp->has_crc) {
		uint32_t pad = qp->seg.tail_len - MPA_CRC_LEN;
		uint32_t crc = iw_crc(qp->rx_crc, qp->rx_tail, pad);
		if (!iw_crc_is(crc, qp->rx_tail + pad))
			return TERM_MPA_CRC;
	}
	if (qp->is_tx_held) {
		qp->is_tx_held = false;
		iw_tx_soon(qp);
	}
	unsigned code = iw_segment_end(qp);
	share_use(qp);
	if (!code)
		next_segment(qp);
	return code;
}

static void data_in(struct iw_qp *qp, const uint8_t *p, uint32_t n)
{
	if (qp->has_crc)
		qp->rx_crc = iw_crc(qp->rx_crc, p, n);
	qp->data_left -= n;
	if (!qp->data_left)
		qp->rx_state = IW_RX_TAIL;
}

// --- bytes in the scratch ---

static uint32_t gather(struct iw_qp *qp, uint8_t *to, const uint8_t *p, uint32_t n)
{
	uint32_t take = qp->rx_need - qp->rx_have;

	take = take < n ? take : n;
	memcpy(to + qp->rx_have, p, take);
	qp->rx_have += take;
	return take;
}

// Determines the length of the header from its first IW_RX_FIRST bytes. True: an error, or the
// header is complete.
static bool head_in(struct iw_qp *qp, unsigned *ret_code)
{
	if (qp->rx_need == IW_RX_FIRST) {
		*ret_code = ddp_begin(qp->rx_header, &qp->seg);
		qp->rx_need = qp->seg.header_len;
	}
	return *ret_code || qp->rx_have == qp->rx_need;
}

static unsigned feed_header(struct iw_qp *qp, const uint8_t *p, uint32_t n, uint32_t *ret_used)
{
	unsigned code = 0;
	uint32_t used = gather(qp, qp->rx_header, p, n);

	if (qp->rx_have >= IW_RX_FIRST && !head_in(qp, &code))
		used += gather(qp, qp->rx_header, p + used, n - used);
	*ret_used = used;
	if (code || qp->rx_have < qp->rx_need || qp->rx_need == IW_RX_FIRST)
		return code;
	return header_in(qp);
}

static unsigned feed_data(struct iw_qp *qp, const uint8_t *p, uint32_t n, uint32_t *ret_used)
{
	uint8_t *to;

	iw_check_sink(qp);
	n = n < qp->data_left ? n : qp->data_left;
	uint32_t room = iw_cursor_next(&qp->sink, n, &to);
	if (room) {
		n = room;
		if (qp->seg.is_tagged || qp->seg.len > IW_COUNTED)
			buf_copy(qp->worker, to, p, n);
		else
			memcpy(to, p, n); // the size of a header: not payload
	}
	data_in(qp, p, n);
	*ret_used = n;
	return 0;
}

static unsigned feed_tail(struct iw_qp *qp, const uint8_t *p, uint32_t n, uint32_t *ret_used)
{
	*ret_used = gather(qp, qp->rx_tail, p, n);
	return qp->rx_have == qp->rx_need ? tail_in(qp) : 0;
}

static unsigned (*const feeds[])(struct iw_qp *qp, const uint8_t *p, uint32_t n,
				 uint32_t *ret_used) = {
	[IW_RX_HEADER] = feed_header,
	[IW_RX_DATA] = feed_data,
	[IW_RX_TAIL] = feed_tail,
};

static void rx_fail(struct iw_qp *qp, unsigned code)
{
	// Only a complete header can be quoted.
	bool is_whole = qp->rx_state != IW_RX_HEADER || qp->rx_have == qp->seg.header_len;

	iw_fail(qp, code, is_whole && code >> 12 != 2, NULL);
}

static bool is_receiving(const struct iw_qp *qp)
{
	return qp->state == IW_RUNNING && !qp->qp.is_closing && !qp->is_stalled;
}

// Bytes received after a message that waits for a buffer, or after the share. Rare, and limited by
// one receive.
static void stash(struct iw_qp *qp, const uint8_t *p, uint32_t n)
{
	struct err e;

	if (!n)
		return;
	uint8_t *all = realloc(qp->stash, (size_t)qp->stash_len + n);
	if (!all) {
		err_set(&e, -ENOMEM, "iwarp: out of memory for received data");
		iw_end(qp, &e);
		return;
	}
	memcpy(all + qp->stash_len, p, n);
	qp->stash = all;
	qp->stash_len += n;
}

// is_last: nothing was received after it, so it may be left for the next round.
static void feed(struct iw_qp *qp, const uint8_t *p, uint32_t n, bool is_last)
{
	while (n && is_receiving(qp) && (qp->rx_left || !is_last)) {
		uint32_t used = 0;
		unsigned code = feeds[qp->rx_state](qp, p, n, &used);
		p += used;
		n -= used;
		if (code) {
			rx_fail(qp, code);
			return;
		}
	}
	if ((qp->is_stalled || !qp->rx_left) && !qp->is_over)
		stash(qp, p, n);
}

static void stash_feed(struct iw_qp *qp)
{
	uint8_t *p = qp->stash;
	uint32_t n = qp->stash_len;

	qp->stash = NULL;
	qp->stash_len = 0;
	feed(qp, p, n, true);
	free(p);
}

// --- receiving ---

// A header that was received in place; true if the payload after it is at its destination.
static bool consume_header(struct iw_qp *qp, const struct iw_plan *plan, uint32_t got)
{
	qp->rx_have += got < plan->header ? got : plan->header;
	if (qp->rx_have < qp->rx_need)
		return false;
	unsigned code = header_in(qp);
	if (!code)
		return true;
	rx_fail(qp, code);
	return false;
}

// Payload that was received at p: true if that is its destination.
static bool take_in_place(struct iw_qp *qp, const uint8_t *p, uint32_t n)
{
	struct iw_cursor after = qp->sink;
	uint8_t *to;

	if (qp->rx_state != IW_RX_DATA || n > qp->data_left ||
	    iw_cursor_next(&after, n, &to) != n || to != p)
		return false;
	qp->sink = after;
	data_in(qp, p, n);
	return true;
}

// The peer's segments differ from the prediction: the bytes received in place are copied out and
// parsed again. Nothing was reported since they were received.
static void consume_elsewhere(struct iw_qp *qp, const struct iw_plan *plan, unsigned i,
			      uint32_t got)
{
	struct err e;
	uint8_t *all = malloc(got);
	uint32_t at = 0;

	qp->is_irregular = true;
	if (!all) {
		err_set(&e, -ENOMEM, "iwarp: out of memory for received data");
		iw_end(qp, &e);
		return;
	}
	for (; at < got; i++) {
		uint32_t n = (uint32_t)plan->iov[i].iov_len;
		n = n < got - at ? n : got - at;
		buf_copy(qp->worker, all + at, plan->iov[i].iov_base, n);
		at += n;
	}
	feed(qp, all, got, true);
	free(all);
}

// The bytes read between two pieces of predicted payload must be the end of one segment and the
// header of the next. Payload among them would be copied over bytes not parsed yet.
static bool is_between_segments(const struct iw_qp *qp, uint32_t n)
{
	return qp->rx_state == IW_RX_TAIL && qp->rx_need - qp->rx_have + IW_RX_AHEAD == n;
}

static void consume(struct iw_qp *qp, const struct iw_plan *plan, uint32_t got)
{
	unsigned i = 0;

	if (plan->header) {
		if (!consume_header(qp, plan, got))
			return;
		got -= plan->header;
		i = 1;
	}
	for (; got && !qp->is_over; i++) {
		uint32_t n = (uint32_t)plan->iov[i].iov_len;
		n = n < got ? n : got;
		bool is_as_planned = true;
		if (!plan->is_scratch[i])
			is_as_planned = take_in_place(qp, plan->iov[i].iov_base, n);
		else if (n == got || is_between_segments(qp, n))
			feed(qp, plan->iov[i].iov_base, n, n == got);
		else
			is_as_planned = false;
		if (!is_as_planned) {
			consume_elsewhere(qp, plan, i, got);
			return;
		}
		got -= n;
	}
}

static void lost(struct iw_qp *qp, ssize_t got)
{
	struct err e;

	if (got)
		err_errno(&e, (int)got, "iwarp: receive");
	else if (qp->rx_state == IW_RX_HEADER && !qp->rx_have && !qp->rx)
		err_set(&e, -ECONNRESET, "iwarp: peer closed the connection");
	else
		err_set(&e, -ECONNRESET, "iwarp: peer closed the connection within a message");
	iw_end(qp, &e);
}

static void on_again(struct timer *t)
{
	iw_rx_run(container_of(t, struct iw_qp, again));
}

static void rx_loop(struct iw_qp *qp)
{
	struct iw_plan plan;

	for (uint64_t done = 0; is_receiving(qp);) {
		if (done >= ROUND_BYTES || !qp->rx_left) {
			timer_arm(qp->worker, &qp->again, 0);
			return;
		}
		iw_plan_make(qp, &plan);
		ssize_t got = stream_readv(qp->stream, plan.iov, (int)plan.count);
		if (got == -EAGAIN)
			return;
		if (got <= 0) {
			lost(qp, got);
			return;
		}
		done += (uint64_t)got;
		qp->qp.bytes_in += (uint64_t)got;
		consume(qp, &plan, (uint32_t)got);
		// Less than requested: the socket is empty, and the next byte raises a new event.
		if (qp->is_over)
			return;
		if ((uint64_t)got < plan.asked && !stream_is_hup(qp->stream) && !qp->stash)
			return;
	}
}

static void on_grace_over(struct timer *t)
{
	struct iw_qp *qp = container_of(t, struct iw_qp, timer);
	struct err e;

	err_set(&e, -ECONNRESET,
		"iwarp: peer closed the connection; no receive buffer was free for its last "
		"messages");
	iw_end(qp, &e);
}

// The peer has disconnected while its messages wait for a buffer: they get some time.
static void begin_grace(struct iw_qp *qp)
{
	if (timer_is_armed(&qp->timer))
		return;
	timer_init(&qp->timer, on_grace_over);
	timer_arm(qp->worker, &qp->timer, GRACE_USEC);
}

void iw_rx_run(struct iw_qp *qp)
{
	if (qp->is_in_rx || qp->is_over || !qp->qp.is_established)
		return;
	if (qp->is_stalled && stream_is_hup(qp->stream))
		begin_grace(qp);
	qp->is_in_rx = true;
	qp->qp.last_rx_ns = worker_now(qp->worker);
	if (!qp->rx_need) {
		next_segment(qp);
		timer_init(&qp->again, on_again);
	}
	share_begin(qp);
	if (qp->stash && is_receiving(qp))
		stash_feed(qp);
	rx_loop(qp);
	qp->is_in_rx = false;
	if (!qp->is_over)
		iw_tx_run(qp);
	iw_deliver(qp);
}

// Continues with the waiting header, then the bytes read after it, then the socket.
static void resume(struct iw_rx_wait *w)
{
	struct iw_qp *qp = container_of(w, struct iw_qp, rx_wait);

	if (qp->is_over)
		return;
	qp->is_stalled = false;
	if (!qp->qp.is_closing)
		timer_cancel(qp->worker, &qp->timer);
	qp->is_in_rx = true;
	unsigned code = header_in(qp);
	if (code)
		rx_fail(qp, code);
	qp->is_in_rx = false;
	iw_rx_run(qp);
}
