// SPDX-License-Identifier: BSD-2-Clause
// The receive and the send machine over a socket pair: PDUs cut anywhere, digests, sinks, what is
// discarded, partial sends, closes.
#include "transport/iscsi/wire_util.h"

#include "transport/iscsi/pdu_conn.h"

enum { SEEN_MAX = 8, ROOM = 1 << 20 };

// What arrived, in the order it did.
struct seen {
	uint8_t bhs[ISCSI_BHS_LEN], ahs[64];
	uint32_t ahs_len, data_len;
	int res;
	bool is_complete;
	uint8_t text[256];
};

struct rig {
	struct pdu_conn c;
	int fds[2];
	bool header_digest, data_digest;
	enum pdu_sink_kind kind; // of SCSI commands; all else goes to a buffer
	struct sg sg[3];
	uint32_t nsg, sink_len;
	uint64_t sink_offset;
	struct seen seen[SEEN_MAX];
	unsigned count, rejects, closes;
	int why;
	int sent[SEEN_MAX];
	unsigned sent_count;
	uint8_t *memory;
};

static int on_header(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     const uint8_t *ahs, struct pdu_sink *sink, struct err *e)
{
	struct rig *r = c->owner;
	struct seen *s = &r->seen[r->count++ % SEEN_MAX];
	memset(s, 0, sizeof *s);
	memcpy(s->bhs, bhs, sizeof s->bhs);
	s->ahs_len = pdu->ahs_len;
	s->data_len = pdu->data_len;
	s->is_complete = !pdu->data_len;
	if (ahs)
		memcpy(s->ahs, ahs, pdu->ahs_len);
	sink->kind = pdu->opcode == ISCSI_OP_SCSI_CMD ? r->kind : PDU_TO_BUFFER;
	sink->sg = r->sg;
	sink->nsg = r->nsg;
	sink->sg_offset = r->sink_offset;
	sink->len = r->sink_len;
	sink->owner = r;
	return 0;
}

static int on_received(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, int res, struct err *e)
{
	struct rig *r = c->owner;
	struct seen *s = &r->seen[(r->count - 1) % SEEN_MAX];
	s->res = res;
	s->is_complete = !memcmp(bhs, s->bhs, sizeof s->bhs);
	if (data)
		memcpy(s->text, data, pdu->data_len < 256 ? pdu->data_len : 256);
	return 0;
}

static int on_reject(struct pdu_conn *c, uint8_t reason, const uint8_t *bhs, struct err *e)
{
	((struct rig *)c->owner)->rejects++;
	return 0;
}

static void on_closed(struct pdu_conn *c, const struct err *e)
{
	struct rig *r = c->owner;
	r->closes++;
	r->why = e->code;
}

static void on_ahead(struct pdu_conn *c, const uint8_t *bhs)
{
}

static const struct pdu_conn_ops ops = {
	.header = on_header,
	.received = on_received,
	.ahead = on_ahead,
	.reject = on_reject,
	.closed = on_closed,
};

// --- what the tests do on the worker ---

static void open_run(void *arg)
{
	struct rig *r = arg;
	struct err e;
	assert_int_equal(pdu_conn_init(&r->c, worker, r->fds[0], ISCSI_ROLE_TARGET, &ops, r, &e),
			 0);
	pdu_conn_set_phase(&r->c, ISCSI_PHASE_FULL_FEATURE, ROOM, r->header_digest, r->data_digest);
}

static void done_run(void *arg)
{
	struct rig *r = arg;
	struct err why = { .code = -ESHUTDOWN };
	pdu_conn_close(&r->c, false, &why);
	pdu_conn_done(&r->c);
}

static void linger_run(void *arg)
{
	struct err why = { .code = -ESTALE };
	pdu_conn_close(&((struct rig *)arg)->c, true, &why);
}

static void discard_run(void *arg)
{
	pdu_conn_discard(&((struct rig *)arg)->c, arg);
}

static void stop_run(void *arg)
{
	pdu_conn_stop_rx(&((struct rig *)arg)->c);
}

static void start_run(void *arg)
{
	pdu_conn_start_rx(&((struct rig *)arg)->c);
}

struct probe {
	struct rig *r;
	uint64_t bytes;
	bool is_closed;
};

static void probe_run(void *arg)
{
	struct probe *p = arg;
	p->bytes = p->r->c.bytes_in;
	p->is_closed = p->r->closes != 0;
}

// Until so many bytes were received, or the connection is closed.
static void wait_bytes(struct rig *r, uint64_t bytes)
{
	struct probe p = { .r = r };
	do {
		sched_yield();
		worker_call(worker, probe_run, &p);
	} while (p.bytes < bytes && !p.is_closed);
}

static void wait_closed(struct rig *r)
{
	wait_bytes(r, UINT64_MAX);
}

static void rig_open(struct rig *r, bool header_digest, bool data_digest)
{
	memset(r, 0, sizeof *r);
	r->header_digest = header_digest;
	r->data_digest = data_digest;
	r->memory = calloc(1, ROOM);
	r->kind = PDU_TO_SG;
	r->sg[0] = (struct sg){ .addr = r->memory, .len = 5 };
	r->sg[1] = (struct sg){ .addr = r->memory + 5, .len = 300 };
	r->sg[2] = (struct sg){ .addr = r->memory + 305, .len = ROOM - 305 };
	r->nsg = 3;
	r->sink_len = ROOM;
	wire_pair(r->fds);
	worker_call(worker, open_run, r);
}

static void rig_close(struct rig *r)
{
	worker_call(worker, done_run, r);
	assert_int_equal(r->closes, 1);
	close(r->fds[1]);
	free(r->memory);
}

// --- receiving ---

static const uint8_t ahs[8] = { 0, 5, 1, 0, 1, 2, 3, 4 };
static uint8_t payload[ROOM];

static size_t command(const struct rig *r, uint8_t *out, size_t len, const uint8_t *extra)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_SCSI_CMD, ISCSI_F | ISCSI_CMD_W };
	return wire_pdu(out, bhs, extra, extra ? sizeof ahs : 0, payload, len, r->header_digest,
			r->data_digest);
}

static size_t nop(const struct rig *r, uint8_t *out, const char *text)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_OUT, ISCSI_F };
	return wire_pdu(out, bhs, NULL, 0, text, strlen(text), r->header_digest, r->data_digest);
}

// A command with AHS and data of an odd length, a NOP with text, one without.
static size_t three_pdus(const struct rig *r, uint8_t *out)
{
	size_t n = command(r, out, 401, ahs);
	n += nop(r, out + n, "hello");
	return n + nop(r, out + n, "");
}

static void check_three(const struct rig *r)
{
	assert_int_equal(r->count, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(r->seen[i].is_complete);
		assert_int_equal(r->seen[i].res, 0);
	}
	assert_int_equal(r->seen[0].ahs_len, sizeof ahs);
	assert_memory_equal(r->seen[0].ahs, ahs, sizeof ahs);
	assert_memory_equal(r->memory, payload, 401);
	assert_int_equal(r->memory[401], 0);
	assert_string_equal((const char *)r->seen[1].text, "hello");
	assert_int_equal(r->seen[2].data_len, 0);
}

static void cut_everywhere(bool header_digest, bool data_digest)
{
	static struct rig r;
	uint8_t raw[1024];
	size_t size, cut = 0;
	do {
		rig_open(&r, header_digest, data_digest);
		size = three_pdus(&r, raw);
		wire_send(r.fds[1], raw, cut);
		wait_bytes(&r, cut);
		wire_send(r.fds[1], raw + cut, size - cut);
		wait_bytes(&r, size);
		check_three(&r);
		rig_close(&r);
	} while (++cut < size);
	assert_true(size > 500);
}

static void test_pdus_cut_at_any_byte(void **state)
{
	cut_everywhere(false, false);
	cut_everywhere(true, false);
	cut_everywhere(false, true);
	cut_everywhere(true, true);
}

static void test_pdus_come_byte_by_byte(void **state)
{
	static struct rig r;
	uint8_t raw[1024];
	rig_open(&r, true, true);
	size_t size = three_pdus(&r, raw);
	for (size_t i = 0; i < size; i++) {
		wire_send(r.fds[1], raw + i, 1);
		wait_bytes(&r, i + 1);
	}
	check_three(&r);
	rig_close(&r);
}

static void test_a_wrong_header_digest_closes(void **state)
{
	static struct rig r;
	uint8_t raw[1024];
	for (unsigned at = 0; at < ISCSI_BHS_LEN + ISCSI_DIGEST_LEN; at++) {
		if (at >= 4 && at < 8)
			continue; // the lengths: more bytes would be waited for
		rig_open(&r, true, false);
		size_t size = nop(&r, raw, "");
		raw[at] ^= 0x10;
		wire_send(r.fds[1], raw, size);
		wait_closed(&r);
		assert_int_equal(r.count, 0);
		assert_int_equal(r.why, -EBADMSG);
		rig_close(&r);
	}
}

static void test_a_wrong_data_digest_is_told_and_the_stream_goes_on(void **state)
{
	static struct rig r;
	uint8_t raw[2048];
	rig_open(&r, true, true);
	size_t first = command(&r, raw, 401, NULL), size = first + three_pdus(&r, raw + first);
	raw[ISCSI_BHS_LEN + ISCSI_DIGEST_LEN + 402] ^= 1; // in the pad
	wire_send(r.fds[1], raw, size);
	wait_bytes(&r, size);
	assert_int_equal(r.count, 4);
	assert_int_equal(r.seen[0].res, -EBADMSG);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(r.seen[i].res, 0);
	assert_int_equal(r.c.digest_errors, 1);
	rig_close(&r);
}

static void test_a_sink_takes_its_part_at_its_offset(void **state)
{
	static struct rig r;
	uint8_t raw[2048];
	rig_open(&r, false, true);
	r.sink_offset = 3; // two bytes before the end of the first piece
	r.sink_len = 310;
	size_t size = command(&r, raw, 401, NULL);
	size += nop(&r, raw + size, "behind");
	wire_send(r.fds[1], raw, size);
	wait_bytes(&r, size);
	assert_int_equal(r.seen[0].res, 0); // the digest covers what is thrown away too
	assert_memory_equal(r.memory + 3, payload, 310);
	assert_int_equal(r.memory[2], 0);
	assert_int_equal(r.memory[313], 0);
	assert_string_equal((const char *)r.seen[1].text, "behind");
	rig_close(&r);
}

static void test_a_sink_that_is_discarded_gets_no_more(void **state)
{
	static struct rig r;
	static uint8_t raw[100 << 10];
	for (unsigned digest = 0; digest < 2; digest++) {
		rig_open(&r, digest, digest);
		size_t size = command(&r, raw, 64 << 10, NULL), half = 20000;
		size += nop(&r, raw + size, "behind");
		wire_send(r.fds[1], raw, half);
		wait_bytes(&r, half);
		worker_call(worker, discard_run, &r);
		memset(r.memory, 0xee, ROOM);
		wire_send(r.fds[1], raw + half, size - half);
		wait_bytes(&r, size);
		for (unsigned i = 0; i < 64 << 10; i++)
			assert_int_equal(r.memory[i], 0xee);
		assert_int_equal(r.seen[0].res, 0);
		assert_string_equal((const char *)r.seen[1].text, "behind");
		rig_close(&r);
	}
}

static void test_large_segments_are_received_in_place(void **state)
{
	static struct rig r;
	static uint8_t raw[ROOM];
	rig_open(&r, false, false);
	uint64_t before = worker_counters(worker)->payload_copies, total = 0;
	for (unsigned i = 0; i < 16; i++) {
		size_t size = command(&r, raw, 128 << 10, NULL);
		memset(r.memory, 0, 128 << 10);
		wire_send(r.fds[1], raw, size);
		wait_bytes(&r, total += size);
		assert_memory_equal(r.memory, payload, 128 << 10);
	}
	assert_int_equal(worker_counters(worker)->payload_copies - before, 0);
	rig_close(&r);
}

static void test_receiving_stops_and_goes_on(void **state)
{
	static struct rig r;
	uint8_t raw[1024];
	rig_open(&r, false, false);
	worker_call(worker, stop_run, &r);
	size_t size = three_pdus(&r, raw);
	wire_send(r.fds[1], raw, size);
	for (unsigned i = 0; i < 100; i++) {
		struct probe p = { .r = &r };
		worker_call(worker, probe_run, &p);
		assert_int_equal(p.bytes, 0);
	}
	worker_call(worker, start_run, &r);
	wait_bytes(&r, size);
	check_three(&r);
	rig_close(&r);
}

static void test_rejected_headers_have_their_data_skipped(void **state)
{
	static struct rig r;
	uint8_t raw[2048], bhs[ISCSI_BHS_LEN] = { 0x1c, ISCSI_F };
	rig_open(&r, true, true);
	size_t size = wire_pdu(raw, bhs, NULL, 0, payload, 399, true, true);
	size += three_pdus(&r, raw + size);
	wire_send(r.fds[1], raw, size);
	wait_bytes(&r, size);
	assert_int_equal(r.rejects, 1);
	assert_int_equal(r.seen[r.count - 1].res, 0);
	assert_string_equal((const char *)r.seen[r.count - 2].text, "hello");
	rig_close(&r);
}

static void test_the_peers_end_closes_once(void **state)
{
	static struct rig r;
	uint8_t raw[1024];
	for (size_t cut = 0; cut < 500; cut += 13) {
		rig_open(&r, true, true);
		three_pdus(&r, raw);
		wire_send(r.fds[1], raw, cut);
		shutdown(r.fds[1], SHUT_WR);
		wait_closed(&r);
		assert_int_equal(r.why, -EPIPE);
		rig_close(&r);
	}
}

// --- sending ---

static void on_sent(struct pdu_conn *c, void *owner, int res)
{
	struct rig *r = owner;
	r->sent[r->sent_count++ % SEEN_MAX] = res;
}

enum { BIG = 3u << 20 };
static uint8_t big[BIG];

static void send_run(void *arg)
{
	struct rig *r = arg;
	for (unsigned i = 0; i < 3; i++) {
		struct pdu_tx *tx = pdu_tx_get(&r->c);
		static struct sg sg[2];
		sg[0] = (struct sg){ .addr = big, .len = 1000001 };
		sg[1] = (struct sg){ .addr = big + 1000001, .len = BIG - 1000001 };
		tx->bhs[0] = ISCSI_OP_DATA_IN;
		tx->bhs[1] = (uint8_t)i;
		tx->sg = sg;
		tx->nsg = 2;
		tx->sg_offset = i;
		tx->data_len = BIG - 7;
		tx->sent = on_sent;
		tx->owner = r;
		pdu_tx_queue(&r->c, tx);
	}
	pdu_conn_flush(&r->c);
}

static void expect_big(struct rig *r, unsigned i)
{
	static uint8_t raw[BIG + 64], want[BIG + 64];
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_DATA_IN, (uint8_t)i };
	size_t size =
		wire_pdu(want, bhs, NULL, 0, big + i, BIG - 7, r->header_digest, r->data_digest);
	assert_int_equal(wire_recv(r->fds[1], raw, size), size);
	assert_memory_equal(raw, want, size);
}

static void test_sends_in_pieces_arrive_whole_and_in_order(void **state)
{
	static struct rig r;
	for (unsigned digest = 0; digest < 2; digest++) {
		rig_open(&r, digest, digest);
		worker_call(worker, send_run, &r); // far beyond what the socket holds
		for (unsigned i = 0; i < 3; i++)
			expect_big(&r, i);
		rig_close(&r);
		assert_int_equal(r.sent_count, 3);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(r.sent[i], 0);
	}
}

static void test_a_close_returns_what_is_queued(void **state)
{
	static struct rig r;
	rig_open(&r, false, false);
	worker_call(worker, send_run, &r);
	rig_close(&r);
	assert_int_equal(r.sent_count, 3);
	assert_int_equal(r.sent[2], -EPIPE);
	assert_int_equal(r.why, -ESHUTDOWN);
}

static void test_a_lingering_close_lets_what_is_queued_leave(void **state)
{
	static struct rig r;
	uint8_t byte;
	rig_open(&r, true, true);
	worker_call(worker, send_run, &r);
	worker_call(worker, linger_run, &r);
	for (unsigned i = 0; i < 3; i++)
		expect_big(&r, i);
	assert_int_equal(wire_recv(r.fds[1], &byte, 1), 0);
	wait_closed(&r);
	assert_int_equal(r.why, -ESTALE);
	assert_int_equal(r.sent[2], 0);
	rig_close(&r);
}

static void test_after_a_close_sends_fail_at_once(void **state)
{
	static struct rig r;
	rig_open(&r, false, false);
	shutdown(r.fds[1], SHUT_RDWR);
	wait_closed(&r);
	worker_call(worker, send_run, &r);
	assert_int_equal(r.sent_count, 3);
	assert_int_equal(r.sent[0], -EPIPE);
	rig_close(&r);
}

struct answers {
	struct rig *r;
	unsigned count;
};

enum { ANSWER = 4096 };

// Queues so many, then lets go of what fills packets.
static void answers_run(void *arg)
{
	struct answers *a = arg;
	static struct sg sg = { .addr = big, .len = ANSWER };
	for (unsigned i = 0; i < a->count; i++) {
		struct pdu_tx *tx = pdu_tx_get(&a->r->c);
		tx->bhs[0] = ISCSI_OP_DATA_IN;
		tx->sg = &sg;
		tx->nsg = 1;
		tx->data_len = ANSWER;
		a->r->c.is_in_rx = true; // as in a receive: nothing leaves by itself
		pdu_tx_queue(&a->r->c, tx);
	}
	a->r->c.is_in_rx = false;
	pdu_tx_flush_most(&a->r->c);
}

static void flush_run(void *arg)
{
	pdu_conn_flush(&((struct rig *)arg)->c);
}

// How many bytes of answers leave at first; the rest has to follow.
static size_t leaves_at_first(unsigned count)
{
	static struct rig r;
	static uint8_t raw[64 * (ISCSI_BHS_LEN + ANSWER)];
	size_t whole = count * (ISCSI_BHS_LEN + ANSWER);
	rig_open(&r, false, false);
	struct answers a = { .r = &r, .count = count };
	worker_call(worker, answers_run, &a);
	ssize_t first = recv(r.fds[1], raw, sizeof raw, MSG_DONTWAIT);
	assert_true(first > 0);
	worker_call(worker, flush_run, &r);
	assert_int_equal(wire_recv(r.fds[1], raw, whole - (size_t)first), whole - (size_t)first);
	rig_close(&r);
	return (size_t)first;
}

static void test_an_end_that_would_be_a_small_packet_waits_for_more(void **state)
{
	assert_int_equal(leaves_at_first(16), 15 * (ISCSI_BHS_LEN + ANSWER));
}

static void test_an_end_that_is_large_or_all_there_is_does_not_wait(void **state)
{
	assert_int_equal(leaves_at_first(3), 3 * (ISCSI_BHS_LEN + ANSWER));
	assert_int_equal(leaves_at_first(24), 24 * (ISCSI_BHS_LEN + ANSWER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pdus_cut_at_any_byte),
		cmocka_unit_test(test_pdus_come_byte_by_byte),
		cmocka_unit_test(test_a_wrong_header_digest_closes),
		cmocka_unit_test(test_a_wrong_data_digest_is_told_and_the_stream_goes_on),
		cmocka_unit_test(test_a_sink_takes_its_part_at_its_offset),
		cmocka_unit_test(test_a_sink_that_is_discarded_gets_no_more),
		cmocka_unit_test(test_large_segments_are_received_in_place),
		cmocka_unit_test(test_receiving_stops_and_goes_on),
		cmocka_unit_test(test_rejected_headers_have_their_data_skipped),
		cmocka_unit_test(test_the_peers_end_closes_once),
		cmocka_unit_test(test_sends_in_pieces_arrive_whole_and_in_order),
		cmocka_unit_test(test_a_close_returns_what_is_queued),
		cmocka_unit_test(test_a_lingering_close_lets_what_is_queued_leave),
		cmocka_unit_test(test_after_a_close_sends_fail_at_once),
		cmocka_unit_test(test_an_end_that_would_be_a_small_packet_waits_for_more),
		cmocka_unit_test(test_an_end_that_is_large_or_all_there_is_does_not_wait),
	};
	fill_pattern(payload, sizeof payload, 3);
	fill_pattern(big, sizeof big, 5);
	return cmocka_run_group_tests(tests, wire_setup, wire_teardown);
}
