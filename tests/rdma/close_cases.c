// SPDX-License-Identifier: BSD-2-Clause
// The end of connections, at every point: what is flushed, what still leaves, and that closed
// comes once and last.
#include "bench.h"

static void the_peer_sees_the_connection_end(void **state)
{
	struct end *server, *client = bench_pair(&server);

	end_close(client, false);
	UNTIL(client->is_closed && server->is_closed);
	assert_int_equal(server->why.code, -ECONNRESET);
	assert_true(strlen(server->why.text) > 0);
}

static void who_closes_hears_its_own_reason(void **state)
{
	struct end *server, *client = bench_pair(&server);

	end_close(server, false);
	UNTIL(server->is_closed && client->is_closed);
	assert_int_equal(server->why.code, -ESHUTDOWN);
	assert_string_equal(server->why.text, "the test says so");
}

static void a_close_is_not_heard_before_it_returns(void **state)
{
	struct end *server, *client = bench_pair(&server);

	end_close(client, false);
	assert_false(client->is_closed);
	UNTIL(client->is_closed);
}

static void a_second_close_changes_nothing(void **state)
{
	struct end *server, *client = bench_pair(&server);
	struct err other;

	end_close(client, true);
	err_set(&other, -EIO, "another reason");
	rnic_close(client->qp, true, &other);
	UNTIL(client->is_closed && server->is_closed);
	assert_int_equal(client->why.code, -ESHUTDOWN);
}

static void with_linger_what_was_posted_arrives(void **state)
{
	struct end *server, *client = bench_pair(&server);
	enum { COUNT = 50 };
	struct op *op[COUNT];

	bench_reserve(COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		op[i] = send_text(client, "to arrive");
	end_close(client, true);
	UNTIL(server->is_closed && client->is_closed);
	assert_int_equal(server->received, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		assert_int_equal(op[i]->res, 0);
}

static void without_linger_each_request_is_done_once(void **state)
{
	struct end *server, *client = bench_pair(&server);
	enum { COUNT = 300 }; // more than the depth
	struct op *op[COUNT];

	for (unsigned i = 0; i < COUNT; i++) {
		op[i] = op_new(client, RNIC_SEND, i % 3 ? 0 : RNIC_SIGNALED);
		op_piece(op[i], client->out, 8000, client->out_mr);
		assert_int_equal(op_post(op[i]), 0);
	}
	end_close(client, false);
	UNTIL(client->is_closed);
	for (unsigned i = 0; i < COUNT; i++) {
		assert_int_equal(op[i]->done, 1);
		assert_true(op[i]->res == 0 || op[i]->res == -ECANCELED);
		assert_true(op[i]->when < client->closed_when);
	}
	assert_int_equal(op[COUNT - 1]->res, -ECANCELED);
}

static void reads_in_flight_are_flushed_by_the_peers_close(void **state)
{
	struct end *server, *client = bench_pair(&server);
	uint8_t *far = bench_pages(1 << 20);
	struct rnic_mr *mr = bench_register(client, far, 1 << 20, RNIC_REMOTE_READ);
	struct op *op[8];

	for (unsigned i = 0; i < 8; i++) {
		op[i] = op_new(server, RNIC_READ, RNIC_SIGNALED);
		op_remote(op[i], (uint64_t)(uintptr_t)far, mr->rkey);
		op_piece(op[i], server->in, 1 << 20, server->in_mr);
		assert_int_equal(op_post(op[i]), 0);
	}
	rnic_flush(server->qp);
	end_close(client, false);
	UNTIL(client->is_closed && server->is_closed);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(op[i]->done, 1);
	assert_int_not_equal(op[7]->res, 0);
}

static void posting_to_a_closing_queue_pair_is_canceled(void **state)
{
	struct end *server, *client = bench_pair(&server);

	end_close(client, false);
	struct op *op = send_text(client, "too late");
	UNTIL(op->done && client->is_closed);
	assert_int_equal(op->res, -ECANCELED);
}

static void posting_before_the_connection_stands_is_canceled(void **state)
{
	struct end *client = bench_connect();
	struct op *op = op_new(client, RNIC_SEND, RNIC_SIGNALED);

	assert_int_equal(op_post(op), 0);
	UNTIL(op->done);
	assert_int_equal(op->res, -ECANCELED);
}

static void a_connect_may_be_given_up_at_once(void **state)
{
	struct end *client = bench_connect();

	end_close(client, false);
	UNTIL(client->is_closed);
	assert_int_equal(client->why.code, -ESHUTDOWN);
	assert_false(client->is_established);
}

static void an_accept_may_be_given_up_at_once(void **state)
{
	b->answer = ANSWER_HOLD;
	struct end *client = bench_connect();
	UNTIL(b->held);
	struct end *server = bench_answer_held();
	assert_non_null(server->qp);
	end_close(server, false);
	UNTIL(server->is_closed && client->is_closed);
	assert_int_equal(server->why.code, -ESHUTDOWN);
}

static void a_connect_that_nobody_answers_times_out(void **state)
{
	b->answer = ANSWER_HOLD;
	b->connect.timeout_usec = 300000;
	struct end *client = bench_connect();
	UNTIL(client->is_closed);
	assert_int_equal(client->why.code, -ETIMEDOUT);
}

static void close_now(struct end *e)
{
	if (e->qp)
		end_close(e, false);
}

static void the_connecting_side_may_close_when_it_stands(void **state)
{
	struct end *client = bench_connect();

	client->on_established = close_now;
	UNTIL(client->is_closed && b->server && b->server->is_closed);
}

static void either_side_may_close_when_a_message_comes(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct end *server, *client = bench_pair(&server);
		struct end *from = i ? server : client, *to = i ? client : server;
		to->on_received = close_now;
		for (unsigned k = 0; k < 20; k++)
			send_text(from, "close, please");
		UNTIL(client->is_closed && server->is_closed);
		assert_int_equal(to->received, 1);
	}
}

static void close_its_end(struct op *op)
{
	close_now(op->end);
}

static void a_side_may_close_when_a_request_is_done(void **state)
{
	struct end *server, *client = bench_pair(&server);
	struct op *op = send_text(client, "the last word");

	op->on_done = close_its_end;
	UNTIL(client->is_closed && server->is_closed);
	assert_int_equal(client->why.code, -ESHUTDOWN);
}

static void both_sides_may_close_at_once(void **state)
{
	struct end *server, *client = bench_pair(&server);

	send_text(client, "crossing");
	send_text(server, "crossing");
	end_close(client, false);
	end_close(server, false);
	UNTIL(client->is_closed && server->is_closed);
	assert_int_equal(client->why.code, -ESHUTDOWN);
	assert_int_equal(server->why.code, -ESHUTDOWN);
}

// Messages and writes under way; the peer closes after the nth message.
static void a_transfer_may_end_at_any_message(void **state)
{
	for (unsigned stop = 1; stop <= 6; stop++) {
		struct end *server, *client = bench_pair(&server);
		for (unsigned i = 0; i < 40; i++) {
			struct op *op = op_new(client, RNIC_SEND, i % 4 ? 0 : RNIC_SIGNALED);
			op_piece(op, client->out, i * 200, client->out_mr);
			assert_int_equal(op_post(op), 0);
		}
		UNTIL(server->received >= stop * 3);
		end_close(stop % 2 ? server : client, false);
		UNTIL(client->is_closed && server->is_closed);
	}
}

static void a_kept_buffer_outlives_its_connection(void **state)
{
	struct end *server, *client = bench_pair(&server);

	server->keeps = true;
	send_text(client, "to be kept");
	UNTIL(server->received == 1);
	end_close(server, false);
	UNTIL(client->is_closed && server->is_closed);
	assert_memory_equal(server->kept[0]->data, "to be kept", 10);
}

static void after_a_close_the_next_connection_is_as_good(void **state)
{
	struct end *server, *client = bench_pair(&server);

	end_close(server, false);
	UNTIL(client->is_closed && server->is_closed);
	client = bench_pair(&server);
	send_text(client, "again");
	UNTIL(server->received == 1);
}

const struct CMUnitTest close_cases[] = {
	CASE(the_peer_sees_the_connection_end),
	CASE(who_closes_hears_its_own_reason),
	CASE(a_close_is_not_heard_before_it_returns),
	CASE(a_second_close_changes_nothing),
	CASE(with_linger_what_was_posted_arrives),
	CASE(without_linger_each_request_is_done_once),
	CASE(reads_in_flight_are_flushed_by_the_peers_close),
	CASE(posting_to_a_closing_queue_pair_is_canceled),
	CASE(posting_before_the_connection_stands_is_canceled),
	CASE(a_connect_may_be_given_up_at_once),
	CASE(an_accept_may_be_given_up_at_once),
	CASE(a_connect_that_nobody_answers_times_out),
	CASE(the_connecting_side_may_close_when_it_stands),
	CASE(either_side_may_close_when_a_message_comes),
	CASE(a_side_may_close_when_a_request_is_done),
	CASE(both_sides_may_close_at_once),
	CASE(a_transfer_may_end_at_any_message),
	CASE(a_kept_buffer_outlives_its_connection),
	CASE(after_a_close_the_next_connection_is_as_good),
};
const size_t close_case_count = sizeof close_cases / sizeof *close_cases;
