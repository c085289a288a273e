// SPDX-License-Identifier: BSD-2-Clause
// Messages: their length, pieces and order; receive buffers that connections share.
#include "bench.h"

#include <stdio.h>

static void assert_text(const struct end *e, unsigned i, const char *text)
{
	assert_int_equal(e->notes[i].len, strlen(text));
	assert_memory_equal(e->notes[i].head, text, strlen(text));
}

static void messages_go_both_ways(void **state)
{
	struct end *server, *client = bench_pair(&server);

	send_text(client, "ping");
	UNTIL(server->received == 1);
	send_text(server, "pong");
	UNTIL(client->received == 1);
	assert_text(server, 0, "ping");
	assert_text(client, 0, "pong");
}

static void a_message_as_long_as_the_buffer_arrives_whole(void **state)
{
	struct end *server, *client = bench_pair(&server);
	struct op *op = op_new(client, RNIC_SEND, RNIC_SIGNALED);

	server->keeps = true;
	bench_fill(client->out, RNIC_RX_SIZE, 1);
	op_piece(op, client->out, RNIC_RX_SIZE, client->out_mr);
	assert_int_equal(op_post(op), 0);
	UNTIL(server->received == 1 && op->done);
	assert_int_equal(op->res, 0);
	assert_int_equal(server->kept[0]->len, RNIC_RX_SIZE);
	assert_true(bench_is_filled(server->kept[0]->data, RNIC_RX_SIZE, 1));
}

static void a_longer_message_ends_the_connection(void **state)
{
	struct end *server, *client = bench_pair(&server);
	struct op *op = op_new(client, RNIC_SEND, RNIC_SIGNALED);

	op_piece(op, client->out, RNIC_RX_SIZE + 1, client->out_mr);
	assert_int_equal(op_post(op), 0);
	UNTIL(server->is_closed && client->is_closed);
	assert_int_equal(server->received, 0);
	assert_int_equal(op->done, 1);
}

static void a_message_may_be_empty(void **state)
{
	struct end *server, *client = bench_pair(&server);
	struct op *op = op_new(client, RNIC_SEND, RNIC_SIGNALED);

	assert_int_equal(op_post(op), 0);
	UNTIL(server->received == 1 && op->done);
	assert_int_equal(server->notes[0].len, 0);
	assert_int_equal(op->res, 0);
}

static void messages_of_every_small_length_arrive_whole(void **state)
{
	struct end *server, *client = bench_pair(&server);

	bench_fill(client->out, 1024, 9);
	for (uint32_t len = 1; len <= 600; len += 13) { // around what devices take inline
		struct op *op = op_new(client, RNIC_SEND, RNIC_SIGNALED);
		op_piece(op, client->out, len, client->out_mr);
		server->received = 0;
		assert_int_equal(op_post(op), 0);
		UNTIL(server->received == 1 && op->done);
		assert_int_equal(server->notes[0].len, len);
		assert_true(bench_is_filled(server->notes[0].head, len < 64 ? len : 64, 9));
	}
}

static void messages_arrive_in_order(void **state)
{
	struct end *server, *client = bench_pair(&server);
	enum { COUNT = 200 };

	bench_reserve(COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct op *op = op_new(client, RNIC_SEND, i % 8 ? 0 : RNIC_SIGNALED);
		memcpy(client->out + i * 16, &i, sizeof i);
		op_piece(op, client->out + i * 16, sizeof i, client->out_mr);
		assert_int_equal(op_post(op), 0);
	}
	UNTIL(server->received == COUNT);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_memory_equal(server->notes[i].head, &i, sizeof i);
}

static void the_pieces_of_a_message_are_gathered(void **state)
{
	struct end *server, *client = bench_pair(&server);
	uint32_t most = client->qp->rnic->limits.max_sge;
	struct op *op = op_new(client, RNIC_SEND, RNIC_SIGNALED);

	if (most > 32)
		most = 32;
	for (uint32_t i = 0; i < most; i++) {
		client->out[i * 4096 + 5] = (uint8_t)('a' + i);
		op_piece(op, client->out + i * 4096 + 5, 1, client->out_mr);
	}
	assert_int_equal(op_post(op), 0);
	UNTIL(server->received == 1);
	assert_int_equal(server->notes[0].len, most);
	for (uint32_t i = 0; i < most; i++)
		assert_int_equal(server->notes[0].head[i], 'a' + i);
}

static void a_piece_too_many_is_refused_at_once(void **state)
{
	struct end *server, *client = bench_pair(&server);
	struct op *op = op_new(client, RNIC_SEND, RNIC_SIGNALED);
	struct rnic_sge many[256];
	uint32_t most = client->qp->rnic->limits.max_sge;

	assert_true(most < 256);
	for (uint32_t i = 0; i <= most; i++)
		many[i] = (struct rnic_sge){ .addr = client->out, .len = 1, .mr = client->out_mr };
	op->wr.sge = many;
	op->wr.nsge = most + 1;
	assert_int_equal(op_post(op), -EINVAL);
	send_text(client, "fine");
	UNTIL(server->received == 1);
	assert_int_equal(op->done, 0);
}

static void two_queue_pairs_share_receive_buffers(void **state)
{
	struct end *server1, *server2;
	struct end *client1 = bench_pair(&server1), *client2 = bench_pair(&server2);

	for (int i = 0; i < 50; i++) {
		send_text(client1, "one");
		send_text(client2, "other");
		UNTIL(server1->received == (unsigned)i + 1 && server2->received == (unsigned)i + 1);
	}
	assert_text(server1, 49, "one");
	assert_text(server2, 49, "other");
	assert_ptr_equal(server1->qp->rnic, server2->qp->rnic);
}

static void a_kept_buffer_keeps_its_message(void **state)
{
	struct end *server, *client = bench_pair(&server);

	server->keeps = true;
	send_text(client, "to be kept");
	UNTIL(server->received == 1);
	server->keeps = false;
	for (unsigned i = 0; i < 100; i++) {
		send_text(client, "something else");
		UNTIL(server->received == i + 2);
	}
	assert_memory_equal(server->kept[0]->data, "to be kept", 10);
}

static void what_came_may_be_sent_on(void **state)
{
	struct end *server, *client = bench_pair(&server);

	server->keeps = true;
	send_text(client, "there and back");
	UNTIL(server->received == 1);
	struct op *op = op_new(server, RNIC_SEND, RNIC_SIGNALED);
	op_piece(op, server->kept[0]->data, server->kept[0]->len, server->kept[0]->mr);
	assert_int_equal(op_post(op), 0);
	UNTIL(client->received == 1 && op->done);
	assert_text(client, 0, "there and back");
}

// More than anybody reserved: they arrive one after the other.
static void without_receive_buffers_a_peer_waits(void **state)
{
	struct end *server, *client = bench_pair(&server);
	enum { COUNT = 250 };

	if (is_iwarp_adapter())
		skip(); // there it ends the connection
	rnic_rx_limit(b->rnic, 24);
	server->keeps = true;
	for (uint32_t i = 0; i < COUNT; i++) {
		struct op *op = op_new(client, RNIC_SEND, 0);
		op_piece(op, client->out, 8, client->out_mr);
		assert_int_equal(op_post(op), 0);
	}
	for (unsigned seen = 0; seen < COUNT; seen++) {
		UNTIL(server->kept_count > seen);
		if (seen < 20)
			continue; // let some pile up
		for (unsigned i = 0; i < server->kept_count; i++)
			if (server->kept[i])
				rnic_rx_put(server->kept[i]);
		memset(server->kept, 0, sizeof server->kept);
	}
	assert_int_equal(server->received, COUNT);
	server->kept_count = 0;
}

static void a_solicited_message_arrives_as_any_other(void **state)
{
	struct end *server, *client = bench_pair(&server);
	struct op *op = op_new(client, RNIC_SEND, RNIC_SIGNALED | RNIC_SOLICITED);

	op_piece(op, client->out, 4, client->out_mr);
	assert_int_equal(op_post(op), 0);
	UNTIL(server->received == 1 && op->done);
	assert_int_equal(op->res, 0);
}

static void bytes_are_counted(void **state)
{
	struct end *server, *client = bench_pair(&server);
	uint64_t in = server->qp->bytes_in, out = client->qp->bytes_out;
	struct op *op = send_text(client, "twelve bytes");

	UNTIL(server->received == 1 && op->done);
	assert_in_range(server->qp->bytes_in - in, 12, 100); // with headers or without
	assert_in_range(client->qp->bytes_out - out, 12, 100);
}

const struct CMUnitTest message_cases[] = {
	CASE(messages_go_both_ways),
	CASE(a_message_as_long_as_the_buffer_arrives_whole),
	CASE(a_longer_message_ends_the_connection),
	CASE(a_message_may_be_empty),
	CASE(messages_of_every_small_length_arrive_whole),
	CASE(messages_arrive_in_order),
	CASE(the_pieces_of_a_message_are_gathered),
	CASE(a_piece_too_many_is_refused_at_once),
	CASE(two_queue_pairs_share_receive_buffers),
	CASE(a_kept_buffer_keeps_its_message),
	CASE(what_came_may_be_sent_on),
	CASE(without_receive_buffers_a_peer_waits),
	CASE(a_solicited_message_arrives_as_any_other),
	CASE(bytes_are_counted),
};
const size_t message_case_count = sizeof message_cases / sizeof *message_cases;
