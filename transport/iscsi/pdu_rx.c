// SPDX-License-Identifier: BSD-2-Clause
// The receive state machine: bytes to PDUs. One loop handles partial reads; upper layers never see
// them. RFC 7143 11.1, 11.2.
//
//   BHS -> [MORE: AHS, header digest] -> [DATA -> [TAIL: pad, data digest]] -> BHS ...
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/peer_memory.h"
#include "transport/iscsi/digest.h"
#include "transport/iscsi/pdu_conn.h"
#include "transport/wire/be.h"

// Scratch for one receive; shared by the connections of a worker, since each receive consumes all
// of it before it returns.
#define SCRATCH_SIZE (256u << 10)
// A larger data segment is always received in place.
#define SMALL_DATA 8192u
// After this many PDUs without a large data segment, receives read ahead.
#define STREAK	   8
#define READ_AHEAD 8192u // after commands without data: 170 of them, and never much to copy
// A round's share, so that one busy connection does not starve the others of the worker: bytes,
// PDUs and time. Login and discovery exchange one PDU at a time, so few are enough there.
#define ROUND_BYTES (4u << 20)
#define ROUND_PDUS  256u
#define ROUND_STEPS 8u
#define ROUND_NS    1000000u
#define CLOCK_EACH  16u // PDUs between two looks at the clock
#define RX_IOV	    64
// Answering this many PDUs took long enough for the peer to have sent more: receive again at once,
// up to this many times.
#define BURST  8u
#define BURSTS 8

static _Thread_local struct {
	uint8_t *mem;
	unsigned users;
} scratch;

int pdu_scratch_get(void)
{
	if (!scratch.mem)
		scratch.mem = aligned_alloc(4096, SCRATCH_SIZE);
	if (!scratch.mem)
		return -ENOMEM;
	scratch.users++;
	return 0;
}

void pdu_scratch_put(void)
{
	if (--scratch.users)
		return;
	free(scratch.mem);
	scratch.mem = NULL;
	pdu_tx_trim();
}

void pdu_rx_reset(struct pdu_conn *c)
{
	c->rx_state = PDU_RX_BHS;
	c->rx_have = 0;
}

static void rx_fail(struct pdu_conn *c, struct err *e)
{
	pdu_conn_close(c, true, e);
}

// --- the data segment's sink ---

static void sink_open(struct pdu_conn *c)
{
	struct pdu_sink *s = &c->sink;
	c->sink_index = 0;
	c->sink_offset = 0;
	if (s->kind != PDU_TO_SG)
		return;
	uint64_t skip = s->sg_offset;
	while (c->sink_index < s->nsg && skip >= s->sg[c->sink_index].len)
		skip -= s->sg[c->sink_index++].len;
	c->sink_offset = (uint32_t)skip;
}

static void sink_advance(struct pdu_conn *c, uint32_t n)
{
	c->sink.len -= n;
	c->sink_offset += n;
	while (c->sink_index < c->sink.nsg && c->sink_offset >= c->sink.sg[c->sink_index].len) {
		c->sink_offset -= c->sink.sg[c->sink_index].len;
		c->sink_index++;
	}
}

// The next contiguous room in the sink, at most max bytes; 0 when the rest is discarded.
static uint32_t sink_room(const struct pdu_conn *c, uint32_t max, uint8_t **ret)
{
	if (c->sink.kind == PDU_TO_BUFFER) {
		*ret = c->buffer + c->data_done;
		return max;
	}
	if (c->sink.kind != PDU_TO_SG || !c->sink.len || c->sink_index >= c->sink.nsg)
		return 0;
	const struct sg *g = &c->sink.sg[c->sink_index];
	uint32_t n = g->len - c->sink_offset;
	*ret = g->addr + c->sink_offset;
	n = n < c->sink.len ? n : c->sink.len;
	return n < max ? n : max;
}

static void data_advance(struct pdu_conn *c, const uint8_t *p, uint32_t n)
{
	if (c->data_digest)
		c->rx_crc = digest_update(c->rx_crc, p, n);
	c->data_done += n;
	c->data_left -= n;
}

void pdu_conn_discard(struct pdu_conn *c, const void *owner)
{
	if (c->sink.kind == PDU_TO_SG && c->sink.owner == owner)
		c->sink = (struct pdu_sink){ .kind = PDU_DISCARD };
}

// --- PDUs ---

// How far the next receive may read beyond the required bytes. Not beyond the next header if large
// data segments are expected, so that their payload is received in place; nor before full feature
// phase: requests come one at a time, and nothing is buffered for an unauthenticated peer. And
// little while peers that do not read keep much memory: what was received and has to wait is kept
// too.
static void rx_judge(struct pdu_conn *c, uint32_t data_len)
{
	if (data_len > SMALL_DATA || c->phase != ISCSI_PHASE_FULL_FEATURE) {
		c->rx_streak = c->rx_small = 0;
		c->rx_limit = ISCSI_BHS_LEN;
		return;
	}
	if (data_len)
		c->rx_small++;
	if (c->rx_streak++ < STREAK)
		c->rx_limit = ISCSI_BHS_LEN;
	else if (c->rx_small > STREAK && !peer_memory_is_short(PEER_ANSWERS))
		c->rx_limit = SCRATCH_SIZE;
	else
		c->rx_limit = READ_AHEAD;
}

// --- a control PDU's data ---

static int buffer_new(struct pdu_conn *c, uint32_t len, struct err *e)
{
	// One byte more than the data: a terminator for text without one.
	c->buffer = calloc(1, (size_t)len + 1);
	if (!c->buffer)
		return err_set(e, -ENOMEM, "out of memory for %u bytes of %s", len,
			       iscsi_opcode_name(c->rx_pdu.opcode));
	c->buffer_len = len;
	c->buffer_ns = worker_now(c->worker);
	peer_memory_take(PEER_ANSWERS, len);
	return 0;
}

static void buffer_free(struct pdu_conn *c)
{
	if (!c->buffer)
		return;
	peer_memory_give(PEER_ANSWERS, c->buffer_len);
	free(c->buffer);
	c->buffer = NULL;
}

// --- PDUs, whole ---

static int pdu_complete(struct pdu_conn *c, struct err *e)
{
	int res = c->rx_error;
	if (c->data_digest && c->rx_pdu.data_len) {
		uint32_t crc = digest_update(c->rx_crc, c->rx_tail, c->rx_pdu.pad_len);
		if (!digest_is(crc, c->rx_tail + c->rx_pdu.pad_len)) {
			c->digest_errors++;
			res = -EBADMSG;
		}
	}
	c->rx_state = PDU_RX_BHS;
	c->rx_have = 0;
	uint8_t *data = c->sink.kind == PDU_TO_BUFFER ? c->buffer : NULL;
	int r = c->ops->received(c, &c->rx_pdu, c->rx_header, data, res, e);
	buffer_free(c);
	return r;
}

// Counts a PDU of the round's share; ends the share if its time is over. The clock is read at the
// first PDU and every few, and after each that took so long that the coarse one has moved.
static void share_use(struct pdu_conn *c)
{
	uint64_t now = clock_coarse_ns();
	if (c->rx_left)
		c->rx_left--;
	if (now == c->rx_tick && c->rx_left % CLOCK_EACH)
		return;
	c->rx_tick = now;
	now = clock_ns();
	if (!c->rx_until)
		c->rx_until = now + ROUND_NS;
	else if (now >= c->rx_until)
		c->rx_left = 0;
}

static void share_begin(struct pdu_conn *c)
{
	c->rx_left = c->phase == ISCSI_PHASE_FULL_FEATURE ? ROUND_PDUS : ROUND_STEPS;
	c->rx_until = c->rx_tick = 0;
}

// A complete header with a correct digest, at bhs (possibly in the scratch).
static int pdu_header(struct pdu_conn *c, const uint8_t *bhs, struct err *e)
{
	c->pdus_in++;
	share_use(c);
	int r = iscsi_pdu_check(c->role, c->phase, bhs, c->max_recv_data, &c->rx_pdu, e);
	if (r < 0)
		return r;
	const struct iscsi_pdu *pdu = &c->rx_pdu;
	c->sink = (struct pdu_sink){ .kind = PDU_DISCARD };
	if (pdu->data_len && bhs != c->rx_header)
		memcpy(c->rx_header, bhs, ISCSI_BHS_LEN);
	c->data_left = pdu->data_len;
	c->data_done = 0;
	c->tail_len = pdu->pad_len + (c->data_digest && pdu->data_len ? ISCSI_DIGEST_LEN : 0);
	c->rx_crc = ISCSI_CRC_START;
	c->rx_error = 0;
	c->rx_have = 0;
	c->rx_state = pdu->data_len ? PDU_RX_DATA : PDU_RX_BHS;
	rx_judge(c, pdu->data_len);
	if (r > 0)
		return c->ops->reject(c, (uint8_t)r, bhs, e);
	r = c->ops->header(c, pdu, bhs, pdu->ahs_len ? bhs + ISCSI_BHS_LEN : NULL, &c->sink, e);
	if (r < 0)
		return r;
	if (c->sink.kind == PDU_TO_BUFFER && pdu->data_len)
		r = buffer_new(c, pdu->data_len, e);
	if (r < 0)
		return r;
	sink_open(c);
	return 0;
}

static int header_digest_check(struct pdu_conn *c, uint32_t len, struct err *e)
{
	if (!c->header_digest)
		return 0;
	uint32_t crc = digest_update(ISCSI_CRC_START, c->rx_header, len);
	if (digest_is(crc, c->rx_header + len))
		return 0;
	c->digest_errors++;
	return err_set(e, -EBADMSG, "header digest error in %s",
		       iscsi_opcode_name(c->rx_header[0] & ISCSI_OP_MASK));
}

// --- states: each consumes from [p, p + n) and returns how many bytes, or negative ---

static uint32_t header_more(const struct pdu_conn *c, const uint8_t *bhs)
{
	const struct iscsi_bhs *h = (const void *)bhs;
	return h->ahs_len * 4u + (c->header_digest ? ISCSI_DIGEST_LEN : 0);
}

// The length of a PDU, by its unchecked header.
static uint32_t pdu_span(const struct pdu_conn *c, const uint8_t *bhs)
{
	uint32_t data = get_be24(((const struct iscsi_bhs *)(const void *)bhs)->data_len);
	uint32_t span = ISCSI_BHS_LEN + header_more(c, bhs) + ((data + 3) & ~3u);
	return span + (c->data_digest && data ? ISCSI_DIGEST_LEN : 0);
}

static void look_ahead(struct pdu_conn *c, const uint8_t *p, uint32_t n)
{
	uint32_t at = pdu_span(c, p);
	if (at > n || n - at < ISCSI_BHS_LEN)
		return;
	at += pdu_span(c, p + at);
	if (at <= n && n - at >= ISCSI_BHS_LEN)
		c->ops->ahead(c, p + at);
}

// Copies the missing part of whole bytes, of which rx_have are present.
static uint32_t gather(struct pdu_conn *c, uint8_t *to, uint32_t whole, const uint8_t *p,
		       uint32_t n)
{
	uint32_t take = whole - c->rx_have;
	take = take < n ? take : n;
	memcpy(to + c->rx_have, p, take);
	c->rx_have += take;
	return take;
}

static int rx_bhs(struct pdu_conn *c, const uint8_t *p, uint32_t n, struct err *e)
{
	if (!c->rx_have && n >= ISCSI_BHS_LEN && !header_more(c, p)) {
		look_ahead(c, p, n);
		int r = pdu_header(c, p, e);
		return r < 0 ? r : ISCSI_BHS_LEN;
	}
	uint32_t take = gather(c, c->rx_header, ISCSI_BHS_LEN, p, n);
	if (c->rx_have < ISCSI_BHS_LEN)
		return (int)take;
	if (header_more(c, c->rx_header)) {
		c->rx_state = PDU_RX_MORE;
		return (int)take;
	}
	int r = pdu_header(c, c->rx_header, e);
	return r < 0 ? r : (int)take;
}

static int rx_more(struct pdu_conn *c, const uint8_t *p, uint32_t n, struct err *e)
{
	uint32_t whole = ISCSI_BHS_LEN + header_more(c, c->rx_header);
	uint32_t take = gather(c, c->rx_header, whole, p, n);
	if (c->rx_have < whole)
		return (int)take;
	int r = header_digest_check(c, whole - (c->header_digest ? ISCSI_DIGEST_LEN : 0), e);
	if (!r)
		r = pdu_header(c, c->rx_header, e);
	return r < 0 ? r : (int)take;
}

static int data_end(struct pdu_conn *c, struct err *e)
{
	if (c->data_left)
		return 0;
	c->rx_state = PDU_RX_TAIL;
	c->rx_have = 0;
	return c->tail_len ? 0 : pdu_complete(c, e);
}

static int rx_data(struct pdu_conn *c, const uint8_t *p, uint32_t n, struct err *e)
{
	uint8_t *to;
	uint32_t take = c->data_left < n ? c->data_left : n;
	uint32_t room = sink_room(c, take, &to);
	if (room) {
		take = room;
		if (c->sink.kind == PDU_TO_SG) {
			buf_copy_for(c->worker, &c->copied, to, p, take);
			if (c->rest) // p is there: it was copied once already
				buf_copied(c->worker, &c->copied, take);
			sink_advance(c, take);
		} else {
			memcpy(to, p, take); // text and the like: not payload
		}
	}
	data_advance(c, p, take);
	int r = data_end(c, e);
	return r < 0 ? r : (int)take;
}

static int rx_tail(struct pdu_conn *c, const uint8_t *p, uint32_t n, struct err *e)
{
	uint32_t take = gather(c, c->rx_tail, c->tail_len, p, n);
	int r = c->rx_have == c->tail_len ? pdu_complete(c, e) : 0;
	return r < 0 ? r : (int)take;
}

static int (*const rx_states[])(struct pdu_conn *c, const uint8_t *p, uint32_t n, struct err *e) = {
	[PDU_RX_BHS] = rx_bhs,
	[PDU_RX_MORE] = rx_more,
	[PDU_RX_DATA] = rx_data,
	[PDU_RX_TAIL] = rx_tail,
};

static bool is_receiving(const struct pdu_conn *c)
{
	return !c->is_closed && !c->is_closing && !c->is_rx_stopped;
}

// The number of bytes consumed of n: all, unless receiving stops or the share ends. Or negative.
static int rx_feed(struct pdu_conn *c, const uint8_t *p, uint32_t n, struct err *e)
{
	uint32_t at = 0;
	c->ops->ahead(c, NULL);
	while (at < n && is_receiving(c) && c->rx_left) {
		int used = rx_states[c->rx_state](c, p + at, n - at, e);
		if (used < 0)
			return used;
		at += (uint32_t)used;
	}
	return (int)at;
}

// The next connection uses the scratch, so unconsumed bytes are copied. Rare: a conforming peer
// sends no more commands than its window.
static int rest_keep(struct pdu_conn *c, const uint8_t *p, uint32_t n, struct err *e)
{
	c->rest = malloc(n);
	if (!c->rest)
		return err_set(e, -ENOMEM, "out of memory for %u received bytes", n);
	peer_memory_take(PEER_ANSWERS, n);
	memcpy(c->rest, p, n); // mostly headers; rx_data() counts the payload among them
	c->rest_len = n;
	c->rest_at = 0;
	return 0;
}

static void rest_free(struct pdu_conn *c)
{
	if (!c->rest)
		return;
	peer_memory_give(PEER_ANSWERS, c->rest_len);
	free(c->rest);
	c->rest = NULL;
}

void pdu_rx_free(struct pdu_conn *c)
{
	buffer_free(c);
	rest_free(c);
}

static int rest_feed(struct pdu_conn *c, struct err *e)
{
	int used = rx_feed(c, c->rest + c->rest_at, c->rest_len - c->rest_at, e);
	if (used < 0)
		return used;
	c->rest_at += (uint32_t)used;
	if (c->rest_at == c->rest_len)
		rest_free(c);
	return 0;
}

static int scratch_feed(struct pdu_conn *c, uint32_t n, struct err *e)
{
	int used = rx_feed(c, scratch.mem, n, e);
	if (used < 0 || (uint32_t)used == n || c->is_closed || c->is_closing)
		return used < 0 ? used : 0;
	return rest_keep(c, scratch.mem + used, n - (uint32_t)used, e);
}

// --- receiving ---

struct rx_plan {
	struct iovec iov[RX_IOV + 3];
	unsigned count;
	uint32_t in_place; // bytes received directly into the sink
	uint32_t discard;  // ... or discarded through the scratch
	uint32_t asked;
};

static void plan_add(struct rx_plan *plan, void *base, uint32_t len)
{
	plan->iov[plan->count++] = (struct iovec){ base, len };
	plan->asked += len;
}

static void plan_sink(const struct pdu_conn *c, struct rx_plan *plan)
{
	if (c->sink.kind == PDU_TO_BUFFER) {
		plan->in_place = c->data_left;
		plan_add(plan, c->buffer + c->data_done, c->data_left);
		return;
	}
	uint32_t left = c->data_left < c->sink.len ? c->data_left : c->sink.len;
	uint32_t offset = c->sink_offset;
	for (uint32_t i = c->sink_index; left && i < c->sink.nsg && plan->count < RX_IOV; i++) {
		uint32_t n = c->sink.sg[i].len - offset;
		n = n < left ? n : left;
		plan_add(plan, c->sink.sg[i].addr + offset, n);
		plan->in_place += n;
		left -= n;
		offset = 0;
	}
}

// The next receive: the rest of the data segment in place, its tail, then as much of what follows
// as rx_limit allows.
static void plan_make(struct pdu_conn *c, struct rx_plan *plan)
{
	plan->count = 0;
	plan->in_place = plan->discard = plan->asked = 0;
	uint32_t ahead = c->rx_limit;
	if (c->rx_state == PDU_RX_DATA && c->sink.kind != PDU_DISCARD)
		plan_sink(c, plan);
	switch (c->rx_state) {
	case PDU_RX_BHS:
		if (ahead <= ISCSI_BHS_LEN)
			ahead = ISCSI_BHS_LEN - c->rx_have;
		break;
	case PDU_RX_MORE:
		ahead = ISCSI_BHS_LEN + header_more(c, c->rx_header) - c->rx_have;
		break;
	case PDU_RX_TAIL:
		ahead += c->tail_len - c->rx_have;
		break;
	case PDU_RX_DATA:
		if (plan->in_place == c->data_left) {
			ahead += c->tail_len;
		} else if (plan->count) {
			ahead = 0; // more pieces than one receive takes, or a rest to discard
		} else {
			// The digest of discarded data is computed only if all of it passes here.
			ahead = c->data_left + c->tail_len;
		}
		break;
	}
	if (ahead > SCRATCH_SIZE)
		ahead = SCRATCH_SIZE;
	if (ahead)
		plan_add(plan, scratch.mem, ahead);
}

static int consume(struct pdu_conn *c, const struct rx_plan *plan, size_t got, struct err *e)
{
	uint32_t placed = got < plan->in_place ? (uint32_t)got : plan->in_place;
	size_t rest = got - placed;
	for (unsigned i = 0; placed && i < plan->count; i++) {
		uint32_t n = (uint32_t)plan->iov[i].iov_len;
		n = n < placed ? n : placed;
		data_advance(c, plan->iov[i].iov_base, n);
		if (c->sink.kind == PDU_TO_SG)
			sink_advance(c, n);
		placed -= n;
	}
	if (plan->in_place && got) {
		int r = data_end(c, e);
		if (r < 0)
			return r;
	}
	return rest ? scratch_feed(c, (uint32_t)rest, e) : 0;
}

static void rx_again(struct pdu_conn *c)
{
	if (c->is_rx_posted)
		return;
	c->is_rx_posted = true;
	worker_post(c->worker, &c->rx_msg);
}

// The kernel has no page for the sink, such as a RAM disk's memory: the command fails, and the
// stream goes on with what follows. No byte was taken from the socket.
static bool rx_lose_sink(struct pdu_conn *c)
{
	if (c->rx_state != PDU_RX_DATA || c->sink.kind != PDU_TO_SG)
		return false;
	c->sink = (struct pdu_sink){ .kind = PDU_DISCARD };
	c->rx_error = -EFAULT;
	return true;
}

// One receive and its PDUs. 0: there may be more; 1: nothing is left; or negative.
static int rx_some(struct pdu_conn *c, uint64_t *done, struct err *e)
{
	struct rx_plan plan;
	plan_make(c, &plan);
	ssize_t got = stream_readv(c->stream, plan.iov, plan.count);
	if (got == -EAGAIN)
		return 1;
	if (got <= 0) {
		if (got == -EFAULT && rx_lose_sink(c))
			return 0;
		if (got)
			err_errno(e, (int)got, "receive");
		else
			err_set(e, -EPIPE, "peer closed the connection");
		pdu_conn_close(c, false, e);
		return 1;
	}
	*done += (uint64_t)got;
	c->bytes_in += (uint64_t)got;
	int r = consume(c, &plan, (size_t)got, e);
	if (r < 0 || c->is_closed)
		return r < 0 ? r : 1;
	// Less than requested: the socket is empty, and the next byte raises a new event.
	return (size_t)got < plan.asked && !stream_is_hup(c->stream) && !c->rest;
}

// done: bytes received in this round.
static void rx_loop(struct pdu_conn *c, uint64_t *done)
{
	struct err e = { 0 };
	while (is_receiving(c)) {
		if (*done >= ROUND_BYTES || !c->rx_left) {
			rx_again(c);
			return;
		}
		int r = c->rest ? rest_feed(c, &e) : rx_some(c, done, &e);
		if (r < 0)
			rx_fail(c, &e);
		if (r)
			return;
	}
}

void pdu_rx_run(struct pdu_conn *c)
{
	if (c->is_in_rx || c->is_closed)
		return;
	c->last_rx_ns = worker_now(c->worker);
	uint64_t done = 0;
	share_begin(c);
	for (unsigned bursts = 1;; bursts++) {
		unsigned queued = c->tx_count;
		c->is_in_rx = true;
		rx_loop(c, &done);
		c->is_in_rx = false;
		if (c->tx_count < queued + BURST || bursts == BURSTS || c->is_rx_posted ||
		    !worker_serves_one(c->worker))
			break;
		pdu_tx_flush_most(c);
		if (c->is_closed || c->is_tx_blocked)
			return;
	}
	pdu_conn_flush(c);
}
