// SPDX-License-Identifier: BSD-2-Clause
// MPA's startup against a scripted peer, both roles: what Linux sends, what older ones send, what
// is refused. RFC 5044 7.1, RFC 6581.
#include "transport/rdma/iwarp/peer.h"

#include <sys/resource.h>

#include "transport/rdma/iwarp/iw_priv.h"

// --- startup ---

static void a_request_of_revision_1_is_accepted(void **state)
{
	passive();
	ask(0, 1, 0, 0);
	struct mpa_frame r = answer();
	assert_int_equal(r.revision, 1);
	assert_int_equal(r.flags, 0);
	WAIT(b.established);
	run(&b, reserve_here, &b, (void *)1);
	send_frame(RDMAP_SEND, true, 0, 0, 1, 0, "hello", 5);
	WAIT(b.received == 1);
}

static void a_request_for_a_crc_is_honoured(void **state)
{
	static struct req r;

	has_crc = true;
	connected();
	send_frame(RDMAP_SEND, true, 0, 0, 1, 0, "hello", 5);
	WAIT(b.received == 1);
	send_text(&b, &r, "world");
	struct ddp_segment s = receive();
	assert_int_equal(s.opcode, RDMAP_SEND);
	assert_memory_equal(f.bytes + s.header_len, "world", 5);
	WAIT(r.res == 0);
}

// b has ended it, told its caller so, once, and why.
static void expect_told(int code, const char *text)
{
	unsigned refused, others;
	struct err why;

	assert_true(is_at_end());
	WAIT(b.refused);
	NOTE({ // the caller may go on to make it turn more away
		why = b.why;
		refused = b.refused;
		others = b.requests + b.gone;
	});
	assert_int_equal(why.code, code);
	if (!strstr(why.text, text))
		fail_msg("told: %s", why.text);
	assert_int_equal(refused, 1);
	assert_int_equal(others, 0);
}

static void expect_refusal(const char *text)
{
	struct mpa_frame r = answer();

	assert_true(r.flags & MPA_R);
	expect_told(-EPROTO, text);
}

static void markers_are_refused(void **state)
{
	passive();
	ask(MPA_M | MPA_S, 2, 1, 1);
	expect_refusal("markers");
}

static void a_request_that_says_it_is_a_rejection_is_refused(void **state)
{
	passive();
	ask(MPA_R | MPA_S, 2, 1, 1);
	expect_refusal("reject bit");
}

static void a_revision_of_the_future_is_refused(void **state)
{
	passive();
	ask(MPA_S, 3, 1, 1);
	expect_refusal("revision 3");
	assert_int_equal(reply[17], 2);
}

static void a_request_with_another_key_is_dropped(void **state)
{
	passive();
	put("MPA ID Rex Frame\0\2\0\0", 20);
	expect_told(-EPROTO, "not a valid request frame");
}

static void too_much_private_data_is_dropped(void **state)
{
	passive();
	put("MPA ID Req Frame\0\2\2\1", 20);
	expect_told(-EPROTO, "513 bytes of private data");
}

static void a_request_that_does_not_end_is_dropped(void **state)
{
	passive();
	put("MPA ID Req", 10);
	shutdown(peer, SHUT_WR);
	expect_told(-ECONNRESET, "before its request");
}

static void a_request_that_does_not_come_is_waited_for_only_so_long(void **state)
{
	passive();
	put("MPA ID Req", 10);
	expect_told(-ETIMEDOUT, "timeout");
}

static void of_too_many_silent_peers_the_oldest_are_turned_away(void **state)
{
	static int others[IW_HALF_OPEN_MAX];
	struct rlimit files;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	if (files.rlim_max < 3 * IW_HALF_OPEN_MAX)
		skip();
	passive();
	int oldest = peer;
	for (int i = 0; i < IW_HALF_OPEN_MAX; i++) {
		passive();
		others[i] = peer;
	}
	peer = oldest;
	expect_told(-EBUSY, "too many");
	for (int i = 0; i < IW_HALF_OPEN_MAX; i++)
		close(others[i]);
	WAIT(b.refused == IW_HALF_OPEN_MAX + 1);
}

static void a_request_comes_byte_by_byte(void **state)
{
	uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	struct mpa_frame q = { .flags = MPA_S, .revision = 2, .ird = 3, .ord = 2 };

	passive();
	size_t len = mpa_build(&q, out);
	for (size_t i = 0; i < len; i++)
		put(out + i, 1);
	struct mpa_frame r = answer();
	assert_int_equal(r.ird, 2);
	assert_int_equal(r.ord, 3);
}

static void peer_to_peer_begins_with_an_empty_write(void **state)
{
	static struct req q;

	passive();
	uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	struct mpa_frame request = { .flags = MPA_S,
				     .revision = 2,
				     .ird = 3,
				     .ord = 2,
				     .peer_to_peer = MPA_A,
				     .rtr = MPA_W };
	put(out, mpa_build(&request, out));
	struct mpa_frame r = answer();
	assert_int_equal(r.peer_to_peer, MPA_A);
	assert_int_equal(r.rtr, MPA_W);
	WAIT(b.established);
	b.rnic = b.qp->rnic;
	send_text(&b, &q, "after that");
	tagged_frame(RDMAP_WRITE, 0, 0, NULL, 0);
	struct ddp_segment s = receive();
	assert_memory_equal(f.bytes + s.header_len, "after that", 10);
	WAIT(q.res == 0);
}

// --- active ---

static int listening = -1;

static void connect_here(void *port, void *unused)
{
	struct tcp_addr addr;
	struct err e;

	MUST(!tcp_addr_parse(&addr, "127.0.0.1", (uint16_t)(uintptr_t)port, &e));
	MUST(!rnic_connect(&rnic_iwarp, &b.qp, b.w, &addr, NULL, &b.options, &qp_ops, &b, &e));
	b.rnic = b.qp->rnic;
}

static void listening_begins(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof in;

	listening = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listening, (void *)&in, sizeof in), 0);
	assert_int_equal(listen(listening, 4), 0);
	assert_int_equal(getsockname(listening, (void *)&in, &len), 0);
	run(&b, connect_here, (void *)(uintptr_t)ntohs(in.sin_port), NULL);
}

static struct mpa_frame request_in(void)
{
	struct mpa_frame q;
	struct err e;

	if (peer >= 0)
		close(peer);
	peer = accept(listening, NULL, NULL);
	get(reply, MPA_STARTUP_LEN);
	int len = mpa_frame_len(reply, false, &e);
	assert_true(len > 0);
	get(reply + MPA_STARTUP_LEN, (size_t)len - MPA_STARTUP_LEN);
	assert_int_equal(mpa_parse(reply, &q, &e), 0);
	return q;
}

static void reply_with(uint8_t flags, uint8_t revision, uint16_t ird, uint16_t ord)
{
	uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	struct mpa_frame r = { .is_reply = true,
			       .flags = flags,
			       .revision = revision,
			       .ird = ird,
			       .ord = ord,
			       .private_data = (const uint8_t *)"hi",
			       .private_len = 2 };

	put(out, mpa_build(&r, out));
}

static void over(void)
{
	close(listening);
	listening = -1;
}

static void our_request_is_like_linuxs(void **state)
{
	b.options.reads_in = 7;
	b.options.reads_out = 5;
	listening_begins();
	struct mpa_frame q = request_in();
	assert_int_equal(q.revision, 2);
	assert_int_equal(q.flags, MPA_S);
	assert_int_equal(q.ird, 7);
	assert_int_equal(q.ord, 5);
	assert_int_equal(q.peer_to_peer, 0);
	reply_with(MPA_S | MPA_C, 2, 4, 7);
	WAIT(b.established);
	assert_int_equal(b.qp->reads_out, 4);
	assert_int_equal(b.private_len, 2);
	over();
}

static void a_peer_that_knows_revision_1_only_is_asked_again(void **state)
{
	listening_begins();
	request_in();
	reply_with(MPA_R, 1, 0, 0);
	struct mpa_frame q = request_in();
	assert_int_equal(q.revision, 1);
	assert_int_equal(q.flags, 0);
	reply_with(0, 1, 0, 0);
	WAIT(b.established);
	over();
}

static void a_reply_without_enhanced_data_is_refused(void **state)
{
	listening_begins();
	request_in();
	reply_with(0, 2, 0, 0);
	expect_terminate(TERM_MPA_STARTUP);
	over();
}

static void a_peer_that_wants_more_reads_than_there_are_is_refused(void **state)
{
	listening_begins();
	request_in();
	reply_with(MPA_S, 2, 1, RNIC_READS_MAX + 1);
	expect_terminate(TERM_MPA_IRD);
	over();
}

static void a_peer_that_wants_markers_is_refused(void **state)
{
	listening_begins();
	request_in();
	reply_with(MPA_S | MPA_M, 2, 1, 1);
	WAIT(b.closed);
	assert_int_equal(b.why.code, -EPROTO);
	over();
}

static void a_peer_that_speaks_something_else_is_refused(void **state)
{
	listening_begins();
	request_in();
	put("HTTP/1.1 400 Bad Request\r\n", 26);
	WAIT(b.closed);
	assert_int_equal(b.why.code, -EPROTO);
	over();
}

static void a_peer_that_says_nothing_is_waited_for_only_so_long(void **state)
{
	b.options.timeout_usec = 50000;
	listening_begins();
	request_in();
	WAIT(b.closed);
	assert_int_equal(b.why.code, -ETIMEDOUT);
	over();
}

static void expect_empty_write(void)
{
	struct ddp_segment s = receive();

	assert_int_equal(s.opcode, RDMAP_WRITE);
	assert_int_equal(s.len, 0);
	assert_true(s.is_last);
}

// siw may overlook an FPDU that follows its reply at once, until more comes.
static void empty_writes_follow_while_the_peer_is_silent(void **state)
{
	static struct req q;

	listening_begins();
	request_in();
	reply_with(MPA_S, 2, 4, 4);
	WAIT(b.established);
	send_text(&b, &q, "first");
	assert_int_equal(receive().opcode, RDMAP_SEND);
	for (int i = 0; i < 2; i++)
		expect_empty_write();
	WAIT(q.res == 0);
	over();
}

// As ib_srpt's, which comes before siw has read anything.
static void an_empty_write_of_the_peer_does_not_end_ours(void **state)
{
	static struct req q;

	listening_begins();
	request_in();
	reply_with(MPA_S, 2, 4, 4);
	WAIT(b.established);
	tagged_frame(RDMAP_WRITE, 0, 0, NULL, 0);
	send_text(&b, &q, "first");
	assert_int_equal(receive().opcode, RDMAP_SEND);
	for (int i = 0; i < 2; i++)
		expect_empty_write();
	WAIT(q.res == 0);
	over();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_of_revision_1_is_accepted),
		TEST(a_request_for_a_crc_is_honoured),
		TEST(markers_are_refused),
		TEST(a_request_that_says_it_is_a_rejection_is_refused),
		TEST(a_revision_of_the_future_is_refused),
		TEST(a_request_with_another_key_is_dropped),
		TEST(too_much_private_data_is_dropped),
		TEST(a_request_that_does_not_end_is_dropped),
		TEST(a_request_that_does_not_come_is_waited_for_only_so_long),
		TEST(of_too_many_silent_peers_the_oldest_are_turned_away),
		TEST(a_request_comes_byte_by_byte),
		TEST(peer_to_peer_begins_with_an_empty_write),
		TEST(our_request_is_like_linuxs),
		TEST(a_peer_that_knows_revision_1_only_is_asked_again),
		TEST(a_reply_without_enhanced_data_is_refused),
		TEST(a_peer_that_wants_more_reads_than_there_are_is_refused),
		TEST(a_peer_that_wants_markers_is_refused),
		TEST(a_peer_that_speaks_something_else_is_refused),
		TEST(empty_writes_follow_while_the_peer_is_silent),
		TEST(an_empty_write_of_the_peer_does_not_end_ours),
		TEST(a_peer_that_says_nothing_is_waited_for_only_so_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
