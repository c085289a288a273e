// SPDX-License-Identifier: BSD-2-Clause
// What a peer must not reach, and what each side sees when it tries; exposing, concealing and
// invalidating; the registrations a provider holds.
#include "bench.h"

#define LEN 8192u

static struct end *client, *server;
static uint8_t *far; // the client's
static struct rnic_mr *far_mr;

static void open_far(unsigned access)
{
	client = bench_pair(&server);
	far = bench_pages(LEN + 4096);
	far_mr = bench_register(client, far, LEN, access);
}

static struct op *try(enum rnic_opcode opcode, uint64_t addr, uint32_t rkey, uint32_t len)
{
	struct op *op = op_new(server, opcode, RNIC_SIGNALED);

	if (opcode == RNIC_READ)
		op_piece(op, server->in, len, server->in_mr);
	else
		op_piece(op, server->out, len, server->out_mr);
	op_remote(op, addr, rkey);
	bench_fill(server->out, len, 1);
	assert_int_equal(op_post(op), 0);
	return op;
}

// The connection ends on both sides; the memory is as it was, and nothing was fetched. iWARP does
// not acknowledge writes: there the first to know is the close.
static void assert_refused(const struct op *op)
{
	UNTIL(op->done && server->is_closed && client->is_closed);
	for (uint32_t i = 0; i < LEN + 4096; i++)
		assert_int_equal(far[i], 0);
	if (op->wr.opcode == RNIC_READ)
		for (uint32_t i = 0; i < 4096; i++)
			assert_int_equal(server->in[i], 0);
	if (op->wr.opcode == RNIC_READ || !is_iwarp())
		assert_int_not_equal(op->res, 0);
	if (!is_iwarp())
		assert_int_equal(op->res, -EACCES);
	assert_true(server->why.code < 0 && client->why.code < 0);
	bool is_error = op->res && op->res != -ECANCELED;
	assert_int_equal(worker_counters(b->worker)->rdma_errors > 0, is_error);
}

static uint64_t at(uint64_t offset)
{
	return (uint64_t)(uintptr_t)far + offset;
}

static void a_write_with_an_unknown_key_is_refused(void **state)
{
	open_far(RNIC_REMOTE_WRITE);
	assert_refused(try(RNIC_WRITE, at(0), far_mr->rkey ^ 0x5a5a00, 100));
}

static void a_read_with_an_unknown_key_is_refused(void **state)
{
	open_far(RNIC_REMOTE_READ);
	assert_refused(try(RNIC_READ, at(0), far_mr->rkey ^ 0x5a5a00, 100));
}

static void a_write_one_byte_beyond_the_end_is_refused(void **state)
{
	open_far(RNIC_REMOTE_WRITE);
	assert_refused(try(RNIC_WRITE, at(LEN - 100), far_mr->rkey, 101));
}

static void a_read_one_byte_beyond_the_end_is_refused(void **state)
{
	open_far(RNIC_REMOTE_READ);
	assert_refused(try(RNIC_READ, at(LEN - 100), far_mr->rkey, 101));
}

static void a_write_before_the_beginning_is_refused(void **state)
{
	open_far(RNIC_REMOTE_WRITE);
	assert_refused(try(RNIC_WRITE, at(0) - 1, far_mr->rkey, 100));
}

static void an_address_that_wraps_is_refused(void **state)
{
	open_far(RNIC_REMOTE_WRITE);
	assert_refused(try(RNIC_WRITE, UINT64_MAX - 49, far_mr->rkey, 100));
}

static void a_write_to_the_last_byte_is_none_too_far(void **state)
{
	open_far(RNIC_REMOTE_WRITE);
	try(RNIC_WRITE, at(LEN - 100), far_mr->rkey, 100);
	struct op *op = op_new(server, RNIC_SEND, RNIC_SIGNALED);
	assert_int_equal(op_post(op), 0);
	UNTIL(client->received == 1);
	assert_true(bench_is_filled(far + LEN - 100, 100, 1));
}

static void memory_for_reading_is_not_written(void **state)
{
	open_far(RNIC_REMOTE_READ);
	assert_refused(try(RNIC_WRITE, at(0), far_mr->rkey, 100));
}

static void memory_for_writing_is_not_read(void **state)
{
	open_far(RNIC_REMOTE_WRITE);
	if (is_siw())
		skip();
	assert_refused(try(RNIC_READ, at(0), far_mr->rkey, 100));
}

static void memory_for_local_use_is_not_written(void **state)
{
	open_far(0);
	assert_refused(try(RNIC_WRITE, at(0), far_mr->rkey, 100));
}

static void memory_for_local_use_is_not_read(void **state)
{
	open_far(0);
	if (is_siw())
		skip();
	assert_refused(try(RNIC_READ, at(0), far_mr->lkey, 100));
}

static void a_deregistered_key_is_dead(void **state)
{
	struct rnic_mr *mr;
	struct err e;

	client = bench_pair(&server);
	far = bench_pages(LEN + 4096);
	assert_int_equal(rnic_register(client->qp->rnic, &mr, far, LEN, RNIC_REMOTE_WRITE, &e), 0);
	uint32_t rkey = mr->rkey;
	rnic_deregister(mr);
	assert_refused(try(RNIC_WRITE, at(0), rkey, 100));
}

static void what_was_posted_behind_a_refused_request_is_flushed(void **state)
{
	open_far(RNIC_REMOTE_READ);
	struct op *bad = try(RNIC_READ, at(0), far_mr->rkey ^ 0x5a5a00, 100);
	struct op *behind = op_new(server, RNIC_SEND, RNIC_SIGNALED | RNIC_FENCE);
	assert_int_equal(op_post(behind), 0);
	UNTIL(bad->done && behind->done && server->is_closed);
	assert_int_equal(behind->res, -ECANCELED);
	assert_int_equal(client->received, 0);
}

// --- exposing ---

static struct buf *buf;

static int buf_setup(void **state)
{
	return bench_setup(state);
}

static int buf_teardown(void **state)
{
	if (buf)
		buf_put(buf);
	buf = NULL;
	return bench_teardown(state);
}

static struct rnic_exposed open_exposed(unsigned access)
{
	struct rnic_exposed x;

	client = bench_pair(&server);
	buf = buf_get(b->worker, LEN + 4096);
	assert_non_null(buf);
	far = buf->addr;
	memset(far, 0, buf->size);
	struct sg sg = { .addr = far, .len = LEN };
	assert_int_equal(rnic_expose(client->qp, &x, &sg, 1, LEN, access), 0);
	return x;
}

static void exposed_memory_is_read(void **state)
{
	struct rnic_exposed x = open_exposed(RNIC_REMOTE_READ);

	bench_fill(far, LEN, 2);
	struct op *op = try(RNIC_READ, x.remote_addr + 100, x.rkey, LEN - 100);
	UNTIL(op->done);
	assert_int_equal(op->res, 0);
	assert_memory_equal(server->in, far + 100, LEN - 100);
	rnic_conceal(client->qp, &x);
}

static void exposed_memory_is_written(void **state)
{
	struct rnic_exposed x = open_exposed(RNIC_REMOTE_WRITE);

	try(RNIC_WRITE, x.remote_addr, x.rkey, LEN);
	struct op *op = op_new(server, RNIC_SEND, RNIC_SIGNALED);
	assert_int_equal(op_post(op), 0);
	UNTIL(client->received == 1);
	assert_true(bench_is_filled(far, LEN, 1));
	rnic_conceal(client->qp, &x);
}

static void concealed_memory_is_not_written(void **state)
{
	struct rnic_exposed x = open_exposed(RNIC_REMOTE_WRITE);

	if (!client->qp->rnic->limits.revokes_exposed)
		skip();
	rnic_conceal(client->qp, &x);
	send_text(client, "concealed"); // behind whatever a device needs for it
	UNTIL(server->received == 1);
	assert_refused(try(RNIC_WRITE, x.remote_addr, x.rkey, 100));
}

static void exposed_memory_has_an_end(void **state)
{
	struct rnic_exposed x = open_exposed(RNIC_REMOTE_WRITE);

	if (!client->qp->rnic->limits.revokes_exposed)
		skip();
	assert_refused(try(RNIC_WRITE, x.remote_addr + LEN - 100, x.rkey, 101));
}

static void pieces_are_exposed_as_one(void **state)
{
	struct rnic_exposed x;
	uint32_t nsg = 3;

	client = bench_pair(&server);
	if (!client->qp->rnic->limits.scatters_exposed)
		skip();
	buf = buf_get(b->worker, 65536);
	far = buf->addr;
	memset(far, 0, buf->size);
	struct sg sg[3] = {
		{.addr = far + 40000,  .len = 5000},
		{ .addr = far,	       .len = 100 },
		{ .addr = far + 20000, .len = 3092}
	};
	assert_int_equal(rnic_expose(client->qp, &x, sg, nsg, LEN, RNIC_REMOTE_WRITE), 0);
	try(RNIC_WRITE, x.remote_addr, x.rkey, LEN);
	struct op *op = op_new(server, RNIC_SEND, RNIC_SIGNALED);
	assert_int_equal(op_post(op), 0);
	UNTIL(client->received == 1);
	assert_memory_equal(far + 40000, server->out, 5000);
	assert_memory_equal(far, server->out + 5000, 100);
	assert_memory_equal(far + 20000, server->out + 5100, 3092);
	rnic_conceal(client->qp, &x);
}

static bool can_be_invalidated(void)
{
	const struct rnic_limits *l = &client->qp->rnic->limits;

	return l->can_invalidate && l->revokes_exposed;
}

static void send_invalidate(uint32_t rkey)
{
	struct op *op = op_new(server, RNIC_SEND_INVALIDATE, RNIC_SIGNALED);

	op->wr.rkey = rkey;
	op_piece(op, server->out, 4, server->out_mr);
	assert_int_equal(op_post(op), 0);
}

static void a_send_with_invalidate_says_which_key(void **state)
{
	struct rnic_exposed x = open_exposed(RNIC_REMOTE_WRITE);

	if (!can_be_invalidated())
		skip();
	send_invalidate(x.rkey);
	UNTIL(client->received == 1);
	assert_true(client->notes[0].is_invalidated);
	assert_int_equal(client->notes[0].rkey, x.rkey);
	rnic_conceal(client->qp, &x);
	send_text(client, "still here");
	UNTIL(server->received == 1);
}

static void an_invalidated_key_is_dead(void **state)
{
	struct rnic_exposed x = open_exposed(RNIC_REMOTE_WRITE);

	if (!can_be_invalidated())
		skip();
	send_invalidate(x.rkey);
	UNTIL(client->received == 1);
	assert_refused(try(RNIC_WRITE, x.remote_addr, x.rkey, 100));
}

static void a_plain_send_invalidates_nothing(void **state)
{
	client = bench_pair(&server);
	send_text(server, "plain");
	UNTIL(client->received == 1);
	assert_false(client->notes[0].is_invalidated);
}

// --- registrations ---

static bool count_remote(const struct rnic_mr *mr, void *arg)
{
	unsigned *n = arg;

	n[0]++;
	n[1] += mr->access != 0;
	return true;
}

static void a_target_grants_no_remote_rights(void **state)
{
	unsigned n[2] = { 0, 0 };

	client = bench_connect();
	UNTIL(client->is_established && b->server && b->server->is_established);
	if (b->rnic->limits.needs_remote_sink)
		skip();
	rnic_each_mr(b->rnic, count_remote, n);
	assert_int_equal(n[1], 0);
}

static void no_remote_rights_are_left_when_connections_are_closed(void **state)
{
	unsigned before[2] = { 0, 0 }, after[2] = { 0, 0 };

	client = bench_connect();
	UNTIL(client->is_established);
	rnic_each_mr(b->rnic, count_remote, before);
	buf = buf_get(b->worker, LEN);
	struct sg sg = { .addr = buf->addr, .len = LEN };
	struct rnic_exposed x;
	assert_int_equal(
		rnic_expose(client->qp, &x, &sg, 1, LEN, RNIC_REMOTE_WRITE | RNIC_REMOTE_READ), 0);
	end_close(client, false);
	UNTIL(client->is_closed);
	rnic_each_mr(b->rnic, count_remote, after);
	assert_int_equal(after[1], before[1]);
}

static void pool_buffers_are_registered(void **state)
{
	client = bench_connect();
	UNTIL(client->is_established);
	buf = buf_get(b->worker, BUF_MAX);
	struct rnic_mr *mr = rnic_find(b->rnic, buf->addr, BUF_MAX);
	assert_non_null(mr);
	uint64_t offset = (uintptr_t)buf->addr - (uintptr_t)mr->addr;
	assert_true(offset <= mr->len && BUF_MAX <= mr->len - offset);
}

// Software moves data with the CPU.
static bool needs_no_registration(void)
{
	return !strcmp(bench_provider->name, "iwarp");
}

static void what_was_never_registered_is_not_found(void **state)
{
	uint8_t here[64];

	client = bench_connect();
	UNTIL(client->is_established);
	if (needs_no_registration())
		skip();
	assert_null(rnic_find(b->rnic, here, sizeof here));
	assert_null(rnic_find(b->rnic, NULL, 1));
}

static void memory_is_found_only_as_far_as_it_is_registered(void **state)
{
	client = bench_pair(&server);
	if (needs_no_registration())
		skip();
	uint8_t *at2 = (uint8_t *)bench_pages(3 * LEN) + LEN;
	struct rnic_mr *mr = bench_register(client, at2, LEN, 0);
	assert_ptr_equal(rnic_find(b->rnic, at2, LEN), mr);
	assert_ptr_equal(rnic_find(b->rnic, at2 + LEN - 1, 1), mr);
	assert_null(rnic_find(b->rnic, at2 + 1, LEN));
	assert_null(rnic_find(b->rnic, at2 - 1, 1));
	assert_null(rnic_find(b->rnic, at2, UINT64_MAX));
}

#define BUF_CASE(name) cmocka_unit_test_setup_teardown(name, buf_setup, buf_teardown)

const struct CMUnitTest protection_cases[] = {
	CASE(a_write_with_an_unknown_key_is_refused),
	CASE(a_read_with_an_unknown_key_is_refused),
	CASE(a_write_one_byte_beyond_the_end_is_refused),
	CASE(a_read_one_byte_beyond_the_end_is_refused),
	CASE(a_write_before_the_beginning_is_refused),
	CASE(an_address_that_wraps_is_refused),
	CASE(a_write_to_the_last_byte_is_none_too_far),
	CASE(memory_for_reading_is_not_written),
	CASE(memory_for_writing_is_not_read),
	CASE(memory_for_local_use_is_not_written),
	CASE(memory_for_local_use_is_not_read),
	CASE(a_deregistered_key_is_dead),
	CASE(what_was_posted_behind_a_refused_request_is_flushed),
	BUF_CASE(exposed_memory_is_read),
	BUF_CASE(exposed_memory_is_written),
	BUF_CASE(concealed_memory_is_not_written),
	BUF_CASE(exposed_memory_has_an_end),
	BUF_CASE(pieces_are_exposed_as_one),
	BUF_CASE(a_send_with_invalidate_says_which_key),
	BUF_CASE(an_invalidated_key_is_dead),
	CASE(a_plain_send_invalidates_nothing),
	CASE(a_target_grants_no_remote_rights),
	BUF_CASE(no_remote_rights_are_left_when_connections_are_closed),
	BUF_CASE(pool_buffers_are_registered),
	CASE(what_was_never_registered_is_not_found),
	CASE(memory_is_found_only_as_far_as_it_is_registered),
};
const size_t protection_case_count = sizeof protection_cases / sizeof *protection_cases;
