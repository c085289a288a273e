// SPDX-License-Identifier: BSD-2-Clause
// Two providers talk to each other over loopback, each on its own worker: everything a connection
// can carry, large and small, and how it ends.
#include "transport/rdma/iwarp/rig.h"

static struct side a, b; // a connects, b accepts
static struct rnic_listener *listener;

static void listen_here(void *x, void *y)
{
	struct tcp_addr addr;
	struct err e;

	MUST(!tcp_addr_parse(&addr, "127.0.0.1", 0, &e));
	MUST(!rnic_listen(&rnic_iwarp, &listener, b.w, &addr, &listener_ops, &b, &e));
}

static void unlisten_here(void *x, void *y)
{
	rnic_listener_free(listener);
}

static void connect_here(void *x, void *y)
{
	struct err e;

	MUST(!rnic_connect(&rnic_iwarp, &a.qp, a.w, rnic_listener_addr(listener), NULL, &a.options,
			   &qp_ops, &a, &e));
	a.rnic = a.qp->rnic;
}

static int setup(void **state)
{
	done_order = 0;
	side_start(&a, "active");
	side_start(&b, "passive");
	run(&b, listen_here, NULL, NULL);
	return 0;
}

static int teardown(void **state)
{
	run(&b, unlisten_here, NULL, NULL);
	side_stop(&a);
	side_stop(&b);
	return 0;
}

static void connect_both(void)
{
	run(&a, connect_here, NULL, NULL);
	WAIT(a.established && b.established);
	run(&a, reserve_here, &a, (void *)32);
	run(&b, reserve_here, &b, (void *)32);
}

static uint8_t *pattern(uint32_t len)
{
	uint8_t *p = malloc(len);

	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 7 + i / 251);
	return p;
}

static void private_data_goes_both_ways(void **state)
{
	a.options.private_data = "ask";
	a.options.private_len = 3;
	a.options.reads_out = 5;
	a.options.reads_in = 9;
	b.ignores = true;
	run(&a, connect_here, NULL, NULL);
	WAIT(b.requests);
	assert_int_equal(b.private_len, 3);
	assert_memory_equal(b.private_data, "ask", 3);
	assert_int_equal(b.request_reads_in, 5);
	assert_int_equal(b.request_reads_out, 9);
	run(&a, close_here, &a, NULL);
	WAIT(b.gone && a.closed);
}

static void accept_here(void *x, void *y)
{
	struct err e;

	MUST(!rnic_accept(b.request, &b.qp, &b.options, &qp_ops, &b, &e));
}

static void depths_are_lowered_to_what_both_take(void **state)
{
	b.ignores = true;
	a.options.reads_out = 7;
	b.options.reads_in = 3;
	b.options.private_data = "answer";
	b.options.private_len = 6;
	run(&a, connect_here, NULL, NULL);
	WAIT(b.requests);
	run(&b, accept_here, NULL, NULL);
	WAIT(a.established && b.established);
	assert_int_equal(a.private_len, 6);
	assert_memory_equal(a.private_data, "answer", 6);
	assert_int_equal(a.qp->reads_out, 3);
	assert_int_equal(b.qp->reads_in, 3);
}

static void a_reject_carries_its_words(void **state)
{
	b.rejects = true;
	run(&a, connect_here, NULL, NULL);
	WAIT(a.closed);
	assert_int_equal(a.rejected, 1);
	assert_int_equal(a.private_len, 2);
	assert_memory_equal(a.private_data, "no", 2);
	assert_int_equal(a.why.code, -ECONNREFUSED);
}

static void a_request_is_gone_with_its_peer(void **state)
{
	b.ignores = true;
	run(&a, connect_here, NULL, NULL);
	WAIT(b.requests);
	run(&a, close_here, &a, NULL);
	WAIT(b.gone && a.closed);
}

static void messages_go_both_ways_in_order(void **state)
{
	static struct req r[6];

	connect_both();
	send_text(&a, &r[0], "one");
	send_text(&a, &r[1], "two");
	WAIT(b.received == 2);
	send_text(&b, &r[2], "three");
	WAIT(a.received == 1 && r[0].res == 0 && r[1].res == 0 && r[2].res == 0);
	assert_memory_equal(b.rx[0].data, "one", 3);
	assert_memory_equal(b.rx[1].data, "two", 3);
	assert_int_equal(b.rx[1].len, 3);
	assert_memory_equal(a.rx[0].data, "three", 5);
	assert_true(r[0].order < r[1].order);
}

static void the_accepting_side_waits_for_the_first_message(void **state)
{
	static struct req r[2];

	connect_both();
	send_text(&b, &r[0], "early");
	send_text(&a, &r[1], "first");
	WAIT(a.received == 1 && b.received == 1 && r[0].res == 0 && r[1].res == 0);
	assert_memory_equal(a.rx[0].data, "early", 5);
}

static void an_empty_message_arrives(void **state)
{
	static struct req r;

	connect_both();
	post(req_init(&r, &a, RNIC_SEND, NULL, 0));
	WAIT(b.received == 1 && r.res == 0);
	assert_int_equal(b.rx[0].len, 0);
}

static void a_message_of_several_pieces_arrives_whole(void **state)
{
	uint8_t *p = pattern(RNIC_RX_SIZE);
	static struct req r;

	connect_both();
	req_init(&r, &a, RNIC_SEND, p, 10);
	req_add(&r, p + 10, 0);
	req_add(&r, p + 10, 4000);
	req_add(&r, p + 4010, RNIC_RX_SIZE - 4010);
	post(&r);
	WAIT(b.received == 1 && r.res == 0);
	assert_int_equal(b.rx[0].len, RNIC_RX_SIZE);
	assert_int_equal(b.rx[0].sum, sum_of(p, RNIC_RX_SIZE));
	free(p);
}

// Writes len bytes into memory in three pieces, and says so behind it.
static void write_and_tell(uint32_t len)
{
	uint8_t *from = pattern(len), *to = calloc(1, len);
	struct sg sg[3] = {
		{to,		      len / 3,		       NULL},
		{ to + len / 3,	2 * (len / 3) - len / 3, NULL},
		{ to + 2 * (len / 3), len - 2 * (len / 3),	   NULL}
	};
	static struct req r[2];

	expose(&b, sg, 3, len, RNIC_REMOTE_WRITE);
	req_init(&r[0], &a, RNIC_WRITE, from, len);
	req_at(&r[0], &b, 0);
	unsigned before = b.received;
	post(&r[0]);
	send_text(&a, &r[1], "written");
	WAIT(b.received == before + 1);
	assert_memory_equal(from, to, len);
	WAIT(r[0].res == 0 && r[1].res == 0);
	assert_true(r[0].order < r[1].order);
	run(&b, conceal_here, &b, NULL);
	free(from);
	free(to);
}

static void a_send_behind_a_write_finds_the_data_in_place(void **state)
{
	connect_both();
	write_and_tell(4096);
}

static void a_large_write_arrives_whole(void **state)
{
	connect_both();
	write_and_tell((5 << 20) + 13);
}

static void read_back(uint32_t len)
{
	uint8_t *from = pattern(len), *to = calloc(1, len);
	struct sg sg[2] = {
		{from,		len / 2,	 NULL},
		 { from + len / 2, len - len / 2, NULL}
	};
	static struct req first, r;

	send_text(&a, &first, "go");
	expose(&a, sg, 2, len, RNIC_REMOTE_READ);
	req_init(&r, &b, RNIC_READ, to, len / 5);
	req_add(&r, to + len / 5, len - len / 5);
	req_at(&r, &a, 0);
	post(&r);
	WAIT(r.res == 0);
	assert_memory_equal(from, to, len);
	WAIT(first.res == 0);
	run(&a, conceal_here, &a, NULL);
	free(from);
	free(to);
}

static void a_read_brings_the_data(void **state)
{
	connect_both();
	read_back(4096);
}

static void a_read_of_16_mib_arrives_whole(void **state)
{
	connect_both();
	read_back(16 << 20);
}

static void note_moved(void *side, void *ret)
{
	*(uint64_t *)ret = *((const struct side *)side)->x.moved;
}

static void what_the_peer_moves_is_counted_until_it_is_concealed(void **state)
{
	enum { LEN = 50000, PART = 12345 };
	uint8_t *from = pattern(LEN), *to = calloc(1, LEN);
	struct sg sg = { to, LEN, NULL };
	static struct req first, r[3];
	uint64_t moved[3];

	connect_both();
	send_text(&a, &first, "go");
	WAIT(first.res == 0 && b.received == 1);
	for (unsigned i = 0; i < 2; i++) { // the second finds a new count
		expose(&b, &sg, 1, LEN, RNIC_REMOTE_WRITE);
		run(&b, note_moved, &b, &moved[0]);
		req_init(&r[0], &a, RNIC_WRITE, from, PART);
		req_at(&r[0], &b, 77);
		post(&r[0]);
		send_text(&a, &r[1], "written");
		WAIT(b.received == 2 + i && r[0].res == 0 && r[1].res == 0);
		run(&b, note_moved, &b, &moved[1]);
		run(&b, conceal_here, &b, NULL);
		assert_int_equal(moved[0], 0);
		assert_int_equal(moved[1], PART);
	}
	expose(&a, &sg, 1, LEN, RNIC_REMOTE_READ);
	req_init(&r[2], &b, RNIC_READ, from, PART);
	req_at(&r[2], &a, 0);
	post(&r[2]);
	WAIT(r[2].res == 0);
	run(&a, note_moved, &a, &moved[2]);
	run(&a, conceal_here, &a, NULL);
	assert_int_equal(moved[2], PART);
	free(from);
	free(to);
}

static void everything_arrives_with_crc_too(void **state)
{
	b.options.wants_crc = true;
	connect_both();
	write_and_tell(100001);
	read_back(100003);
}

static uint64_t payload_copies(struct side *s)
{
	return __atomic_load_n(&worker_counters(s->w)->payload_copies, __ATOMIC_RELAXED);
}

static void large_data_is_not_copied(void **state)
{
	connect_both();
	for (int i = 0; i < 8; i++)
		write_and_tell(100000);
	for (int i = 0; i < 8; i++)
		read_back(100000);
	assert_int_equal(payload_copies(&a), 0);
	assert_int_equal(payload_copies(&b), 0);
}

// Where a peer fills what it was given, payload is received before its header says so. Here the
// messages end elsewhere, go backwards, and something else follows each.
static void writes_to_scratch_end_where_they_say(void **state)
{
	enum { LEN = 400000, PART = 150000 };
	static const uint32_t at[] = { 200000, 0, 50000, 250000 };
	uint8_t *from = pattern(LEN), *to = calloc(1, LEN), *wanted = calloc(1, LEN);
	struct sg sg = { to, LEN, NULL };
	static struct req w[4], s[4];

	connect_both();
	expose(&b, &sg, 1, LEN, RNIC_REMOTE_WRITE | RNIC_SCRATCH);
	for (int i = 0; i < 4; i++) {
		req_init(&w[i], &a, RNIC_WRITE, from + i * 1000, PART);
		req_at(&w[i], &b, at[i]);
		memcpy(wanted + at[i], from + i * 1000, PART);
		post(&w[i]);
		send_text(&a, &s[i], "a part is there");
	}
	WAIT(b.received == 4);
	for (int i = 0; i < 4; i++)
		assert_memory_equal(b.rx[i].data, "a part is there", 15);
	assert_memory_equal(to, wanted, LEN);
	for (int i = 0; i < 4; i++) {
		WAIT(w[i].res == 0);
		WAIT(s[i].res == 0);
	}
	run(&b, conceal_here, &b, NULL);
	free(from);
	free(to);
	free(wanted);
}

// The peer fills it: in place, whatever the device expects to come.
static void filling_scratch_copies_nothing(void **state)
{
	enum { LEN = 131072, TIMES = 8 };
	uint8_t *from = pattern(LEN), *to = calloc(1, LEN);
	struct sg sg = { to, LEN, NULL };
	static struct req w, s;

	connect_both();
	for (unsigned i = 0; i < TIMES; i++) {
		memset(to, 0, LEN);
		expose(&b, &sg, 1, LEN, RNIC_REMOTE_WRITE | RNIC_SCRATCH);
		req_init(&w, &a, RNIC_WRITE, from, LEN);
		req_at(&w, &b, 0);
		post(&w);
		send_text(&a, &s, "all");
		WAIT(b.received == i + 1);
		assert_memory_equal(to, from, LEN);
		WAIT(w.res == 0);
		WAIT(s.res == 0);
		run(&b, conceal_here, &b, NULL);
	}
	assert_int_equal(payload_copies(&b), 0);
	free(from);
	free(to);
}

static void more_reads_than_agreed_wait_their_turn(void **state)
{
	enum { READS = 12, LEN = 3000 };
	uint8_t *from = pattern(READS * LEN), *to = calloc(READS, LEN);
	struct sg sg = { from, READS * LEN, NULL };
	static struct req first, r[READS];

	a.options.reads_in = 2;
	connect_both();
	assert_int_equal(b.qp->reads_out, 2);
	send_text(&a, &first, "go");
	expose(&a, &sg, 1, READS * LEN, RNIC_REMOTE_READ);
	for (uint32_t i = 0; i < READS; i++) {
		req_init(&r[i], &b, RNIC_READ, to + i * LEN, LEN);
		req_at(&r[i], &a, i * LEN);
		post(&r[i]);
	}
	for (uint32_t i = 0; i < READS; i++)
		WAIT(r[i].res == 0);
	assert_memory_equal(from, to, READS * LEN);
	for (uint32_t i = 1; i < READS; i++)
		assert_true(r[i - 1].order < r[i].order);
	run(&a, conceal_here, &a, NULL); // a may still be in sendmsg()
	free(from);
	free(to);
}

static void an_invalidated_key_is_told_and_dead(void **state)
{
	uint8_t memory[64] = { 0 };
	struct sg sg = { memory, sizeof memory, NULL };
	static struct req r[3];

	connect_both();
	send_text(&a, &r[0], "go");
	expose(&a, &sg, 1, sizeof memory, RNIC_REMOTE_WRITE);
	uint32_t rkey = a.x.rkey;
	req_init(&r[1], &b, RNIC_SEND_INVALIDATE, (void *)(uintptr_t) "bye", 3);
	r[1].wr.rkey = rkey;
	post(&r[1]);
	WAIT(a.received == 1);
	assert_true(a.rx[0].is_invalidated);
	assert_int_equal(a.rx[0].rkey, rkey);
	req_init(&r[2], &b, RNIC_WRITE, memory, 4);
	r[2].wr.rkey = rkey;
	r[2].wr.remote_addr = a.x.remote_addr;
	post(&r[2]);
	WAIT(a.closed && b.closed);
	assert_int_equal(a.why.code, -EPROTO);
	assert_int_equal(b.why.code, -EACCES);
	assert_non_null(strstr(b.why.text, "invalid STag"));
}

static void a_refused_read_ends_with_eacces(void **state)
{
	uint8_t memory[64] = { 0 };
	struct sg sg = { memory, sizeof memory, NULL };
	static struct req r[3];

	connect_both();
	send_text(&a, &r[0], "go");
	expose(&a, &sg, 1, sizeof memory, RNIC_REMOTE_WRITE);
	for (int i = 1; i < 3; i++) {
		req_init(&r[i], &b, RNIC_READ, memory, 4);
		req_at(&r[i], &a, 0);
		post(&r[i]);
	}
	WAIT(b.closed);
	assert_int_equal(r[1].res, -EACCES);
	assert_int_equal(r[2].res, -ECANCELED);
	assert_non_null(strstr(b.why.text, "access right"));
	WAIT(a.closed);
}

static void a_message_waits_for_a_free_buffer(void **state)
{
	static struct req r[4];

	run(&a, connect_here, NULL, NULL);
	WAIT(a.established && b.established);
	run(&b, reserve_here, &b, (void *)2);
	b.keeps_rx = true;
	for (int i = 0; i < 4; i++)
		send_text(&a, &r[i], i & 1 ? "odd" : "even");
	WAIT(r[3].res == 0 && b.received == 2);
	run(&b, put_here, &b, (void *)0);
	WAIT(b.received == 3);
	run(&b, put_here, &b, (void *)1);
	WAIT(b.received == 4);
	assert_memory_equal(b.rx[3].data, "odd", 3);
	run(&b, put_here, &b, (void *)2);
	run(&b, put_here, &b, (void *)3);
}

static void a_lingering_close_sends_all_and_cancels_reads(void **state)
{
	enum { LEN = 3 << 20 };
	uint8_t *from = pattern(LEN), *to = calloc(1, LEN);
	struct sg sg = { to, LEN, NULL };
	static struct req r[3];

	connect_both();
	expose(&b, &sg, 1, LEN, RNIC_REMOTE_WRITE);
	req_init(&r[0], &a, RNIC_WRITE, from, LEN);
	req_at(&r[0], &b, 0);
	post(&r[0]);
	send_text(&a, &r[1], "last");
	run(&a, close_here, &a, &a);
	WAIT(a.closed && b.closed);
	assert_int_equal(r[0].res, 0);
	assert_int_equal(r[1].res, 0);
	assert_int_equal(b.received, 1);
	assert_memory_equal(from, to, LEN);
	assert_int_equal(b.why.code, -ECONNRESET);
	assert_int_equal(a.why.code, -ESHUTDOWN);
	free(from);
	free(to);
}

static void a_close_ends_every_request_once(void **state)
{
	enum { LEN = 1 << 20, COUNT = 40 };
	uint8_t *mine = pattern(LEN), *theirs[2] = { pattern(LEN), pattern(LEN) };
	struct sg sg[2] = {
		{theirs[0],  LEN, NULL},
		  { theirs[1], LEN, NULL}
	};
	static struct req r[COUNT];

	connect_both();
	run(&b, reserve_here, &b, (void *)1);
	expose(&b, sg, 2, 2 * LEN, RNIC_REMOTE_WRITE | RNIC_REMOTE_READ);
	for (uint32_t i = 0; i < COUNT; i++) {
		bool is_write = i & 1;
		req_init(&r[i], &a, is_write ? RNIC_WRITE : RNIC_READ, mine + is_write * LEN / 2,
			 LEN / 2);
		req_at(&r[i], &b, is_write * LEN);
		post(&r[i]);
	}
	run(&a, close_here, &a, NULL);
	WAIT(a.closed && b.closed);
	for (int i = 0; i < COUNT; i++)
		assert_true(r[i].res == 0 || r[i].res == -ECANCELED);
	assert_int_equal(done_order, COUNT);
	free(mine);
	free(theirs[0]);
	free(theirs[1]);
}

static bool count_rights(const struct rnic_mr *mr, void *arg)
{
	*(unsigned *)arg += mr->access != 0;
	return true;
}

static void each_here(void *x, void *y)
{
	rnic_each_mr(((struct side *)x)->rnic, count_rights, y);
}

static void what_is_exposed_is_listed_until_it_is_concealed(void **state)
{
	uint8_t memory[64];
	struct sg sg = { memory, sizeof memory, NULL };
	unsigned before = 0, during = 0, after = 0;

	connect_both();
	run(&a, each_here, &a, &before);
	expose(&a, &sg, 1, sizeof memory, RNIC_REMOTE_READ);
	run(&a, each_here, &a, &during);
	run(&a, conceal_here, &a, NULL);
	run(&a, each_here, &a, &after);
	assert_int_equal(before, 0);
	assert_int_equal(during, 1);
	assert_int_equal(after, 0);
}

struct registering {
	struct rnic_mr *mr;
	uint8_t *addr;
	uint64_t len;
	unsigned access;
};

static void register_here(void *x, void *y)
{
	struct registering *g = y;
	struct err e;

	MUST(!rnic_register(((struct side *)x)->rnic, &g->mr, g->addr, g->len, g->access, &e));
}

static void deregister_here(void *x, void *y)
{
	rnic_deregister(((struct registering *)y)->mr);
}

static void registered_memory_is_written_by_its_address_until_deregistered(void **state)
{
	static uint8_t memory[100], from[10] = "0123456789";
	struct registering g = { .addr = memory,
				 .len = sizeof memory,
				 .access = RNIC_REMOTE_WRITE };
	unsigned listed = 0;
	static struct req r[3];

	connect_both();
	run(&b, register_here, &b, &g);
	run(&b, each_here, &b, &listed);
	assert_int_equal(listed, 1);
	req_init(&r[0], &a, RNIC_WRITE, from, sizeof from);
	r[0].wr.rkey = g.mr->rkey;
	r[0].wr.remote_addr = (uint64_t)(uintptr_t)memory + 90;
	post(&r[0]);
	send_text(&a, &r[1], "written");
	WAIT(b.received == 1 && r[0].res == 0 && r[1].res == 0);
	assert_memory_equal(memory + 90, from, 10);
	uint32_t rkey = g.mr->rkey;
	run(&b, deregister_here, &b, &g);
	req_init(&r[2], &a, RNIC_WRITE, from, sizeof from);
	r[2].wr.rkey = rkey;
	r[2].wr.remote_addr = (uint64_t)(uintptr_t)memory;
	post(&r[2]);
	WAIT(a.closed && b.closed);
	assert_int_equal(memory[0], 0);
	assert_int_equal(a.why.code, -EACCES);
}

static void connect_nowhere_here(void *x, void *y)
{
	struct tcp_addr addr = *rnic_listener_addr(listener);
	struct err e;

	rnic_listener_free(listener);
	listener = NULL;
	MUST(!rnic_connect(&rnic_iwarp, &b.qp, b.w, &addr, NULL, &b.options, &qp_ops, &b, &e));
}

static void a_connect_to_nobody_is_refused(void **state)
{
	run(&b, connect_nowhere_here, NULL, NULL);
	WAIT(b.closed);
	assert_int_equal(b.why.code, -ECONNREFUSED);
	assert_int_equal(b.rejected, 0);
}

static void close_while_connecting_here(void *x, void *y)
{
	connect_here(x, y);
	close_here(&a, NULL);
	MUST(!a.closed); // not from inside
}

static void a_connect_can_be_given_up_at_once(void **state)
{
	run(&a, close_while_connecting_here, NULL, NULL);
	WAIT(a.closed);
	assert_int_equal(a.why.code, -ESHUTDOWN);
	assert_int_equal(a.established, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(private_data_goes_both_ways),
		TEST(depths_are_lowered_to_what_both_take),
		TEST(a_reject_carries_its_words),
		TEST(a_request_is_gone_with_its_peer),
		TEST(messages_go_both_ways_in_order),
		TEST(the_accepting_side_waits_for_the_first_message),
		TEST(an_empty_message_arrives),
		TEST(a_message_of_several_pieces_arrives_whole),
		TEST(a_send_behind_a_write_finds_the_data_in_place),
		TEST(a_large_write_arrives_whole),
		TEST(a_read_brings_the_data),
		TEST(a_read_of_16_mib_arrives_whole),
		TEST(everything_arrives_with_crc_too),
		TEST(what_the_peer_moves_is_counted_until_it_is_concealed),
		TEST(large_data_is_not_copied),
		TEST(writes_to_scratch_end_where_they_say),
		TEST(filling_scratch_copies_nothing),
		TEST(more_reads_than_agreed_wait_their_turn),
		TEST(an_invalidated_key_is_told_and_dead),
		TEST(a_refused_read_ends_with_eacces),
		TEST(a_message_waits_for_a_free_buffer),
		TEST(a_lingering_close_sends_all_and_cancels_reads),
		TEST(a_close_ends_every_request_once),
		TEST(what_is_exposed_is_listed_until_it_is_concealed),
		TEST(registered_memory_is_written_by_its_address_until_deregistered),
		TEST(a_connect_to_nobody_is_refused),
		TEST(a_connect_can_be_given_up_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
