// SPDX-License-Identifier: BSD-2-Clause
// The sending side and the close after it: PDUs in order, as many as the socket accepts in one
// sendmsg, data directly from its memory. RFC 7143 11.1, 11.2.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/peer_memory.h"
#include "transport/iscsi/digest.h"
#include "transport/iscsi/pdu_conn.h"
#include "transport/wire/be.h"

#define TX_IOV	  512
#define FREE_KEEP 4096	 // PDUs a worker keeps for the next burst
#define PACKET	  65160u // bytes of the largest packet that TCP builds, 45 segments of 1448
#define PREFETCH  256u
#define FROZEN	  4 // of the memory for answers, one part in so many is for frozen data

static _Thread_local struct {
	struct pdu_tx *first; // linked through owner
	unsigned count;
} free_tx;

struct pdu_tx *pdu_tx_get(struct pdu_conn *c)
{
	struct pdu_tx *tx = free_tx.first;
	if (!tx)
		return calloc(1, sizeof *tx);
	free_tx.first = tx->owner;
	free_tx.count--;
	tx->owner = NULL;
	return tx;
}

void pdu_tx_put(struct pdu_conn *c, struct pdu_tx *tx)
{
	if (tx->owns_data)
		free(tx->data);
	if (free_tx.count >= FREE_KEEP) {
		free(tx);
		return;
	}
	memset(tx, 0, sizeof *tx);
	tx->owner = free_tx.first;
	free_tx.first = tx;
	free_tx.count++;
}

struct pdu_tx *pdu_tx_copy(struct pdu_conn *c, const uint8_t bhs[ISCSI_BHS_LEN], const void *data,
			   uint32_t len)
{
	struct pdu_tx *tx = pdu_tx_get(c);
	if (!tx)
		return NULL;
	memcpy(tx->bhs, bhs, ISCSI_BHS_LEN);
	tx->data_len = len;
	if (!len)
		return tx;
	tx->data = malloc(len);
	if (!tx->data) {
		pdu_tx_put(c, tx);
		return NULL;
	}
	tx->owns_data = true;
	memcpy(tx->data, data, len);
	return tx;
}

// The free list is freed with the worker's last connection.
void pdu_tx_trim(void)
{
	while (free_tx.first) {
		struct pdu_tx *tx = free_tx.first;
		free_tx.first = tx->owner;
		free(tx);
	}
	free_tx.count = 0;
}

struct tx_cursor {
	struct iovec *iov;
	unsigned count, max;
	uint64_t skip; // bytes of the first PDU already sent
	size_t bytes;
};

// False if the vector is full.
static bool cursor_add(struct tx_cursor *v, const void *base, uint64_t len)
{
	if (v->skip >= len) {
		v->skip -= len;
		return true;
	}
	if (v->count == v->max)
		return false;
	v->iov[v->count++] = (struct iovec){ (uint8_t *)base + v->skip, len - v->skip };
	v->bytes += len - v->skip;
	v->skip = 0;
	return true;
}

static bool cursor_add_sg(struct tx_cursor *v, const struct pdu_tx *tx)
{
	uint64_t offset = tx->sg_offset;
	uint32_t left = tx->data_len;
	for (uint32_t i = 0; left && i < tx->nsg; i++) {
		if (offset >= tx->sg[i].len) {
			offset -= tx->sg[i].len;
			continue;
		}
		uint32_t n = tx->sg[i].len - (uint32_t)offset;
		n = n < left ? n : left;
		if (!cursor_add(v, tx->sg[i].addr + offset, n))
			return false;
		left -= n;
		offset = 0;
	}
	return true;
}

static bool cursor_add_pdu(struct tx_cursor *v, const struct pdu_tx *tx)
{
	// bhs and header_digest are adjacent: one piece.
	if (!cursor_add(v, tx->bhs, tx->header_len))
		return false;
	if (tx->data ? !cursor_add(v, tx->data, tx->data_len) : !cursor_add_sg(v, tx))
		return false;
	return !tx->tail_len || cursor_add(v, tx->tail, tx->tail_len);
}

_Static_assert(offsetof(struct pdu_tx, header_digest) ==
		       offsetof(struct pdu_tx, bhs) + ISCSI_BHS_LEN,
	       "header and digest leave as one piece");

static uint32_t data_crc(const struct pdu_tx *tx)
{
	struct iovec iov[TX_IOV];
	struct tx_cursor v = { .iov = iov, .max = TX_IOV };
	if (tx->data)
		return digest_update(ISCSI_CRC_START, tx->data, tx->data_len);
	cursor_add_sg(&v, tx);
	return digest_update_iov(ISCSI_CRC_START, iov, v.count, tx->data_len);
}

static void tx_digest(struct pdu_tx *tx)
{
	uint32_t pad = -tx->data_len & 3;
	digest_put(digest_update_pad(data_crc(tx), tx->data_len), tx->tail + pad);
}

static void tx_seal(struct pdu_conn *c, struct pdu_tx *tx)
{
	struct iscsi_bhs *h = (void *)tx->bhs;
	put_be24(h->data_len, tx->data_len);
	tx->header_len = ISCSI_BHS_LEN;
	if (c->header_digest) {
		digest_header(tx->bhs, ISCSI_BHS_LEN, tx->header_digest);
		tx->header_len += ISCSI_DIGEST_LEN;
	}
	if (!tx->data_len)
		return;
	tx->tail_len = -tx->data_len & 3;
	if (!c->data_digest)
		return;
	tx->tail_len += ISCSI_DIGEST_LEN;
	if (!tx->freezes)
		tx_digest(tx);
}

static uint64_t tx_size(const struct pdu_tx *tx)
{
	return (uint64_t)tx->header_len + tx->data_len + tx->tail_len;
}

// Memory that the PDU keeps until it has left.
static uint64_t tx_kept(const struct pdu_tx *tx)
{
	return sizeof *tx + (tx->owns_data ? tx->data_len : 0);
}

static void tx_keep(struct pdu_conn *c, uint64_t bytes)
{
	c->tx_kept += bytes;
	peer_memory_take(PEER_ANSWERS, bytes);
}

static void tx_copy(struct pdu_conn *c, const struct pdu_tx *tx, uint8_t *to)
{
	uint64_t offset = tx->sg_offset;
	uint32_t done = 0;
	for (uint32_t i = 0; i < tx->nsg && done < tx->data_len; i++) {
		if (offset >= tx->sg[i].len) {
			offset -= tx->sg[i].len;
			continue;
		}
		uint32_t n = tx->sg[i].len - (uint32_t)offset;
		n = n < tx->data_len - done ? n : tx->data_len - done;
		buf_copy_for(c->worker, &c->copied, to + done, tx->sg[i].addr + offset, n);
		done += n;
		offset = 0;
	}
}

// Data that may change, as a RAM disk's memory, must not do so between its digest and the send.
static int tx_freeze(struct pdu_conn *c, struct pdu_tx *tx)
{
	uint8_t *data = malloc(tx->data_len);
	if (!data)
		return -ENOMEM;
	tx_copy(c, tx, data);
	tx->data = data;
	tx->owns_data = true;
	tx->freezes = false;
	tx_keep(c, tx->data_len);
	tx_digest(tx);
	return 0;
}

// Whether tx goes into a batch of so many bytes: a copy of its data may have to wait until others
// have left. Negative: out of memory.
static int tx_ready(struct pdu_conn *c, struct pdu_tx *tx, size_t batch)
{
	if (!tx->freezes)
		return 1;
	if (batch && c->tx_kept + tx->data_len > peer_memory_limit(PEER_ANSWERS) / FROZEN)
		return 0;
	int r = tx_freeze(c, tx);
	return r < 0 ? r : 1;
}

static void tx_end(struct pdu_conn *c, struct pdu_tx *tx, int res)
{
	void (*sent)(struct pdu_conn *, void *, int) = tx->sent;
	void *owner = tx->owner;
	list_remove(&tx->link);
	c->tx_count--;
	c->tx_bytes -= tx_size(tx);
	c->tx_kept -= tx_kept(tx);
	peer_memory_give(PEER_ANSWERS, tx_kept(tx));
	pdu_tx_put(c, tx);
	if (sent)
		sent(c, owner, res);
}

static void on_defer(struct defer *d)
{
	pdu_conn_flush(container_of(d, struct pdu_conn, tx_defer));
}

// The copy into the socket comes a batch later: prefetch the first cache lines of each piece, and
// with them the translation of its address. Prefetching more is slower.
static void tx_prefetch(const struct pdu_tx *tx)
{
	if (!tx->nsg || tx->sg_offset >= tx->sg[0].len)
		return;
	const uint8_t *at = tx->sg[0].addr + tx->sg_offset;
	for (uint32_t i = 0; i < PREFETCH && i < tx->data_len; i += 64)
		__builtin_prefetch(at + i);
}

void pdu_tx_queue(struct pdu_conn *c, struct pdu_tx *tx)
{
	if (c->is_closed) {
		void (*sent)(struct pdu_conn *, void *, int) = tx->sent;
		void *owner = tx->owner;
		pdu_tx_put(c, tx);
		if (sent)
			sent(c, owner, -EPIPE);
		return;
	}
	tx_prefetch(tx);
	tx_seal(c, tx);
	tx->queued_ns = worker_now(c->worker);
	if (list_empty(&c->tx))
		c->last_tx_ns = tx->queued_ns;
	list_push_back(&c->tx, &tx->link);
	c->tx_count++;
	c->tx_bytes += tx_size(tx);
	tx_keep(c, tx_kept(tx));
	c->pdus_out++;
	if (!c->is_in_rx)
		worker_defer(c->worker, &c->tx_defer, on_defer);
}

static void tx_consume(struct pdu_conn *c, uint64_t n)
{
	c->bytes_out += n;
	c->last_tx_ns = worker_now(c->worker);
	n += c->tx_offset;
	c->tx_offset = 0;
	while (n) {
		struct pdu_tx *tx = list_entry(c->tx.next, struct pdu_tx, link);
		uint64_t size = tx_size(tx);
		if (n < size) {
			c->tx_offset = (uint32_t)n;
			return;
		}
		n -= size;
		tx_end(c, tx, 0);
		if (c->is_closed)
			return;
	}
}

// Copies into sockets take the worker's time: with much room in many of them, each gets this much a
// round.
#define ROUND_BYTES (256u << 10)

static uint32_t tx_share(struct pdu_conn *c)
{
	if (c->tx_round != worker_now(c->worker)) {
		c->tx_round = worker_now(c->worker);
		c->tx_share = ROUND_BYTES;
	}
	return c->tx_share;
}

static void cursor_cut(struct tx_cursor *v, size_t bytes)
{
	while (v->bytes > bytes) {
		struct iovec *last = &v->iov[v->count - 1];
		size_t more = v->bytes - bytes;
		size_t n = more < last->iov_len ? more : last->iov_len;
		last->iov_len -= n;
		v->bytes -= n;
		v->count -= !last->iov_len;
	}
}

// The first PDU's header, and with it perhaps the status, may have left: the connection ends.
static void tx_unreadable(struct pdu_conn *c)
{
	struct err e;
	c->is_tx_blocked = true; // nothing may follow a part of a PDU
	tx_end(c, list_entry(c->tx.next, struct pdu_tx, link), -EFAULT);
	err_errno(&e, -EFAULT, "send: the memory of the data");
	pdu_conn_close(c, false, &e);
}

// Sends as many whole PDUs as fit into limit bytes, at least one, or what the share of the round
// permits. False: nothing more can be sent now.
static bool send_some(struct pdu_conn *c, uint64_t limit)
{
	struct iovec iov[TX_IOV];
	struct tx_cursor v = { .iov = iov, .max = TX_IOV, .skip = c->tx_offset };
	int r = 1;
	list_for_each (it, &c->tx) {
		struct pdu_tx *tx = list_entry(it, struct pdu_tx, link);
		if (v.bytes && v.bytes + tx_size(tx) > limit)
			break;
		r = tx_ready(c, tx, v.bytes);
		if (r <= 0 || !cursor_add_pdu(&v, tx))
			break;
	}
	if (r < 0 && !v.bytes) {
		struct err e;
		err_set(&e, r, "out of memory for data with a digest");
		pdu_conn_close(c, false, &e);
		return false;
	}
	cursor_cut(&v, c->tx_share);
	ssize_t n = stream_writev(c->stream, iov, v.count);
	if (n == -EAGAIN) {
		c->is_tx_blocked = true;
		return false;
	}
	if (n == -EFAULT) {
		if (limit)
			return send_some(c, 0); // one alone, to find out which it is
		tx_unreadable(c);
		return false;
	}
	if (n < 0) {
		struct err e;
		err_errno(&e, (int)n, "send");
		pdu_conn_close(c, false, &e);
		return false;
	}
	// Short: the socket is full, and free space raises a new event.
	c->is_tx_blocked = (size_t)n < v.bytes;
	c->tx_share -= (uint32_t)n;
	tx_consume(c, (uint64_t)n);
	return !c->is_closed && !c->is_tx_blocked;
}

static bool has_tx(const struct pdu_conn *c)
{
	return !c->is_closed && !c->is_tx_blocked && !list_empty(&c->tx);
}

static void on_tx_msg(struct msg *m)
{
	struct pdu_conn *c = container_of(m, struct pdu_conn, tx_msg);
	c->is_tx_posted = false;
	if (!c->is_closed)
		pdu_conn_flush(c);
}

static void tx_post(struct pdu_conn *c)
{
	if (c->is_tx_posted)
		return;
	c->is_tx_posted = true;
	c->tx_msg.fn = on_tx_msg;
	worker_post(c->worker, &c->tx_msg);
}

void pdu_conn_flush(struct pdu_conn *c)
{
	while (has_tx(c) && tx_share(c) && send_some(c, tx_share(c)))
		;
	if (has_tx(c) && !tx_share(c))
		tx_post(c);
	if (c->is_closing && !c->is_closed && list_empty(&c->tx))
		pdu_conn_close(c, false, NULL);
}

// A packet of a few bytes costs the kernel as much as one of 64 KiB. A short rest is kept for the
// next call.
void pdu_tx_flush_most(struct pdu_conn *c)
{
	uint64_t left = c->tx_bytes - c->tx_offset, tail = left % PACKET;
	if (left < PACKET || tail > PACKET / 4)
		pdu_conn_flush(c);
	else if (has_tx(c) && tx_share(c))
		send_some(c, left - tail);
}

void pdu_tx_drop_all(struct pdu_conn *c)
{
	c->tx_offset = 0;
	while (!list_empty(&c->tx))
		tx_end(c, list_entry(c->tx.next, struct pdu_tx, link), -EPIPE);
}

// --- the close, after what is queued ---

static void conn_closed(struct pdu_conn *c)
{
	if (c->is_closed)
		return;
	c->is_closed = true;
	if (c->stream)
		stream_free(c->stream);
	c->stream = NULL;
	worker_defer_cancel(&c->tx_defer);
	pdu_tx_drop_all(c);
	c->ops->closed(c, &c->why);
}

void pdu_conn_close(struct pdu_conn *c, bool linger, const struct err *why)
{
	if (c->is_closed || (c->is_closing && linger))
		return;
	if (why && !c->why.code)
		c->why = *why;
	if (!c->why.code)
		err_set(&c->why, -ESHUTDOWN, "connection closed");
	if (linger && !list_empty(&c->tx)) {
		c->is_closing = true;
		c->closing_ns = worker_now(c->worker);
		pdu_conn_flush(c);
		return;
	}
	conn_closed(c);
}
