// SPDX-License-Identifier: BSD-2-Clause
// Connections: connect, accept, reject, private data, what is agreed, many of them.
#include "bench.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_connect_that_is_accepted_stands_on_both_sides(void **state)
{
	struct end *client = bench_connect();

	UNTIL(client->is_established && b->server && b->server->is_established);
	assert_int_equal(b->requests, 1);
	assert_false(client->is_closed);
}

static void both_ends_know_their_addresses(void **state)
{
	struct end *server, *client = bench_pair(&server);

	assert_true(tcp_addr_same_ip(&client->qp->peer_addr, &b->addr));
	assert_int_equal(tcp_addr_port(&client->qp->peer_addr), tcp_addr_port(&b->addr));
	assert_int_equal(tcp_addr_port(&server->qp->local_addr), tcp_addr_port(&b->addr));
	assert_true(tcp_addr_same_ip(&server->qp->peer_addr, &client->qp->local_addr));
	assert_true(tcp_addr_same_ip(&b->asked_peer, &server->qp->peer_addr));
	assert_true(tcp_addr_same_ip(&b->asked_local, &server->qp->local_addr));
}

static void a_connect_carries_its_private_data(void **state)
{
	uint8_t words[RNIC_PRIVATE_REQ_MAX];

	bench_fill(words, sizeof words, 1);
	b->connect.private_data = words;
	b->connect.private_len = sizeof words;
	struct end *client = bench_connect();
	UNTIL(client->is_established);
	assert_true(b->asked_len >= sizeof words); // InfiniBand pads
	assert_memory_equal(b->asked, words, sizeof words);
}

static void an_accept_carries_its_private_data(void **state)
{
	uint8_t words[RNIC_PRIVATE_MAX];

	bench_fill(words, sizeof words, 2);
	b->accept.private_data = words;
	b->accept.private_len = sizeof words;
	struct end *client = bench_connect();
	UNTIL(client->is_established);
	assert_true(client->words_len >= sizeof words);
	assert_memory_equal(client->words, words, sizeof words);
}

static void a_reject_carries_its_words(void **state)
{
	b->answer = ANSWER_REJECT;
	b->reject_len = sizeof b->reject;
	bench_fill(b->reject, sizeof b->reject, 3);
	struct end *client = bench_connect();
	UNTIL(client->is_closed);
	assert_true(client->is_rejected);
	assert_true(client->words_len >= sizeof b->reject);
	assert_memory_equal(client->words, b->reject, sizeof b->reject);
	assert_int_equal(client->why.code, -ECONNREFUSED);
}

static void a_reject_without_words_is_a_refusal(void **state)
{
	b->answer = ANSWER_REJECT;
	struct end *client = bench_connect();
	UNTIL(client->is_closed);
	assert_int_equal(client->why.code, -ECONNREFUSED);
}

static void where_nobody_listens_a_connect_is_refused(void **state)
{
	rnic_listener_free(b->listener);
	b->listener = NULL;
	struct end *client = bench_connect();
	UNTIL(client->is_closed);
	assert_int_equal(client->why.code, -ECONNREFUSED);
	assert_false(client->is_established);
}

static void a_request_may_be_answered_later(void **state)
{
	b->answer = ANSWER_HOLD;
	struct end *client = bench_connect();
	UNTIL(b->held);
	struct end *server = bench_answer_held();
	UNTIL(client->is_established && server->is_established);
}

static void a_peer_that_goes_before_the_answer_leaves_no_connection(void **state)
{
	b->answer = ANSWER_HOLD;
	struct end *client = bench_connect();
	UNTIL(b->held);
	end_close(client, false);
	UNTIL(client->is_closed);
	assert_int_equal(client->why.code, -ESHUTDOWN);
	if (!b->held) {
		assert_int_equal(b->gone, 1);
		return;
	}
	// Not every device tells before it is asked to accept.
	struct end *server = bench_answer_held();
	UNTIL(server->is_closed);
}

static void reads_are_agreed_as_the_weaker_side_wants(void **state)
{
	b->connect.reads_in = 4;
	b->connect.reads_out = 2;
	b->accept.reads_out = 16;
	b->accept.reads_in = 16;
	struct end *server;
	bench_pair(&server);
	assert_int_equal(b->asked_reads_out, 4);
	assert_int_equal(b->asked_reads_in, 2);
	assert_int_equal(server->qp->reads_out, 4);
}

static void one_port_is_for_one_listener(void **state)
{
	static const struct rnic_listener_ops none;
	struct rnic_listener *second;
	struct err e;

	assert_int_equal(rnic_listen(bench_provider, &second, b->worker, &b->addr, &none, NULL, &e),
			 -EADDRINUSE);
}

static void one_service_id_is_for_one_listener(void **state)
{
	static const struct rnic_listener_ops none;
	struct rnic_listener *first, *second;
	struct err e;
	int r = rnic_listen_service(bench_provider, &first, b->worker, 3261, &none, NULL, &e);

	if (!strcmp(bench_provider->name, "iwarp")) {
		assert_int_equal(r, -EOPNOTSUPP); // it has none
		return;
	}
	if (r < 0)
		fail_msg("%s", e.text);
	assert_int_equal(
		rnic_listen_service(bench_provider, &second, b->worker, 3261, &none, NULL, &e),
		-EADDRINUSE);
	rnic_listener_free(first);
	assert_int_equal(
		rnic_listen_service(bench_provider, &second, b->worker, 3261, &none, NULL, &e), 0);
	rnic_listener_free(second);
}

static void an_address_that_is_not_here_has_no_device(void **state)
{
	static const struct rnic_listener_ops none;
	struct rnic_listener *l;
	struct tcp_addr addr;
	struct err e;

	assert_int_equal(tcp_addr_parse(&addr, "192.0.2.1", 0, &e), 0);
	int r = rnic_listen(bench_provider, &l, b->worker, &addr, &none, NULL, &e);
	assert_true(r == -ENODEV || r == -EADDRNOTAVAIL);
	assert_true(strlen(e.text) > 0);
}

static void a_freed_listener_leaves_its_connections(void **state)
{
	struct end *server, *client = bench_pair(&server);

	rnic_listener_free(b->listener);
	b->listener = NULL;
	send_text(client, "still here");
	UNTIL(server->received == 1);
}

static void a_listener_on_every_address_hears_what_comes_to_one(void **state)
{
	static const struct rnic_listener_ops ops = { .request = bench_request,
						      .gone = bench_gone };
	struct rnic_listener *l;
	struct tcp_addr every, one = bench_addr;
	struct err e;

	assert_int_equal(tcp_addr_parse(&every,
					bench_addr.sa.sa_family == AF_INET ? "0.0.0.0" : "::", 0,
					&e),
			 0);
	if (rnic_listen(bench_provider, &l, b->worker, &every, &ops, b, &e) < 0)
		fail_msg("%s", e.text);
	tcp_addr_set_port(&one, tcp_addr_port(rnic_listener_addr(l)));
	struct end *client = bench_connect_to(&one);
	UNTIL(client->is_established && b->server && b->server->is_established);
	assert_true(tcp_addr_same_ip(&b->server->qp->local_addr, &one));
	rnic_listener_free(l);
}

// --- a second worker ---

static struct {
	struct worker *worker;
	unsigned established, received, closed;
	bool is_held; // after its accept, until sent
	sem_t sent;
	struct rnic_wr reply;
} other;

static unsigned other_get(const unsigned *n)
{
	return __atomic_load_n(n, __ATOMIC_ACQUIRE);
}

static void other_add(unsigned *n)
{
	__atomic_add_fetch(n, 1, __ATOMIC_RELEASE);
	bench_stir();
}

static void other_established(struct rnic_qp *qp, const uint8_t *words, uint32_t len)
{
	if (worker_self() == other.worker)
		other_add(&other.established);
}

static void other_replied(struct rnic_wr *wr, int res)
{
}

static void other_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	rnic_rx_put(rx);
	other.reply = (struct rnic_wr){ .opcode = RNIC_SEND, .done = other_replied };
	if (rnic_post(qp, &other.reply) == 0 && worker_self() == other.worker)
		other_add(&other.received);
}

static void other_rejected(struct rnic_qp *qp, const uint8_t *words, uint32_t len)
{
}

static void other_closed(struct rnic_qp *qp, const struct err *e)
{
	struct rnic *r = qp->rnic;

	rnic_unreserve(r, 8);
	rnic_qp_free(qp);
	other_add(&other.closed);
}

static struct worker *other_assign(void *arg, const struct tcp_addr *peer)
{
	return other.worker;
}

static void other_request(void *arg, struct rnic_request *q)
{
	static const struct rnic_qp_ops ops = { .established = other_established,
						.received = other_received,
						.rejected = other_rejected,
						.closed = other_closed };
	struct rnic_qp_options o = { 0 };
	struct rnic_qp *qp;
	struct err e;

	rnic_reserve(q->rnic, 8);
	rnic_accept(q, &qp, &o, &ops, NULL, &e);
	while (other.is_held && sem_wait(&other.sent) < 0)
		;
}

static void other_gone(void *arg, struct rnic_request *q)
{
}

// A connection to a listener whose connections are the other worker's, until it stands there.
static struct end *other_connect(bool is_held, struct rnic_listener **ret)
{
	static const struct rnic_listener_ops ops = { .assign = other_assign,
						      .request = other_request,
						      .gone = other_gone };
	struct worker_options o = { .name = "other", .cpu = -1 };
	struct tcp_addr any = bench_addr;
	struct err e;

	memset(&other, 0, sizeof other);
	other.is_held = is_held;
	sem_init(&other.sent, 0, 0);
	assert_int_equal(worker_new(&other.worker, &o, &e), 0);
	assert_int_equal(worker_start(other.worker, &e), 0);
	tcp_addr_set_port(&any, 0);
	assert_int_equal(rnic_listen(bench_provider, ret, b->worker, &any, &ops, NULL, &e), 0);
	struct end *client = bench_connect_to(rnic_listener_addr(*ret));
	UNTIL(client->is_established && (is_held || other_get(&other.established)));
	end_memory(client);
	return client;
}

static void other_end(struct end *client, struct rnic_listener *l)
{
	end_close(client, true);
	UNTIL(client->is_closed && other_get(&other.closed));
	rnic_listener_free(l);
	worker_free(other.worker);
	sem_destroy(&other.sent);
}

static void a_connection_goes_to_the_worker_that_assign_names(void **state)
{
	struct rnic_listener *l;
	struct end *client = other_connect(false, &l);

	send_text(client, "hello");
	UNTIL(other_get(&other.received));
	other_end(client, l);
}

// The worker finds the message and the event that the connection stands in the same round. A worker
// of software iWARP accepts itself: it cannot be held.
static void a_message_that_comes_before_its_connection_stands_is_answered(void **state)
{
	struct rnic_listener *l;
	struct end *client = other_connect(strcmp(bench_provider->name, "iwarp") != 0, &l);
	struct op *hello = send_text(client, "hello");

	UNTIL(hello->done);
	sem_post(&other.sent);
	UNTIL(client->received);
	other_end(client, l);
}

static void many_connections_stand_at_once(void **state)
{
	struct end **clients = calloc(bench_connections, sizeof(struct end *));
	unsigned stand = 0;

	assert_non_null(clients);
	b->connect.send_depth = b->accept.send_depth = 2;
	b->connect.timeout_usec = 60000000;
	for (unsigned i = 0; i < bench_connections; i++) {
		clients[i] = bench_connect();
		if (i % 32 == 31) // no more than a listener's backlog
			UNTIL(clients[i]->is_established || clients[i]->is_closed);
	}
	for (unsigned i = 0; i < bench_connections; i++) {
		UNTIL(clients[i]->is_established || clients[i]->is_closed);
		stand += clients[i]->is_established && !clients[i]->is_closed;
		if (clients[i]->is_closed)
			print_error("%u: %s\n", i, clients[i]->why.text);
	}
	free(clients);
	assert_int_equal(stand, bench_connections);
	assert_int_equal(b->requests, bench_connections);
}

static void connections_come_and_go_without_a_trace(void **state)
{
	for (int i = 0; i < 20; i++) {
		struct end *client = bench_connect();
		b->server = NULL;
		UNTIL(client->is_established && b->server && b->server->is_established);
		end_close(i % 2 ? client : b->server, i % 4 < 2);
		UNTIL(client->is_closed && b->server->is_closed);
	}
	assert_int_equal(b->requests, 20);
}

const struct CMUnitTest connect_cases[] = {
	CASE(a_connect_that_is_accepted_stands_on_both_sides),
	CASE(both_ends_know_their_addresses),
	CASE(a_connect_carries_its_private_data),
	CASE(an_accept_carries_its_private_data),
	CASE(a_reject_carries_its_words),
	CASE(a_reject_without_words_is_a_refusal),
	CASE(where_nobody_listens_a_connect_is_refused),
	CASE(a_request_may_be_answered_later),
	CASE(a_peer_that_goes_before_the_answer_leaves_no_connection),
	CASE(reads_are_agreed_as_the_weaker_side_wants),
	CASE(one_port_is_for_one_listener),
	CASE(one_service_id_is_for_one_listener),
	CASE(an_address_that_is_not_here_has_no_device),
	CASE(a_freed_listener_leaves_its_connections),
	CASE(a_listener_on_every_address_hears_what_comes_to_one),
	CASE(a_connection_goes_to_the_worker_that_assign_names),
	CASE(a_message_that_comes_before_its_connection_stands_is_answered),
	CASE(many_connections_stand_at_once),
	CASE(connections_come_and_go_without_a_trace),
};
const size_t connect_case_count = sizeof connect_cases / sizeof *connect_cases;
