// SPDX-License-Identifier: BSD-2-Clause
// RDMA Read and Write: what they move, their pieces, depths and order. Here the client lets the
// server reach its memory, as initiators do.
#include "bench.h"

#include <stdlib.h>

#define BIG (4u << 20)

static struct end *client, *server;
static uint8_t *far; // the client's, for reading and writing by the server
static struct rnic_mr *far_mr;

static void open_far(uint64_t len)
{
	client = bench_pair(&server);
	far = bench_pages(len);
	far_mr = bench_register(client, far, len, RNIC_REMOTE_READ | RNIC_REMOTE_WRITE);
}

static struct op *far_op(enum rnic_opcode opcode, unsigned flags, uint64_t offset)
{
	struct op *op = op_new(server, opcode, flags);

	op_remote(op, (uint64_t)(uintptr_t)far + offset, far_mr->rkey);
	return op;
}

static struct op *write_out(unsigned flags, uint32_t from, uint32_t len, uint64_t to)
{
	struct op *op = far_op(RNIC_WRITE, flags, to);

	op_piece(op, server->out + from, len, server->out_mr);
	assert_int_equal(op_post(op), 0);
	return op;
}

static struct op *read_in(unsigned flags, uint32_t to, uint32_t len, uint64_t from)
{
	struct op *op = far_op(RNIC_READ, flags, from);

	op_piece(op, server->in + to, len, server->in_mr);
	assert_int_equal(op_post(op), 0);
	return op;
}

static void a_write_lands_in_the_peers_memory(void **state)
{
	open_far(8192);
	bench_fill(server->out + 4096, 5000, 1);
	write_out(0, 4096, 5000, 100);
	send_text(server, "written");
	UNTIL(client->received == 1);
	assert_true(bench_is_filled(far + 100, 5000, 1));
	assert_int_equal(far[99], 0);
	assert_int_equal(far[5100], 0);
}

static void a_read_fetches_the_peers_memory(void **state)
{
	open_far(8192);
	bench_fill(far, 8192, 2);
	struct op *op = read_in(RNIC_SIGNALED, 10, 5000, 256);
	UNTIL(op->done);
	assert_int_equal(op->res, 0);
	assert_memory_equal(server->in + 10, far + 256, 5000);
	assert_int_equal(server->in[9], 0);
	assert_int_equal(server->in[5010], 0);
}

static void the_pieces_of_a_write_are_gathered(void **state)
{
	open_far(65536);
	uint32_t most = server->qp->rnic->limits.max_sge;
	struct op *op = far_op(RNIC_WRITE, RNIC_SIGNALED, 0);

	if (most > 32)
		most = 32;
	bench_fill(server->out, most * 1000, 3);
	for (uint32_t i = 0; i < most; i++) // from behind
		op_piece(op, server->out + (most - 1 - i) * 1000, 1000, server->out_mr);
	assert_int_equal(op_post(op), 0);
	struct op *last = op_new(server, RNIC_SEND, RNIC_SIGNALED);
	assert_int_equal(op_post(last), 0);
	UNTIL(client->received == 1);
	for (uint32_t i = 0; i < most; i++)
		assert_memory_equal(far + i * 1000, server->out + (most - 1 - i) * 1000, 1000);
}

static void the_pieces_of_a_read_are_scattered(void **state)
{
	open_far(65536);
	uint32_t most = server->qp->rnic->limits.max_read_sge;
	struct op *op = far_op(RNIC_READ, RNIC_SIGNALED, 0);

	if (most > 32)
		most = 32;
	bench_fill(far, 65536, 4);
	for (uint32_t i = 0; i < most; i++)
		op_piece(op, server->in + (most - 1 - i) * 1200, 1000, server->in_mr);
	assert_int_equal(op_post(op), 0);
	UNTIL(op->done);
	assert_int_equal(op->res, 0);
	for (uint32_t i = 0; i < most; i++)
		assert_memory_equal(server->in + (most - 1 - i) * 1200, far + i * 1000, 1000);
}

static void megabytes_are_written(void **state)
{
	open_far(BIG);
	uint8_t *big = bench_pages(BIG);
	struct rnic_mr *mr = bench_register(server, big, BIG, 0);
	struct op *op = far_op(RNIC_WRITE, 0, 0);

	bench_fill(big, BIG, 5);
	op_piece(op, big, BIG, mr);
	assert_int_equal(op_post(op), 0);
	send_text(server, "written");
	UNTIL(client->received == 1);
	assert_true(bench_is_filled(far, BIG, 5));
}

static void megabytes_are_read(void **state)
{
	open_far(BIG);
	uint8_t *big = bench_pages(BIG);
	struct rnic_mr *mr =
		bench_register(server, big, BIG,
			       server->qp->rnic->limits.needs_remote_sink ? RNIC_REMOTE_WRITE : 0);
	struct op *op = far_op(RNIC_READ, RNIC_SIGNALED, 0);

	bench_fill(far, BIG, 6);
	op_piece(op, big, BIG, mr);
	assert_int_equal(op_post(op), 0);
	UNTIL(op->done);
	assert_int_equal(op->res, 0);
	assert_true(bench_is_filled(big, BIG, 6));
}

static unsigned torn;

static void look_at_far(struct end *e)
{
	// The message says which round's bytes have to be there.
	torn += !bench_is_filled(far, 20000, e->notes[(e->received - 1) % NOTES_MAX].head[0]);
}

static void a_send_arrives_behind_the_data_of_the_write_before_it(void **state)
{
	open_far(20000);
	torn = 0;
	client->on_received = look_at_far;
	for (unsigned i = 0; i < 50; i++) {
		struct op *op = op_new(server, RNIC_SEND, RNIC_SIGNALED);
		bench_fill(server->out, 20000, i);
		server->out[20000] = (uint8_t)i;
		write_out(0, 0, 20000, 0);
		op_piece(op, server->out + 20000, 1, server->out_mr);
		assert_int_equal(op_post(op), 0);
		UNTIL(client->received == i + 1 && op->done);
	}
	assert_int_equal(torn, 0);
}

static void a_fenced_send_follows_the_read_before_it(void **state)
{
	open_far(100000);
	struct op *read = read_in(0, 0, 100000, 0);
	struct op *send = op_new(server, RNIC_SEND, RNIC_SIGNALED | RNIC_FENCE);
	assert_int_equal(op_post(send), 0);
	UNTIL(client->received == 1 && send->done);
	assert_int_equal(read->done, 1);
	assert_true(read->when < client->notes[0].when);
}

static void reads_beyond_the_agreed_number_are_served_too(void **state)
{
	enum { COUNT = 60 };
	struct op *op[COUNT];

	b->connect.reads_in = 2;
	b->accept.reads_out = 2;
	open_far(COUNT * 4096);
	bench_fill(far, COUNT * 4096, 7);
	assert_int_equal(server->qp->reads_out, 2);
	for (unsigned i = 0; i < COUNT; i++)
		op[i] = read_in(0, i * 4096, 4096, i * 4096);
	for (unsigned i = 0; i < COUNT; i++) {
		UNTIL(op[i]->done);
		assert_int_equal(op[i]->res, 0);
	}
	assert_memory_equal(server->in, far, COUNT * 4096);
}

static void requests_beyond_the_depth_are_served_too(void **state)
{
	enum { COUNT = 100 };

	b->accept.send_depth = 3;
	open_far(COUNT * 512);
	bench_fill(server->out, COUNT * 512, 8);
	assert_true(server->qp->send_depth <= 3);
	struct op *last = NULL;
	for (unsigned i = 0; i < COUNT; i++)
		last = write_out(i == COUNT - 1 ? RNIC_SIGNALED : 0, i * 512, 512, i * 512);
	UNTIL(last->done);
	struct op *op = op_new(server, RNIC_SEND, RNIC_SIGNALED);
	assert_int_equal(op_post(op), 0);
	UNTIL(client->received == 1);
	assert_memory_equal(far, server->out, COUNT * 512);
}

static void requests_are_done_in_the_order_they_were_posted(void **state)
{
	enum { COUNT = 40 };
	struct op *others[COUNT], *reads[COUNT];

	open_far(65536);
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned flags = i % 5 == 4 ? RNIC_SIGNALED : 0;
		reads[i] = read_in(flags, i * 512, 512, 0);
		others[i] = write_out(flags, i * 512, 512, 32768);
	}
	UNTIL(reads[COUNT - 1]->done && others[COUNT - 1]->done);
	for (unsigned i = 1; i < COUNT; i++) {
		assert_true(reads[i - 1]->when < reads[i]->when);
		assert_true(others[i - 1]->when < others[i]->when);
	}
}

static void what_is_not_signaled_is_done_with_what_is(void **state)
{
	open_far(4096);
	struct op *first = write_out(0, 0, 100, 0), *second = write_out(0, 0, 100, 200);
	struct op *last = write_out(RNIC_SIGNALED, 0, 100, 400);
	UNTIL(last->done);
	assert_int_equal(first->done + second->done, 2);
	assert_int_equal(first->res, 0);
}

// Nothing comes in meanwhile that would wake the worker.
static void a_lazy_write_is_done_though_nothing_else_happens(void **state)
{
	open_far(4096);
	struct op *op = write_out(RNIC_LAZY, 0, 100, 0);
	UNTIL(op->done);
	assert_int_equal(op->res, 0);
}

static void lazy_requests_beyond_the_depth_are_served_too(void **state)
{
	enum { COUNT = 100 };
	struct op *op[COUNT];

	b->accept.send_depth = 5;
	open_far(COUNT * 512);
	bench_fill(server->out, COUNT * 512, 11);
	for (unsigned i = 0; i < COUNT; i++)
		op[i] = write_out(RNIC_LAZY, i * 512, 512, i * 512);
	UNTIL(op[COUNT - 1]->done);
	send_text(server, "written");
	UNTIL(client->received == 1);
	assert_true(bench_is_filled(far, COUNT * 512, 11));
}

// A transport that sends from the buffer itself has to keep what it sends until the peer has it.
// For links with a delay: where both ends are one kernel's, what leaves has arrived, and nothing
// tells whether the transport kept it.
static void the_buffer_of_a_write_is_free_when_a_later_send_is_done(void **state)
{
	enum { SLOT = 65536, SLOTS = 4, ROUNDS = BIG / SLOT };
	struct op *sends[ROUNDS];

	open_far(BIG);
	bench_reserve(ROUNDS);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t at = i % SLOTS * SLOT;
		if (i >= SLOTS)
			UNTIL(sends[i - SLOTS]->done);
		bench_fill(server->out + at, SLOT, i + 1);
		write_out(0, at, SLOT, (uint64_t)i * SLOT);
		sends[i] = op_new(server, RNIC_SEND, RNIC_SIGNALED);
		op_piece(sends[i], server->in, 4, server->in_mr);
		assert_int_equal(op_post(sends[i]), 0);
	}
	UNTIL(client->received == ROUNDS);
	for (unsigned i = 0; i < ROUNDS; i++)
		assert_true(bench_is_filled(far + (size_t)i * SLOT, SLOT, i + 1));
}

static struct op *again;
static unsigned rounds;

static void post_again(struct op *op)
{
	if (++rounds == 20)
		return;
	op->done = 0;
	op_post(op);
}

static void a_request_may_be_posted_again_when_it_is_done(void **state)
{
	open_far(4096);
	rounds = 0;
	again = far_op(RNIC_WRITE, RNIC_SIGNALED, 0);
	again->on_done = post_again;
	op_piece(again, server->out, 100, server->out_mr);
	assert_int_equal(op_post(again), 0);
	UNTIL(rounds == 20);
}

static void both_ends_may_read_and_write_at_once(void **state)
{
	open_far(32768);
	uint8_t *near = bench_pages(32768);
	struct rnic_mr *mr =
		bench_register(server, near, 32768, RNIC_REMOTE_READ | RNIC_REMOTE_WRITE);
	struct op *mine, *theirs, *write;

	bench_fill(near, 32768, 10);
	bench_fill(far, 16384, 11);
	bench_fill(client->out, 16384, 12);
	theirs = read_in(RNIC_SIGNALED, 0, 16384, 0);
	mine = op_new(client, RNIC_READ, RNIC_SIGNALED);
	op_remote(mine, (uint64_t)(uintptr_t)near, mr->rkey);
	op_piece(mine, client->in, 16384, client->in_mr);
	assert_int_equal(op_post(mine), 0);
	write = op_new(client, RNIC_WRITE, RNIC_SIGNALED);
	op_remote(write, (uint64_t)(uintptr_t)near + 16384, mr->rkey);
	op_piece(write, client->out, 16384, client->out_mr);
	assert_int_equal(op_post(write), 0);
	send_text(server, "done");
	UNTIL(theirs->done && mine->done && write->done && client->received == 1);
	assert_memory_equal(server->in, far, 16384);
	assert_memory_equal(client->in, near, 16384);
}

const struct CMUnitTest rdma_cases[] = {
	CASE(a_write_lands_in_the_peers_memory),
	CASE(a_read_fetches_the_peers_memory),
	CASE(the_pieces_of_a_write_are_gathered),
	CASE(the_pieces_of_a_read_are_scattered),
	CASE(megabytes_are_written),
	CASE(megabytes_are_read),
	CASE(a_send_arrives_behind_the_data_of_the_write_before_it),
	CASE(a_fenced_send_follows_the_read_before_it),
	CASE(reads_beyond_the_agreed_number_are_served_too),
	CASE(requests_beyond_the_depth_are_served_too),
	CASE(requests_are_done_in_the_order_they_were_posted),
	CASE(what_is_not_signaled_is_done_with_what_is),
	CASE(a_lazy_write_is_done_though_nothing_else_happens),
	CASE(lazy_requests_beyond_the_depth_are_served_too),
	CASE(the_buffer_of_a_write_is_free_when_a_later_send_is_done),
	CASE(a_request_may_be_posted_again_when_it_is_done),
	CASE(both_ends_may_read_and_write_at_once),
};
const size_t rdma_case_count = sizeof rdma_cases / sizeof *rdma_cases;
