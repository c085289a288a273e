// SPDX-License-Identifier: BSD-2-Clause
// The bench of the RDMA contract's cases. Everything happens on the test's thread.
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/worker_priv.h"

#define GUARD_USEC     20000000u
#define TEARDOWN_USEC  20000000u
#define RESERVE	       32
#define PAGES_MAX      64
#define OPS_MAX	       4096
#define REGISTERED_MAX 64

const struct rnic_provider *bench_provider;
struct tcp_addr bench_addr;
unsigned bench_connections = 1000;
struct bench *b;

static struct {
	void *at;
	uint64_t len;
} pages[PAGES_MAX];
static unsigned page_count;
static struct op *ops[OPS_MAX];
static unsigned op_count;
static struct rnic_mr *registered[REGISTERED_MAX];
static unsigned registered_count;

// --- the loop ---

static struct timer guard;

static void guard_run(struct timer *t)
{
	b->is_late = true;
	bench_stir();
}

void bench_run_once(struct worker *w)
{
	worker_stop(w);
	worker_run(w);
}

void bench_stir(void)
{
	worker_stop(b->worker);
}

static bool step(uint64_t usec)
{
	b->is_late = false;
	timer_arm(b->worker, &guard, usec);
	atomic_store(&b->worker->is_stopping, false);
	worker_run(b->worker);
	timer_cancel(b->worker, &guard);
	return !b->is_late;
}

void bench_step(const char *file, int line, const char *what)
{
	if (step(GUARD_USEC))
		return;
	print_error("waited in vain for %s\n", what);
	for (unsigned i = 0; i < b->end_count; i++)
		if (b->ends[i]->is_closed)
			print_error("end %u was closed: %s\n", i, b->ends[i]->why.text);
	_fail(file, line);
}

// --- what the contract calls back ---

void bench_reserve(uint32_t count)
{
	assert_int_equal(rnic_reserve(b->rnic, count), 0);
	b->reserved += count;
}

static void on_established(struct rnic_qp *qp, const uint8_t *words, uint32_t len)
{
	struct end *e = qp->owner;

	assert_false(e->is_established);
	e->is_established = true;
	e->words_len = len < sizeof e->words ? len : sizeof e->words;
	if (e->words_len)
		memcpy(e->words, words, e->words_len);
	if (!b->rnic) {
		b->rnic = qp->rnic;
		bench_reserve(RESERVE);
	}
	bench_stir();
	if (e->on_established)
		e->on_established(e);
}

static void on_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	struct end *e = qp->owner;
	struct note *n = &e->notes[e->received % NOTES_MAX];

	assert_true(e->is_established);
	assert_false(e->is_closed);
	*n = (struct note){ .len = rx->len,
			    .rkey = rx->invalidated_rkey,
			    .is_invalidated = rx->is_invalidated,
			    .when = ++b->clock };
	memcpy(n->head, rx->data, rx->len < sizeof n->head ? rx->len : sizeof n->head);
	e->received++;
	if (e->keeps)
		e->kept[e->kept_count++] = rx;
	else
		rnic_rx_put(rx);
	bench_stir();
	if (e->on_received)
		e->on_received(e);
}

static void on_rejected(struct rnic_qp *qp, const uint8_t *words, uint32_t len)
{
	struct end *e = qp->owner;

	assert_false(e->is_established);
	e->is_rejected = true;
	e->words_len = len < sizeof e->words ? len : sizeof e->words;
	if (e->words_len)
		memcpy(e->words, words, e->words_len);
	bench_stir();
}

static void on_closed(struct rnic_qp *qp, const struct err *why)
{
	struct end *e = qp->owner;

	assert_false(e->is_closed);
	assert_int_equal(e->outstanding, 0);
	e->is_closed = true;
	e->closed_when = ++b->clock;
	e->why = *why;
	e->qp = NULL;
	rnic_qp_free(qp);
	bench_stir();
}

static const struct rnic_qp_ops qp_ops = {
	.established = on_established,
	.received = on_received,
	.rejected = on_rejected,
	.closed = on_closed,
};

static void note_request(const struct rnic_request *q)
{
	b->asked_len = q->private_len < sizeof b->asked ? q->private_len : sizeof b->asked;
	if (b->asked_len)
		memcpy(b->asked, q->private_data, b->asked_len);
	b->asked_reads_out = q->reads_out;
	b->asked_reads_in = q->reads_in;
	b->asked_peer = q->peer_addr;
	b->asked_local = q->local_addr;
	snprintf(b->carrier, sizeof b->carrier, "%s", q->carrier);
	if (!b->rnic) {
		b->rnic = q->rnic;
		bench_reserve(RESERVE);
	}
}

struct end *bench_answer_held(void)
{
	struct end *e = end_new();
	struct rnic_request *q = b->held;
	struct err why;

	b->held = NULL;
	b->server = e;
	if (rnic_accept(q, &e->qp, &b->accept, &qp_ops, e, &why) < 0) {
		e->is_closed = true;
		e->why = why;
		e->qp = NULL;
	}
	return e;
}

void bench_request(void *arg, struct rnic_request *q)
{
	assert_ptr_equal(arg, b);
	b->requests++;
	note_request(q);
	b->held = q;
	if (b->answer == ANSWER_ACCEPT) {
		bench_answer_held();
	} else if (b->answer == ANSWER_REJECT) {
		b->held = NULL;
		rnic_reject(q, b->reject, b->reject_len);
	}
	bench_stir();
}

void bench_gone(void *arg, struct rnic_request *q)
{
	assert_ptr_equal(q, b->held);
	b->held = NULL;
	b->gone++;
	bench_stir();
}

static void on_failed(void *arg, const struct err *e)
{
	b->failed = *e;
	bench_stir();
}

static const struct rnic_listener_ops listener_ops = { .request = bench_request,
						       .gone = bench_gone,
						       .failed = on_failed };

// --- set-up and tear-down ---

int bench_setup(void **state)
{
	struct worker_options o = { .name = "contract", .cpu = -1 };
	struct err e;

	b = calloc(1, sizeof *b);
	if (!b || worker_new(&b->worker, &o, &e) < 0)
		fail_msg("worker: %s", b ? e.text : "memory");
	timer_init(&guard, guard_run);
	b->accept.reads_out = b->accept.reads_in = b->connect.reads_out = b->connect.reads_in = 8;
	struct tcp_addr any = bench_addr;
	tcp_addr_set_port(&any, 0);
	// On the worker's loop, as everything is.
	bench_run_once(b->worker);
	if (rnic_listen(bench_provider, &b->listener, b->worker, &any, &listener_ops, b, &e) < 0)
		fail_msg("listen: %s", e.text);
	b->addr = *rnic_listener_addr(b->listener);
	return 0;
}

static void end_give_back(struct end *e)
{
	for (unsigned i = 0; i < e->kept_count; i++)
		if (e->kept[i])
			rnic_rx_put(e->kept[i]);
	e->kept_count = 0;
}

static bool are_all_closed(void)
{
	for (unsigned i = 0; i < b->end_count; i++)
		if (b->ends[i]->qp)
			return false;
	return true;
}

static bool close_everything(void)
{
	bool is_fine = true;

	for (unsigned i = 0; i < b->end_count; i++) {
		end_give_back(b->ends[i]);
		b->ends[i]->keeps = false;
		if (b->ends[i]->qp)
			end_close(b->ends[i], false);
	}
	if (b->held)
		rnic_reject(b->held, NULL, 0);
	while (is_fine && !are_all_closed())
		is_fine = step(TEARDOWN_USEC);
	return is_fine;
}

static void free_everything(void)
{
	for (unsigned i = 0; i < registered_count; i++)
		rnic_deregister(registered[i]);
	registered_count = 0;
	for (unsigned i = 0; i < op_count; i++)
		free(ops[i]);
	op_count = 0;
	if (b->rnic)
		rnic_unreserve(b->rnic, b->reserved);
	rnic_listener_free(b->listener);
	// What was put off to the end of the round goes too.
	bench_run_once(b->worker);
	for (unsigned i = 0; i < page_count; i++)
		munmap(pages[i].at, pages[i].len);
	page_count = 0;
	for (unsigned i = 0; i < b->end_count; i++)
		free(b->ends[i]);
	worker_free(b->worker);
	free(b);
}

int bench_teardown(void **state)
{
	if (!close_everything()) {
		print_error("closing everything took too long\n");
		registered_count = op_count = page_count = 0; // still in use: leaked
		return -1;
	}
	free_everything();
	return 0;
}

// --- ends ---

struct end *end_new(void)
{
	struct end *e = calloc(1, sizeof *e);

	assert_non_null(e);
	assert_true(b->end_count < ENDS_MAX);
	b->ends[b->end_count++] = e;
	return e;
}

struct end *bench_connect_to(const struct tcp_addr *addr)
{
	struct end *e = end_new();
	struct err why;

	if (rnic_connect(bench_provider, &e->qp, b->worker, addr, NULL, &b->connect, &qp_ops, e,
			 &why) < 0)
		fail_msg("connect: %s", why.text);
	return e;
}

struct end *bench_connect(void)
{
	return bench_connect_to(&b->addr);
}

struct end *bench_pair(struct end **ret_server)
{
	struct end *client;

	// Linux's rdma_cm chooses the port of a connection without asking TCP: over siw it may be
	// that of a connection in TIME_WAIT, which the connect then reports.
	do {
		client = bench_connect();
		b->server = NULL;
		UNTIL(client->is_closed ||
		      (client->is_established && b->server && b->server->is_established));
	} while (client->is_closed && client->why.code == -EADDRNOTAVAIL);
	assert_false(client->is_closed);
	*ret_server = b->server;
	end_memory(client);
	end_memory(b->server);
	send_text(client, "hello");
	UNTIL(b->server->received == 1);
	b->server->received = 0;
	return client;
}

void end_close(struct end *e, bool linger)
{
	struct err why;

	err_set(&why, -ESHUTDOWN, "the test says so");
	rnic_close(e->qp, linger, &why);
}

// --- memory ---

void *bench_pages(uint64_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED && page_count < PAGES_MAX);
	pages[page_count].at = at;
	pages[page_count++].len = len;
	return at;
}

struct rnic_mr *bench_register(struct end *e, void *addr, uint64_t len, unsigned access)
{
	struct rnic_mr *mr;
	struct err why;

	assert_true(registered_count < REGISTERED_MAX);
	if (rnic_register(e->qp->rnic, &mr, addr, len, access, &why) < 0)
		fail_msg("register: %s", why.text);
	registered[registered_count++] = mr;
	return mr;
}

void end_memory(struct end *e)
{
	e->out = bench_pages(OUT_SIZE);
	e->in = bench_pages(OUT_SIZE);
	e->out_mr = bench_register(e, e->out, OUT_SIZE, 0);
	// The sink of reads.
	e->in_mr = bench_register(e, e->in, OUT_SIZE,
				  e->qp->rnic->limits.needs_remote_sink ? RNIC_REMOTE_WRITE : 0);
}

void bench_fill(void *at, uint64_t len, unsigned seed)
{
	uint8_t *p = at;

	for (uint64_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + seed);
}

bool bench_is_filled(const void *at, uint64_t len, unsigned seed)
{
	const uint8_t *p = at;

	for (uint64_t i = 0; i < len; i++)
		if (p[i] != (uint8_t)(i * 31 + (i >> 8) * 7 + seed))
			return false;
	return true;
}

// --- requests ---

static void on_done(struct rnic_wr *wr, int res)
{
	struct op *op = container_of(wr, struct op, wr);

	assert_int_equal(op->done, 0);
	op->done++;
	op->when = ++b->clock;
	op->res = res;
	op->end->outstanding--;
	bench_stir();
	if (op->on_done)
		op->on_done(op);
}

struct op *op_new(struct end *e, enum rnic_opcode opcode, unsigned flags)
{
	struct op *op = calloc(1, sizeof *op);

	assert_true(op && op_count < OPS_MAX);
	ops[op_count++] = op;
	op->end = e;
	op->wr.opcode = opcode;
	op->wr.flags = flags;
	op->wr.sge = op->sge;
	op->wr.done = on_done;
	return op;
}

void op_piece(struct op *op, void *addr, uint32_t len, struct rnic_mr *mr)
{
	assert_true(op->wr.nsge < 32);
	op->sge[op->wr.nsge++] = (struct rnic_sge){ .addr = addr, .len = len, .mr = mr };
}

void op_remote(struct op *op, uint64_t addr, uint32_t rkey)
{
	op->wr.remote_addr = addr;
	op->wr.rkey = rkey;
}

int op_post(struct op *op)
{
	int r = rnic_post(op->end->qp, &op->wr);

	op->end->outstanding += r == 0;
	return r;
}

struct op *send_text(struct end *e, const char *text)
{
	struct op *op = op_new(e, RNIC_SEND, RNIC_SIGNALED);
	uint32_t len = (uint32_t)strlen(text);

	memcpy(e->out, text, len);
	op_piece(op, e->out, len, e->out_mr);
	assert_int_equal(op_post(op), 0);
	return op;
}

bool is_iwarp(void)
{
	return strcmp(b->carrier, "iWARP") == 0;
}

bool is_siw(void)
{
	return is_iwarp_adapter() && !b->rnic->limits.needs_remote_sink;
}

bool is_iwarp_adapter(void)
{
	return is_iwarp() && strcmp(bench_provider->name, "iwarp") != 0;
}
