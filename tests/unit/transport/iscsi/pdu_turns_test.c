// SPDX-License-Identifier: BSD-2-Clause
// Whose turn it is: one connection's share of a round, and that nothing is looked at once receiving
// has stopped. Judged by the order in which PDUs are seen on the worker.
#include "transport/iscsi/wire_util.h"

#include "transport/iscsi/pdu_conn.h"

enum { FLOOD = 1000, SHARE = 256, SETTLED = 16, SLOW = 40 };

struct rig {
	struct pdu_conn c;
	int fds[2];
	unsigned count, closes;
	bool stops_each; // receiving stops at each PDU
	bool is_slow;	 // each PDU is a long piece of work
	const struct rig *other;
	unsigned others; // PDUs that the other one had been given when ours came first
};

// For more than a round's time, by either clock.
static void work_long(void)
{
	uint64_t begin = clock_coarse_ns(), end = clock_ns() + 2000000;
	while (clock_coarse_ns() == begin || clock_ns() < end)
		;
}

static int on_header(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     const uint8_t *ahs, struct pdu_sink *sink, struct err *e)
{
	struct rig *r = c->owner;
	assert_int_equal(get_be32(bhs + 16), r->count);
	if (!r->count++ && r->other)
		r->others = r->other->count;
	if (r->stops_each)
		pdu_conn_stop_rx(c);
	if (r->is_slow)
		work_long();
	return 0;
}

static int on_received(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, int res, struct err *e)
{
	return 0;
}

static int on_reject(struct pdu_conn *c, uint8_t reason, const uint8_t *bhs, struct err *e)
{
	fail();
	return 0;
}

static void on_ahead(struct pdu_conn *c, const uint8_t *bhs)
{
}

static void on_closed(struct pdu_conn *c, const struct err *e)
{
	((struct rig *)c->owner)->closes++;
}

static const struct pdu_conn_ops ops = {
	.header = on_header,
	.received = on_received,
	.ahead = on_ahead,
	.reject = on_reject,
	.closed = on_closed,
};

static void open_run(void *arg)
{
	struct rig *r = arg;
	struct err e;
	assert_int_equal(pdu_conn_init(&r->c, worker, r->fds[0], ISCSI_ROLE_TARGET, &ops, r, &e),
			 0);
	pdu_conn_set_phase(&r->c, ISCSI_PHASE_FULL_FEATURE, 8192, false, false);
	pdu_conn_stop_rx(&r->c);
}

static void start_run(void *arg)
{
	pdu_conn_start_rx(&((struct rig *)arg)->c);
}

static void close_run(void *arg)
{
	struct rig *r = arg;
	struct err why = { .code = -ESHUTDOWN };
	pdu_conn_close(&r->c, false, &why);
	pdu_conn_done(&r->c);
}

struct probe {
	const struct rig *r;
	unsigned count;
	bool has_event; // of the bytes that were sent
};

static void probe_run(void *arg)
{
	struct probe *p = arg;
	p->count = p->r->count;
	p->has_event = p->r->c.last_rx_ns != 0;
}

static void wait_event(const struct rig *r)
{
	struct probe p = { .r = r };
	while (!p.has_event) {
		sched_yield();
		worker_call(worker, probe_run, &p);
	}
}

static unsigned seen(const struct rig *r)
{
	struct probe p = { .r = r };
	worker_call(worker, probe_run, &p);
	return p.count;
}

static void rig_open(struct rig *r)
{
	memset(r, 0, sizeof *r);
	wire_pair(r->fds);
	worker_call(worker, open_run, r);
}

static void rig_close(struct rig *r)
{
	worker_call(worker, close_run, r);
	close(r->fds[1]);
}

// count task management requests, numbered by their tags.
static void send_pdus(struct rig *r, unsigned count)
{
	uint8_t *raw = calloc(count, ISCSI_BHS_LEN);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *bhs = raw + (size_t)i * ISCSI_BHS_LEN;
		bhs[0] = ISCSI_OP_TMF_REQ;
		bhs[1] = ISCSI_F | ISCSI_TMF_LUN_RESET;
		put_be32(bhs + 16, i);
	}
	wire_send(r->fds[1], raw, (size_t)count * ISCSI_BHS_LEN);
	free(raw);
}

static void both_start(void *arg)
{
	struct rig *r = arg;
	start_run(&r[0]);
	start_run(&r[1]);
}

static void a_flood_leaves_a_turn_for_others(void **state)
{
	static struct rig r[2];
	rig_open(&r[0]);
	rig_open(&r[1]);
	r[1].other = &r[0];
	send_pdus(&r[0], FLOOD);
	send_pdus(&r[1], 1);
	wait_event(&r[0]); // from now on they go in the order in which they start
	wait_event(&r[1]);
	worker_call(worker, both_start, r);
	while (seen(&r[1]) < 1 || seen(&r[0]) < FLOOD)
		sched_yield();
	assert_in_range(r[1].others, 1, SHARE);
	rig_close(&r[0]);
	rig_close(&r[1]);
}

static void a_few_pdus_that_take_long_are_a_whole_turn(void **state)
{
	static struct rig r[2];
	rig_open(&r[0]);
	rig_open(&r[1]);
	r[0].is_slow = true;
	r[1].other = &r[0];
	send_pdus(&r[0], SLOW);
	send_pdus(&r[1], 1);
	wait_event(&r[0]);
	wait_event(&r[1]);
	worker_call(worker, both_start, r);
	while (seen(&r[1]) < 1 || seen(&r[0]) < SLOW)
		sched_yield();
	assert_in_range(r[1].others, 1, 2);
	rig_close(&r[0]);
	rig_close(&r[1]);
}

enum { ANSWERS = 64, ANSWER = 65536, SENT_A_ROUND = 256 << 10 };

struct sending {
	struct rig *r;
	uint64_t left; // bytes after the first round
	bool is_over;
};

static void send_run(void *arg)
{
	static uint8_t data[ANSWER];
	struct sending *s = arg;
	struct pdu_conn *c = &s->r->c;
	for (unsigned i = 0; i < ANSWERS; i++) {
		uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_IN, ISCSI_F };
		pdu_tx_queue(c, pdu_tx_copy(c, bhs, data, sizeof data));
	}
	pdu_conn_flush(c);
	pdu_conn_flush(c);
	s->left = c->tx_bytes - c->tx_offset;
}

static void sent_run(void *arg)
{
	struct sending *s = arg;
	s->is_over = list_empty(&s->r->c.tx);
}

// However much room there is in the socket.
static void a_connection_sends_its_share_in_a_round(void **state)
{
	static struct rig r;
	static struct sending s = { .r = &r };
	static uint8_t in[1 << 20];
	uint64_t total = (uint64_t)ANSWERS * (ISCSI_BHS_LEN + ANSWER);
	int room = 8 << 20;
	rig_open(&r);
	setsockopt(r.fds[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
	setsockopt(r.fds[1], SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
	worker_call(worker, send_run, &s);
	assert_in_range(s.left, total - SENT_A_ROUND, total - 1);
	for (uint64_t got = 0; got < total;) {
		ssize_t n = read(r.fds[1], in, sizeof in);
		assert_true(n > 0);
		got += (uint64_t)n;
	}
	worker_call(worker, sent_run, &s);
	assert_true(s.is_over);
	rig_close(&r);
}

// Past the first ones a receive brings many PDUs at once.
static void nothing_is_looked_at_once_receiving_has_stopped(void **state)
{
	static struct rig r;
	rig_open(&r);
	r.stops_each = true;
	send_pdus(&r, 10 * SETTLED);
	for (unsigned i = 1; i <= 10 * SETTLED; i++) {
		worker_call(worker, start_run, &r);
		while (seen(&r) < i)
			sched_yield();
		assert_int_equal(seen(&r), i);
	}
	rig_close(&r);
}

static void what_is_left_is_dropped_with_the_connection(void **state)
{
	static struct rig r;
	rig_open(&r);
	send_pdus(&r, FLOOD);
	worker_call(worker, start_run, &r);
	while (!seen(&r))
		sched_yield();
	rig_close(&r);
	assert_int_equal(r.closes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_leaves_a_turn_for_others),
		cmocka_unit_test(a_few_pdus_that_take_long_are_a_whole_turn),
		cmocka_unit_test(a_connection_sends_its_share_in_a_round),
		cmocka_unit_test(nothing_is_looked_at_once_receiving_has_stopped),
		cmocka_unit_test(what_is_left_is_dropped_with_the_connection),
	};
	return cmocka_run_group_tests(tests, wire_setup, wire_teardown);
}
