// SPDX-License-Identifier: BSD-2-Clause
// A scripted peer: what comes in, cut anywhere; each way to break the protocol and the Terminate
// that answers it; how a connection ends. RFC 5040 4.8, RFC 5041 8, RFC 5044 8.
#include "transport/rdma/iwarp/peer.h"

// --- what comes in, cut anywhere ---

static void everything_comes_byte_by_byte(void **state)
{
	static uint8_t all[12000];
	static uint8_t big[3000];
	uint32_t n = 0;

	for (uint32_t i = 0; i < sizeof big; i++)
		big[i] = (uint8_t)(i * 13);
	has_crc = true;
	exposed(RNIC_REMOTE_WRITE | RNIC_REMOTE_READ);
	int fd = peer;
	int fds[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peer = fds[0]; // collects
	send_frame(RDMAP_SEND, false, 0, 0, 1, 0, big, 1501);
	send_frame(RDMAP_SEND, true, 0, 0, 1, 1501, big + 1501, 1499);
	tagged_frame(RDMAP_WRITE, b.x.rkey, b.x.remote_addr + 1, big, 1999);
	send_frame(RDMAP_SEND_SE_INVALIDATE, true, b.x.rkey, 0, 2, 0, "end", 3);
	n = (uint32_t)recv(fds[1], all, sizeof all, 0);
	close(fds[0]);
	close(fds[1]);
	peer = fd;
	for (uint32_t i = 0; i < n; i++) {
		put(all + i, 1);
		if (!(i % 3)) // let it be seen alone
			sched_yield();
	}
	WAIT(b.received == 2);
	assert_int_equal(b.rx[0].len, 3000);
	assert_int_equal(b.rx[0].sum, sum_of(big, 3000));
	assert_memory_equal(memory + 1, big, 999);
	assert_memory_equal(other, big + 999, 1000);
	assert_int_equal(memory[0], 0);
	assert_true(b.rx[1].is_invalidated);
}

static void a_segment_of_the_greatest_length_is_placed(void **state)
{
	enum { LEN = 65535 - 14 };
	uint8_t *to = calloc(1, LEN), *from = malloc(LEN);
	struct sg sg = { to, LEN, NULL };

	for (uint32_t i = 0; i < LEN; i++)
		from[i] = (uint8_t)(i * 3);
	connected();
	expose(&b, &sg, 1, LEN, RNIC_REMOTE_WRITE);
	tagged_frame(RDMAP_WRITE, b.x.rkey, b.x.remote_addr, from, LEN);
	send_frame(RDMAP_SEND, true, 0, 0, 1, 0, NULL, 0);
	WAIT(b.received == 1);
	assert_memory_equal(from, to, LEN);
	run(&b, conceal_here, &b, NULL);
	free(from);
	free(to);
}

static uint8_t all[70000], from[65536];
static struct req reading;

// These segments of a message in one go, each but the last without the last flag; a send where a
// length is 0. Returns how many bytes they hold, of from.
static uint32_t put_segments(enum rdmap_opcode op, uint32_t stag, uint64_t to, uint32_t msn,
			     const uint32_t *lens, unsigned count)
{
	uint32_t n = 0, at = 0;

	for (unsigned i = 0; i < count; i++) {
		if (lens[i])
			f.len = ddp_put_tagged(f.bytes, op, i == count - 1, lens[i], stag, to + at);
		else
			f.len = ddp_put_untagged(f.bytes, RDMAP_SEND, true, 3, 0, 0, msn++, 0);
		payload(from + at, lens[i] ? lens[i] : 3);
		memcpy(all + n, f.bytes, f.len);
		n += f.len;
		at += lens[i];
	}
	put(all, n);
	send_frame(RDMAP_SEND, true, 0, 0, msn, 0, "end", 3);
	WAIT(b.received == msn);
	return at;
}

enum { TO_LEN = 48000 };
static uint8_t to_memory[TO_LEN];

static void clear(void)
{
	memset(to_memory, 0, TO_LEN);
	for (uint32_t i = 0; i < sizeof from; i++)
		from[i] = (uint8_t)(i * 5 + i / 256);
}

static void check_written(uint32_t len)
{
	assert_memory_equal(to_memory, from, len);
	for (uint32_t i = len; i < TO_LEN; i++)
		assert_int_equal(to_memory[i], 0);
}

static void write_in_segments(const uint32_t *lens, unsigned count)
{
	struct sg sg[3] = {
		{to_memory,	     5000,	   NULL},
		{ to_memory + 5000, 3000,	  NULL},
		{ to_memory + 8000, TO_LEN - 8000, NULL}
	};

	clear();
	connected();
	expose(&b, sg, 3, TO_LEN, RNIC_REMOTE_WRITE);
	check_written(put_segments(RDMAP_WRITE, b.x.rkey, b.x.remote_addr, 1, lens, count));
}

static void read_in_segments(const uint32_t *lens, unsigned count)
{
	uint32_t len = 0;

	for (unsigned i = 0; i < count; i++)
		len += lens[i];
	clear();
	connected();
	send_frame(RDMAP_SEND, true, 0, 0, 1, 0, "go", 2);
	WAIT(b.received == 1);
	req_init(&reading, &b, RNIC_READ, to_memory, 5000);
	req_add(&reading, to_memory + 5000, 3000);
	req_add(&reading, to_memory + 8000, len - 8000);
	post(&reading);
	struct ddp_segment s = receive();
	put_segments(RDMAP_READ_RESPONSE, s.sink_stag, s.sink_to, 2, lens, count);
	WAIT(reading.res == 0);
	check_written(len);
}

static const uint32_t even[] = { 1444, 1444, 1444, 1444, 1444, 1444, 1444, 1444, 300 };
static const uint32_t uneven[] = { 9000, 9000, 1, 12000, 7, 3000, 3000, 2 };
static const uint32_t growing[] = { 4000, 9000, 4000, 9000, 300 };
static const uint32_t with_sends[] = { 9000, 9000, 0, 9000, 0, 0, 500 };
#define COUNT(a) (sizeof a / sizeof *a)

static void segments_of_one_size_are_written(void **state)
{
	write_in_segments(even, COUNT(even));
}

static void segments_of_any_size_are_written(void **state)
{
	write_in_segments(uneven, COUNT(uneven));
}

static void a_send_between_the_segments_of_a_write_arrives(void **state)
{
	write_in_segments(with_sends, COUNT(with_sends));
}

static void a_response_in_segments_of_one_size_is_placed(void **state)
{
	read_in_segments(even, COUNT(even));
}

static void a_response_in_segments_of_any_size_is_placed(void **state)
{
	read_in_segments(uneven, COUNT(uneven));
}

static void a_response_whose_segments_grow_is_placed(void **state)
{
	read_in_segments(growing, COUNT(growing));
}

static void a_send_between_the_segments_of_a_response_arrives(void **state)
{
	read_in_segments(with_sends, COUNT(with_sends));
}

static void messages_without_a_buffer_wait_and_are_not_lost(void **state)
{
	passive();
	ask(MPA_S, 2, 16, 4);
	answer();
	WAIT(b.established);
	b.keeps_rx = true;
	for (uint32_t i = 0; i < 20; i++)
		send_frame(RDMAP_SEND, true, 0, 0, i + 1, 0, &i, sizeof i);
	run(&b, reserve_here, &b, (void *)3);
	WAIT(b.received == 3);
	for (uintptr_t i = 0; i < 17; i++) {
		run(&b, put_here, &b, (void *)i);
		WAIT(b.received == 4 + i);
	}
	for (uint32_t i = 0; i < 20; i++)
		assert_memory_equal(b.rx[i].data, &i, 4);
	for (uintptr_t i = 17; i < 20; i++)
		run(&b, put_here, &b, (void *)i);
}

// Looks once a round how many messages there have been.
struct look {
	struct msg msg;
	unsigned seen, most; // messages, and between two looks
	bool is_over;
};

static void look_run(struct msg *m)
{
	struct look *l = container_of(m, struct look, msg);
	unsigned now;

	NOTE(now = b.received);
	l->most = now - l->seen > l->most ? now - l->seen : l->most;
	l->seen = now;
	if (now < 1000)
		worker_post(b.w, m);
	else
		NOTE(l->is_over = true);
}

static void look_here(void *fd, void *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		f.len = ddp_put_untagged(f.bytes, RDMAP_SEND, true, 4, 0, 0, i + 1, 0);
		payload("ping", 4);
		memcpy(all + n, f.bytes, f.len);
		n += f.len;
	}
	put(all, n);
	worker_post(b.w, &((struct look *)l)->msg);
}

static void a_flood_of_messages_is_worked_off_in_shares(void **state)
{
	struct look l = { .msg.fn = look_run };

	connected();
	run(&b, look_here, NULL, &l);
	WAIT(l.is_over);
	assert_in_range(l.most, 1, 512);
}

static void a_read_is_answered_from_all_its_pieces(void **state)
{
	exposed(RNIC_REMOTE_READ);
	memset(memory, 1, 1000);
	memset(other, 2, 1000);
	read_frame(1, 1500, b.x.rkey, b.x.remote_addr + 100);
	uint32_t got = 0;
	for (bool is_last = false; !is_last;) {
		struct ddp_segment s = receive();
		assert_int_equal(s.opcode, RDMAP_READ_RESPONSE);
		assert_int_equal(s.stag, 0xabcd);
		assert_int_equal(s.to, 0x500 + got);
		for (uint32_t i = 0; i < s.len; i++)
			assert_int_equal(f.bytes[s.header_len + i], got + i < 900 ? 1 : 2);
		got += s.len;
		is_last = s.is_last;
	}
	assert_int_equal(got, 1500);
}

static void an_empty_read_needs_no_key(void **state)
{
	connected();
	read_frame(1, 0, 0x12345678, 0);
	struct ddp_segment s = receive();
	assert_int_equal(s.opcode, RDMAP_READ_RESPONSE);
	assert_int_equal(s.len, 0);
	assert_true(s.is_last);
}

// --- the rules, one by one ---

static void a_write_with_a_made_up_key_is_refused(void **state)
{
	connected();
	tagged_frame(RDMAP_WRITE, 0x4242, 0, "x", 1);
	expect_terminate(TERM_DDP_STAG);
}

static void a_stale_key_is_refused(void **state)
{
	exposed(RNIC_REMOTE_WRITE);
	uint32_t stag = b.x.rkey;
	uint64_t to = b.x.remote_addr;
	run(&b, conceal_here, &b, NULL);
	tagged_frame(RDMAP_WRITE, stag, to, "x", 1);
	expect_terminate(TERM_DDP_STAG);
	assert_int_equal(memory[0], 0);
}

static void a_write_outside_the_bounds_is_refused(void **state)
{
	exposed(RNIC_REMOTE_WRITE);
	tagged_frame(RDMAP_WRITE, b.x.rkey, b.x.remote_addr + 1999, "xy", 2);
	expect_terminate(TERM_DDP_BOUNDS);
	assert_int_equal(other[999], 0);
}

static void a_write_below_the_bounds_is_refused(void **state)
{
	exposed(RNIC_REMOTE_WRITE);
	tagged_frame(RDMAP_WRITE, b.x.rkey, b.x.remote_addr - 1, "xy", 2);
	expect_terminate(TERM_DDP_BOUNDS);
}

static void a_write_that_wraps_around_is_refused(void **state)
{
	exposed(RNIC_REMOTE_WRITE);
	tagged_frame(RDMAP_WRITE, b.x.rkey, UINT64_MAX, "xy", 2);
	expect_terminate(TERM_DDP_TO_WRAP);
}

static void a_write_to_what_may_be_read_is_refused(void **state)
{
	exposed(RNIC_REMOTE_READ);
	tagged_frame(RDMAP_WRITE, b.x.rkey, b.x.remote_addr, "xy", 2);
	expect_terminate(TERM_RDMAP_ACCESS);
	assert_int_equal(memory[0], 0);
}

static void a_read_of_what_may_be_written_is_refused(void **state)
{
	exposed(RNIC_REMOTE_WRITE);
	read_frame(1, 1, b.x.rkey, b.x.remote_addr);
	expect_terminate(TERM_RDMAP_ACCESS);
}

static void a_read_with_a_made_up_key_is_refused(void **state)
{
	connected();
	read_frame(1, 1, 0x4200, 0);
	expect_terminate(TERM_RDMAP_STAG);
}

static void a_read_outside_the_bounds_is_refused(void **state)
{
	exposed(RNIC_REMOTE_READ);
	read_frame(1, 2001, b.x.rkey, b.x.remote_addr);
	expect_terminate(TERM_RDMAP_BOUNDS);
}

static void a_read_of_4_gib_is_refused(void **state)
{
	exposed(RNIC_REMOTE_READ);
	read_frame(1, UINT32_MAX, b.x.rkey, b.x.remote_addr);
	expect_terminate(TERM_RDMAP_BOUNDS);
}

static void a_read_that_wraps_around_is_refused(void **state)
{
	exposed(RNIC_REMOTE_READ);
	read_frame(1, 2, b.x.rkey, UINT64_MAX);
	expect_terminate(TERM_RDMAP_TO_WRAP);
}

static void more_reads_than_agreed_are_refused(void **state)
{
	exposed(RNIC_REMOTE_READ);
	static uint8_t five[5 * 52];
	for (uint32_t i = 0; i < 5; i++) {
		uint8_t *at = five + i * 52;
		ddp_put_read_request(at, i + 1, 1, 0, 2000, b.x.rkey, b.x.remote_addr);
	}
	put(five, sizeof five); // at once: none is answered in between
	expect_terminate(TERM_DDP_NO_BUFFER);
}

static void a_key_of_another_connection_is_refused(void **state)
{
	exposed(RNIC_REMOTE_WRITE);
	uint32_t stag = b.x.rkey;
	uint64_t to = b.x.remote_addr;
	struct side first = b;
	int first_peer = peer;
	b.qp = NULL;
	b.established = 0;
	b.x.handle = NULL;
	connected();
	tagged_frame(RDMAP_WRITE, stag, to, "x", 1);
	expect_terminate(TERM_DDP_STREAM);
	assert_int_equal(memory[0], 0);
	close(peer);
	b.qp = first.qp;
	b.x = first.x;
	b.closed = 0;
	peer = first_peer;
}

static void an_invalidation_of_a_made_up_key_is_refused(void **state)
{
	connected();
	send_frame(RDMAP_SEND_INVALIDATE, true, 0x4200, 0, 1, 0, "x", 1);
	expect_terminate(TERM_RDMAP_INVALIDATE);
	assert_int_equal(b.received, 0);
}

static void a_response_nobody_asked_for_is_refused(void **state)
{
	connected();
	tagged_frame(RDMAP_READ_RESPONSE, 0xf0000000, 0, "x", 1);
	expect_terminate(TERM_RDMAP_OPCODE);
}

static uint8_t sink[64];

// b has sent a read request for 16 bytes, which is in f.
static struct ddp_segment b_reads(void)
{
	connected();
	memset(sink, 0, sizeof sink);
	send_frame(RDMAP_SEND, true, 0, 0, 1, 0, "go", 2);
	WAIT(b.received == 1);
	req_init(&reading, &b, RNIC_READ, sink, 16);
	reading.wr.rkey = 0x77;
	reading.wr.remote_addr = 0x1000;
	post(&reading);
	struct ddp_segment s = receive();
	assert_int_equal(s.opcode, RDMAP_READ_REQUEST);
	assert_int_equal(s.read_len, 16);
	assert_int_equal(s.source_stag, 0x77);
	assert_int_equal(s.source_to, 0x1000);
	return s;
}

static void a_response_may_come_in_parts(void **state)
{
	struct ddp_segment s = b_reads();

	f.len = ddp_put_tagged(f.bytes, RDMAP_READ_RESPONSE, false, 5, s.sink_stag, s.sink_to);
	payload("01234", 5);
	put(f.bytes, f.len);
	tagged_frame(RDMAP_READ_RESPONSE, s.sink_stag, s.sink_to + 5, "56789abcdef", 11);
	WAIT(reading.res == 0);
	assert_memory_equal(sink, "0123456789abcdef", 16);
}

static void a_response_that_is_too_long_is_refused(void **state)
{
	struct ddp_segment s = b_reads();

	tagged_frame(RDMAP_READ_RESPONSE, s.sink_stag, s.sink_to, "0123456789abcdefg", 17);
	expect_terminate(TERM_DDP_BOUNDS);
	assert_int_equal(reading.res, -ECANCELED);
	assert_int_equal(sink[16], 0);
}

static void a_response_that_is_too_short_is_refused(void **state)
{
	struct ddp_segment s = b_reads();

	tagged_frame(RDMAP_READ_RESPONSE, s.sink_stag, s.sink_to, "0123", 4);
	expect_terminate(TERM_DDP_BOUNDS);
}

static void a_response_to_another_sink_is_refused(void **state)
{
	struct ddp_segment s = b_reads();

	tagged_frame(RDMAP_READ_RESPONSE, s.sink_stag + 1, s.sink_to, "0123456789abcdef", 16);
	expect_terminate(TERM_DDP_STAG);
}

static void a_write_to_the_sink_of_a_read_is_refused(void **state)
{
	struct ddp_segment s = b_reads();

	tagged_frame(RDMAP_WRITE, s.sink_stag, s.sink_to, "0123456789abcdef", 16);
	expect_terminate(TERM_DDP_STAG);
	assert_int_equal(sink[0], 0);
}

static void a_message_too_long_for_any_buffer_is_refused(void **state)
{
	static uint8_t big[RNIC_RX_SIZE + 1];

	connected();
	send_frame(RDMAP_SEND, true, 0, 0, 1, 0, big, sizeof big);
	expect_terminate(TERM_DDP_TOO_LONG);
}

static void a_message_that_grows_too_long_is_refused(void **state)
{
	static uint8_t big[RNIC_RX_SIZE];

	connected();
	send_frame(RDMAP_SEND, false, 0, 0, 1, 0, big, sizeof big);
	send_frame(RDMAP_SEND, true, 0, 0, 1, sizeof big, big, 1);
	expect_terminate(TERM_DDP_TOO_LONG);
}

static void a_wrong_message_number_is_refused(void **state)
{
	connected();
	send_frame(RDMAP_SEND, true, 0, 0, 2, 0, "x", 1);
	expect_terminate(TERM_DDP_MSN);
}

static void a_wrong_message_offset_is_refused(void **state)
{
	connected();
	send_frame(RDMAP_SEND, false, 0, 0, 1, 0, "abc", 3);
	send_frame(RDMAP_SEND, true, 0, 0, 1, 4, "d", 1);
	expect_terminate(TERM_DDP_MO);
}

static void a_wrong_queue_is_refused(void **state)
{
	connected();
	send_frame(RDMAP_SEND, true, 0, 3, 1, 0, "x", 1);
	expect_terminate(TERM_DDP_QN);
}

static void a_wrong_crc_is_refused(void **state)
{
	has_crc = true;
	connected();
	f.len = ddp_put_untagged(f.bytes, RDMAP_SEND, true, 5, 0, 0, 1, 0);
	payload("hello", 5);
	f.bytes[f.len - 1] ^= 1;
	put(f.bytes, f.len);
	expect_terminate(TERM_MPA_CRC);
	assert_int_equal(b.received, 0);
}

static void a_segment_shorter_than_its_header_is_refused(void **state)
{
	connected();
	raw_header("\0\3\101\103", 4);
	expect_terminate(TERM_MPA_LENGTH);
}

static void an_unknown_opcode_is_refused(void **state)
{
	connected();
	raw_header("\0\40\101\110", 4);
	expect_terminate(TERM_RDMAP_OPCODE);
}

static void a_wrong_version_is_refused(void **state)
{
	connected();
	raw_header("\0\40\101\3", 4);
	expect_terminate(TERM_RDMAP_VERSION);
}

static void an_iscsi_login_after_the_startup_is_refused(void **state)
{
	connected();
	raw_header("\103\207\0\0", 4);
	expect_terminate(TERM_DDP_UNTAGGED_VERSION);
}

// --- the end ---

static void a_terminate_is_told_in_words(void **state)
{
	connected();
	f.len = ddp_put_terminate(f.bytes, TERM_DDP_NO_BUFFER, NULL, NULL);
	seal();
	put(f.bytes, f.len);
	WAIT(b.closed);
	assert_int_equal(b.why.code, -ECONNRESET);
	assert_non_null(strstr(b.why.text, "no buffer"));
}

static void a_terminate_that_is_too_long_is_read_as_far_as_it_makes_sense(void **state)
{
	static uint8_t big[3000] = { 0x12, 0x02 };

	connected();
	send_frame(RDMAP_TERMINATE, true, 0, 2, 1, 0, big, sizeof big);
	WAIT(b.closed);
	assert_non_null(strstr(b.why.text, "no buffer"));
}

static void an_end_of_file_is_the_peers_close(void **state)
{
	connected();
	shutdown(peer, SHUT_WR);
	WAIT(b.closed);
	assert_int_equal(b.why.code, -ECONNRESET);
	assert_non_null(strstr(b.why.text, "peer closed"));
}

static void an_end_within_a_message_is_told(void **state)
{
	connected();
	send_frame(RDMAP_SEND, false, 0, 0, 1, 0, "abc", 3);
	shutdown(peer, SHUT_WR);
	WAIT(b.closed);
	assert_non_null(strstr(b.why.text, "within a message"));
}

static void bytes_in_here(void *to, void *unused)
{
	*(uint64_t *)to = b.qp ? b.qp->bytes_in : UINT64_MAX;
}

static void wait_for_bytes(uint64_t count)
{
	uint64_t in = 0;

	while (in < count)
		run(&b, bytes_in_here, &in, NULL);
}

static void what_is_concealed_while_it_is_written_stays_as_it_is(void **state)
{
	static uint8_t ones[2000];

	memset(ones, 1, sizeof ones);
	exposed(RNIC_REMOTE_WRITE);
	f.len = ddp_put_tagged(f.bytes, RDMAP_WRITE, true, 2000, b.x.rkey, b.x.remote_addr);
	payload(ones, 2000);
	put(f.bytes, 500);
	wait_for_bytes(500);
	run(&b, conceal_here, &b, NULL);
	assert_int_equal(memory[0], 1);
	memset(memory, 0, sizeof memory);
	put(f.bytes + 500, f.len - 500);
	send_frame(RDMAP_SEND, true, 0, 0, 1, 0, "still here", 10);
	WAIT(b.received == 1);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(memory[i] | other[i], 0);
}

static void memory_taken_back_while_it_is_read_ends_the_connection(void **state)
{
	enum { LEN = 8 << 20 }; // more than a socket holds
	uint8_t *big = calloc(1, LEN);
	struct sg sg = { big, LEN, NULL };

	connected();
	expose(&b, &sg, 1, LEN, RNIC_REMOTE_READ);
	read_frame(1, LEN, b.x.rkey, b.x.remote_addr);
	struct ddp_segment s = receive();
	assert_int_equal(s.opcode, RDMAP_READ_RESPONSE);
	run(&b, conceal_here, &b, NULL);
	free(big);
	char bin[65536];
	while (recv(peer, bin, sizeof bin, 0) > 0)
		;
	WAIT(b.closed);
	assert_int_equal(b.why.code, -ECONNABORTED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(everything_comes_byte_by_byte),
		TEST(a_segment_of_the_greatest_length_is_placed),
		TEST(segments_of_one_size_are_written),
		TEST(segments_of_any_size_are_written),
		TEST(a_send_between_the_segments_of_a_write_arrives),
		TEST(a_response_in_segments_of_one_size_is_placed),
		TEST(a_response_in_segments_of_any_size_is_placed),
		TEST(a_response_whose_segments_grow_is_placed),
		TEST(a_send_between_the_segments_of_a_response_arrives),
		TEST(messages_without_a_buffer_wait_and_are_not_lost),
		TEST(a_flood_of_messages_is_worked_off_in_shares),
		TEST(a_read_is_answered_from_all_its_pieces),
		TEST(an_empty_read_needs_no_key),
		TEST(a_write_with_a_made_up_key_is_refused),
		TEST(a_stale_key_is_refused),
		TEST(a_write_outside_the_bounds_is_refused),
		TEST(a_write_below_the_bounds_is_refused),
		TEST(a_write_that_wraps_around_is_refused),
		TEST(a_write_to_what_may_be_read_is_refused),
		TEST(a_read_of_what_may_be_written_is_refused),
		TEST(a_read_with_a_made_up_key_is_refused),
		TEST(a_read_outside_the_bounds_is_refused),
		TEST(a_read_of_4_gib_is_refused),
		TEST(a_read_that_wraps_around_is_refused),
		TEST(more_reads_than_agreed_are_refused),
		TEST(a_key_of_another_connection_is_refused),
		TEST(an_invalidation_of_a_made_up_key_is_refused),
		TEST(a_response_nobody_asked_for_is_refused),
		TEST(a_response_may_come_in_parts),
		TEST(a_response_that_is_too_long_is_refused),
		TEST(a_response_that_is_too_short_is_refused),
		TEST(a_response_to_another_sink_is_refused),
		TEST(a_write_to_the_sink_of_a_read_is_refused),
		TEST(a_message_too_long_for_any_buffer_is_refused),
		TEST(a_message_that_grows_too_long_is_refused),
		TEST(a_wrong_message_number_is_refused),
		TEST(a_wrong_message_offset_is_refused),
		TEST(a_wrong_queue_is_refused),
		TEST(a_wrong_crc_is_refused),
		TEST(a_segment_shorter_than_its_header_is_refused),
		TEST(an_unknown_opcode_is_refused),
		TEST(a_wrong_version_is_refused),
		TEST(an_iscsi_login_after_the_startup_is_refused),
		TEST(a_terminate_is_told_in_words),
		TEST(a_terminate_that_is_too_long_is_read_as_far_as_it_makes_sense),
		TEST(an_end_of_file_is_the_peers_close),
		TEST(an_end_within_a_message_is_told),
		TEST(what_is_concealed_while_it_is_written_stays_as_it_is),
		TEST(memory_taken_back_while_it_is_read_ends_the_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
