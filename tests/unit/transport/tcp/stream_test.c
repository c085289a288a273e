// SPDX-License-Identifier: BSD-2-Clause
// Streams: partial reads and writes, ends, errors, freeing from inside callbacks, connecting.
#include "core/worker_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/tcp/stream.h"

// One stream under test on a control worker, the other end a plain socket of the test. What the
// callbacks saw is kept here; each test's own step is run from them.
struct rig {
	struct worker *w;
	struct stream *s;
	int peer; // the other end, -1 if none
	char got[256];
	size_t got_len;
	ssize_t last; // of stream_readv
	int rx_runs, tx_runs, connected_runs, closed_runs, reason;
	bool is_hup;
	void (*on_rx)(struct rig *r);
	void (*on_tx)(struct rig *r);
	void (*on_connected)(struct rig *r);
	struct msg start;
	void (*on_start)(struct rig *r);
};

static void read_all(struct rig *r)
{
	do {
		struct iovec iov = { r->got + r->got_len, sizeof r->got - r->got_len };
		r->last = stream_readv(r->s, &iov, 1);
		if (r->last > 0)
			r->got_len += (size_t)r->last;
	} while (r->last > 0 && r->got_len < sizeof r->got);
	r->is_hup = stream_is_hup(r->s);
}

static void rig_rx(struct stream *s)
{
	struct rig *r = stream_arg(s);

	r->rx_runs++;
	if (r->on_rx)
		r->on_rx(r);
}

static void rig_tx(struct stream *s)
{
	struct rig *r = stream_arg(s);

	r->tx_runs++;
	if (r->on_tx)
		r->on_tx(r);
}

static void rig_connected(struct stream *s)
{
	struct rig *r = stream_arg(s);

	r->connected_runs++;
	if (r->on_connected)
		r->on_connected(r);
}

static void rig_closed(struct stream *s, int reason)
{
	struct rig *r = stream_arg(s);

	r->closed_runs++;
	r->reason = reason;
	worker_stop(r->w);
}

static const struct stream_ops rig_ops = {
	.rx = rig_rx, .tx_ready = rig_tx, .connected = rig_connected, .closed = rig_closed
};

static void rig_start(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, start);

	r->on_start(r);
}

static void rig_stop(struct rig *r)
{
	worker_stop(r->w);
}

// A stream on one end of a socket pair, or of a TCP connection over loopback.
static void loopback_pair(int fds[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int l = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(l, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (struct sockaddr *)&a, &len), 0);
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fds[1], (struct sockaddr *)&a, len), 0);
	fds[0] = accept(l, NULL, NULL);
	assert_true(fds[0] >= 0);
	close(l);
}

static void rig_init(struct rig *r, bool is_tcp)
{
	int fds[2];
	struct err e;

	memset(r, 0, sizeof *r);
	r->w = make_worker(true, 0);
	if (is_tcp)
		loopback_pair(fds);
	else
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	r->peer = fds[1];
	if (stream_new(&r->s, r->w, fds[0], &rig_ops, r, &e) < 0)
		fail_msg("%s", e.text);
}

static void rig_run(struct rig *r, void (*on_start)(struct rig *r))
{
	r->start.fn = rig_start;
	r->on_start = on_start;
	if (on_start)
		worker_post(r->w, &r->start);
	run_guarded(r->w);
}

static void rig_done(struct rig *r)
{
	stream_free(r->s);
	if (r->peer >= 0)
		close(r->peer);
	worker_free(r->w);
}

static void say(struct rig *r, const char *text)
{
	assert_int_equal(write(r->peer, text, strlen(text)), strlen(text));
}

// --- reading ---

static void read_and_stop(struct rig *r)
{
	read_all(r);
	worker_stop(r->w);
}

static void bytes_that_were_there_before_are_announced(void **state)
{
	struct rig r;

	rig_init(&r, false);
	say(&r, "early");
	r.on_rx = read_and_stop;
	rig_run(&r, NULL);
	assert_string_equal(r.got, "early");
	assert_int_equal(r.last, -EAGAIN);
	rig_done(&r);
}

static void read_in_pieces(struct rig *r)
{
	char a[2], b[3];
	struct iovec iov[2] = {
		{a,  2},
		  { b, 3}
	};

	assert_int_equal(stream_readv(r->s, iov, 2), 5);
	assert_memory_equal(a, "01", 2);
	assert_memory_equal(b, "234", 3);
	assert_int_equal(stream_readv(r->s, iov, 2), 3);
	assert_int_equal(stream_readv(r->s, iov, 2), -EAGAIN);
	worker_stop(r->w);
}

static void a_read_scatters_and_may_be_partial(void **state)
{
	struct rig r;

	rig_init(&r, true);
	say(&r, "01234567");
	r.on_rx = read_in_pieces;
	rig_run(&r, NULL);
	assert_int_equal(r.rx_runs, 1);
	rig_done(&r);
}

static void read_then_answer_once(struct rig *r)
{
	read_all(r);
	if (r->got_len == 1)
		say(r, "b"); // an edge of its own
	else
		worker_stop(r->w);
}

static void each_arrival_after_eagain_is_a_new_event(void **state)
{
	struct rig r;

	rig_init(&r, true);
	say(&r, "a");
	r.on_rx = read_then_answer_once;
	rig_run(&r, NULL);
	assert_string_equal(r.got, "ab");
	assert_int_equal(r.rx_runs, 2);
	rig_done(&r);
}

static void the_end_of_file_reads_as_zero_after_the_last_bytes(void **state)
{
	struct rig r;

	rig_init(&r, true);
	say(&r, "bye");
	close(r.peer);
	r.peer = -1;
	r.on_rx = read_and_stop;
	rig_run(&r, NULL);
	assert_string_equal(r.got, "bye");
	assert_int_equal(r.last, 0);
	assert_true(r.is_hup);
	assert_int_equal(r.closed_runs, 0); // the owner closes
	rig_done(&r);
}

static void reset_by_peer(struct rig *r)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(r->peer, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	close(r->peer);
	r->peer = -1;
}

static void a_reset_is_read_as_an_error(void **state)
{
	struct rig r;

	rig_init(&r, true);
	r.on_rx = read_and_stop;
	rig_run(&r, reset_by_peer);
	assert_int_equal(r.last, -ECONNRESET);
	rig_done(&r);
}

static void a_reset_that_nobody_reads_closes_with_its_reason(void **state)
{
	struct rig r;

	rig_init(&r, true);
	rig_run(&r, reset_by_peer); // ends by closed
	assert_int_equal(r.closed_runs, 1);
	assert_int_equal(r.reason, -ECONNRESET);
	assert_true(stream_is_closed(r.s));
	rig_done(&r);
}

// --- writing ---

static char bulk[1 << 16];
static size_t bulk_sent;

static ssize_t write_bulk(struct rig *r)
{
	struct iovec iov[2] = {
		{bulk,	1000	     },
		{ bulk, sizeof bulk}
	};
	ssize_t n = stream_writev(r->s, iov, 2);

	if (n > 0)
		bulk_sent += (size_t)n;
	return n;
}

static void drain_peer(struct rig *r)
{
	static char sink[1 << 16];
	ssize_t n;

	while ((n = recv(r->peer, sink, sizeof sink, MSG_DONTWAIT)) > 0)
		bulk_sent -= (size_t)n;
}

static void fill_then_drain(struct rig *r)
{
	ssize_t n;

	while ((n = write_bulk(r)) > 0)
		;
	assert_int_equal(n, -EAGAIN);
	assert_int_equal(r->tx_runs, 0);
	drain_peer(r);
}

static void room_after_eagain_is_announced(void **state)
{
	struct rig r;

	bulk_sent = 0;
	rig_init(&r, true);
	r.on_tx = rig_stop;
	rig_run(&r, fill_then_drain);
	assert_int_equal(r.tx_runs, 1);
	drain_peer(&r);
	assert_int_equal(bulk_sent, 0); // nothing lost, nothing twice
	rig_done(&r);
}

static void fill_until_short(struct rig *r)
{
	const ssize_t all = 1000 + (ssize_t)sizeof bulk;
	ssize_t n;

	while ((n = write_bulk(r)) == all)
		;
	assert_true(n > 0); // short: no -EAGAIN was seen
	drain_peer(r);
}

static void room_after_a_short_write_is_announced(void **state)
{
	struct rig r;
	int size = 10000; // no multiple of what is written, so that the last one is short

	bulk_sent = 0;
	rig_init(&r, true);
	setsockopt(stream_fd(r.s), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	r.on_tx = rig_stop;
	rig_run(&r, fill_until_short);
	assert_int_equal(r.tx_runs, 1);
	rig_done(&r);
}

static void tx_ready_is_not_called_for_nothing(void **state)
{
	struct rig r;

	rig_init(&r, true);
	say(&r, "x");
	r.on_rx = read_and_stop;
	rig_run(&r, NULL);
	assert_int_equal(r.tx_runs, 0);
	rig_done(&r);
}

static void a_write_after_the_peer_is_gone_is_an_error_not_a_signal(void **state)
{
	struct rig r;
	ssize_t n = 0;

	rig_init(&r, false);
	close(r.peer);
	r.peer = -1;
	n = write_bulk(&r);
	assert_int_equal(n, -EPIPE);
	rig_done(&r);
}

static void start_shutdown(struct rig *r)
{
	char c;

	assert_int_equal(stream_shutdown(r->s), 0);
	assert_int_equal(read(r->peer, &c, 1), 0);
	say(r, "still");
}

static void after_shutdown_reading_goes_on(void **state)
{
	struct rig r;

	rig_init(&r, true);
	r.on_rx = read_and_stop;
	rig_run(&r, start_shutdown);
	assert_string_equal(r.got, "still");
	rig_done(&r);
}

// --- the end ---

static void close_twice(struct rig *r)
{
	stream_close(r->s, -ESHUTDOWN);
	stream_close(r->s, -EIO);	     // no-op
	assert_int_equal(r->closed_runs, 0); // never from inside
	assert_int_equal(write_bulk(r), -ENOTCONN);
	assert_int_equal(stream_fd(r->s), -1);
}

static void close_reports_once_with_its_reason(void **state)
{
	struct rig r;

	rig_init(&r, true);
	rig_run(&r, close_twice);
	assert_int_equal(r.closed_runs, 1);
	assert_int_equal(r.reason, -ESHUTDOWN);
	rig_done(&r);
}

static void close_and_free(struct rig *r)
{
	stream_close(r->s, -EIO);
	stream_free(r->s);
	r->s = NULL;
	worker_stop(r->w);
}

static void closed_does_not_come_after_free(void **state)
{
	struct rig r;

	rig_init(&r, true);
	rig_run(&r, close_and_free);
	assert_int_equal(r.closed_runs, 0);
	rig_done(&r);
}

static void free_now(struct rig *r)
{
	stream_free(r->s);
	r->s = NULL;
	worker_stop(r->w);
}

// tx_ready is owed in the same event, and an error is there: neither may touch what is freed.
static void rx_may_free_the_stream(void **state)
{
	struct rig r;

	rig_init(&r, true);
	while (write_bulk(&r) > 0)
		;
	r.on_rx = free_now;
	rig_run(&r, reset_by_peer);
	assert_int_equal(r.rx_runs, 1);
	assert_int_equal(r.tx_runs, 0);
	assert_int_equal(r.closed_runs, 0);
	rig_done(&r);
}

static void the_peer_gets_the_last_words_though_we_left_bytes_unread(void **state)
{
	struct rig r;
	char got[8] = "";

	rig_init(&r, true);
	say(&r, "unread");
	struct iovec iov = { (char *)"refused", 7 };
	assert_int_equal(stream_writev(r.s, &iov, 1), 7);
	stream_free(r.s);
	r.s = NULL;
	assert_int_equal(read(r.peer, got, 7), 7);
	assert_string_equal(got, "refused");
	assert_int_equal(read(r.peer, got, 1), 0); // an orderly end, no reset
	rig_done(&r);
}

static void a_detached_stream_goes_on_elsewhere(void **state)
{
	struct rig a, b = { 0 };
	struct err e;

	rig_init(&a, true);
	say(&a, "moved");
	int fd = stream_detach_fd(a.s);
	assert_true(fd >= 0);
	assert_int_equal(stream_detach_fd(a.s), -ENOTCONN);
	b.w = make_worker(true, 0);
	b.peer = -1;
	b.on_rx = read_and_stop;
	assert_int_equal(stream_new(&b.s, b.w, fd, &rig_ops, &b, &e), 0);
	rig_run(&b, NULL);
	assert_string_equal(b.got, "moved");
	assert_int_equal(a.rx_runs + a.closed_runs, 0);
	rig_done(&b);
	rig_done(&a);
}

static void both_addresses_are_known(void **state)
{
	struct rig r;
	struct tcp_addr local, peer;

	rig_init(&r, true);
	tcp_addr_of_socket(&local, r.peer);
	tcp_addr_of_peer(&peer, r.peer);
	assert_int_equal(tcp_addr_compare(stream_local(r.s), &peer), 0);
	assert_int_equal(tcp_addr_compare(stream_peer(r.s), &local), 0);
	rig_done(&r);
}

static void keepalive_is_set_and_checked(void **state)
{
	struct rig r;
	int on = 0;
	socklen_t len = sizeof on;

	rig_init(&r, true);
	assert_int_equal(stream_set_keepalive(r.s, 30, 10, 3), 0);
	getsockopt(stream_fd(r.s), SOL_SOCKET, SO_KEEPALIVE, &on, &len);
	assert_int_equal(on, 1);
	assert_int_equal(stream_set_keepalive(r.s, 1000000, 10, 3), -EINVAL);
	assert_int_equal(stream_set_keepalive(r.s, 0, 0, 0), 0);
	getsockopt(stream_fd(r.s), SOL_SOCKET, SO_KEEPALIVE, &on, &len);
	assert_int_equal(on, 0);
	rig_done(&r);
}

static void a_bad_descriptor_is_an_error(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct stream *s = NULL;
	struct err e;

	assert_int_equal(stream_new(&s, w, -1, &rig_ops, NULL, &e), -EBADF);
	assert_null(s);
	worker_free(w);
}

// --- connecting ---

static struct tcp_addr listen_on_loopback(int *ret_fd, int backlog)
{
	struct tcp_addr a;

	assert_int_equal(tcp_addr_parse(&a, "127.0.0.1", 1, NULL), 0);
	tcp_addr_set_port(&a, 0);
	*ret_fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(*ret_fd, &a.sa, tcp_addr_len(&a)), 0);
	if (backlog >= 0)
		assert_int_equal(listen(*ret_fd, backlog), 0);
	tcp_addr_of_socket(&a, *ret_fd);
	return a;
}

static void rig_connect(struct rig *r, const struct tcp_addr *to, uint64_t timeout_usec)
{
	struct err e;

	memset(r, 0, sizeof *r);
	r->peer = -1;
	r->w = make_worker(true, 0);
	if (stream_connect(&r->s, r->w, to, NULL, timeout_usec, &rig_ops, r, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(write_bulk(r), -ENOTCONN);
}

static void connect_succeeds_and_knows_both_addresses(void **state)
{
	struct rig r;
	int l;
	struct tcp_addr a = listen_on_loopback(&l, 1);

	rig_connect(&r, &a, 20000000);
	r.on_connected = rig_stop;
	rig_run(&r, NULL);
	assert_int_equal(r.connected_runs, 1);
	assert_int_equal(tcp_addr_compare(stream_peer(r.s), &a), 0);
	assert_true(tcp_addr_is_loopback(stream_local(r.s)));
	assert_true(write_bulk(&r) > 0);
	rig_done(&r);
	close(l);
}

static void connect_to_a_port_without_listener_is_refused(void **state)
{
	struct rig r;
	int fd;
	struct tcp_addr a = listen_on_loopback(&fd, -1); // bound, so no other program listens there

	rig_connect(&r, &a, 20000000);
	assert_int_equal(r.closed_runs, 0);
	rig_run(&r, NULL); // ends by closed
	assert_int_equal(r.connected_runs, 0);
	assert_int_equal(r.closed_runs, 1);
	assert_int_equal(r.reason, -ECONNREFUSED);
	rig_done(&r);
	close(fd);
}

// A full backlog drops SYNs without an answer.
static void connect_gives_up_after_its_time(void **state)
{
	struct rig r;
	int l, fill[4];
	struct tcp_addr a = listen_on_loopback(&l, 0);

	for (int i = 0; i < 4; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fill[i], &a.sa, tcp_addr_len(&a));
	}
	rig_connect(&r, &a, 20000);
	rig_run(&r, NULL);
	assert_int_equal(r.connected_runs, 0);
	assert_int_equal(r.closed_runs, 1);
	assert_int_equal(r.reason, -ETIMEDOUT);
	rig_done(&r);
	for (int i = 0; i < 4; i++)
		close(fill[i]);
	close(l);
}

static void a_connect_may_be_freed_before_it_ends(void **state)
{
	struct rig r;
	int l;
	struct tcp_addr a = listen_on_loopback(&l, 1);

	rig_connect(&r, &a, 20000000);
	rig_run(&r, free_now);
	assert_int_equal(r.connected_runs + r.closed_runs, 0);
	rig_done(&r);
	close(l);
}

static void connect_from_an_address_that_is_not_ours_fails_at_once(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct tcp_addr to, from;
	struct stream *s = NULL;
	struct err e;

	tcp_addr_parse(&to, "127.0.0.1:9", 1, NULL);
	tcp_addr_parse(&from, "192.0.2.1:9", 1, NULL);
	assert_int_equal(stream_connect(&s, w, &to, &from, 0, &rig_ops, NULL, &e), -EADDRNOTAVAIL);
	assert_non_null(strstr(e.text, "192.0.2.1"));
	assert_null(s);
	worker_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_that_were_there_before_are_announced),
		cmocka_unit_test(a_read_scatters_and_may_be_partial),
		cmocka_unit_test(each_arrival_after_eagain_is_a_new_event),
		cmocka_unit_test(the_end_of_file_reads_as_zero_after_the_last_bytes),
		cmocka_unit_test(a_reset_is_read_as_an_error),
		cmocka_unit_test(a_reset_that_nobody_reads_closes_with_its_reason),
		cmocka_unit_test(room_after_eagain_is_announced),
		cmocka_unit_test(room_after_a_short_write_is_announced),
		cmocka_unit_test(tx_ready_is_not_called_for_nothing),
		cmocka_unit_test(a_write_after_the_peer_is_gone_is_an_error_not_a_signal),
		cmocka_unit_test(after_shutdown_reading_goes_on),
		cmocka_unit_test(close_reports_once_with_its_reason),
		cmocka_unit_test(closed_does_not_come_after_free),
		cmocka_unit_test(rx_may_free_the_stream),
		cmocka_unit_test(the_peer_gets_the_last_words_though_we_left_bytes_unread),
		cmocka_unit_test(a_detached_stream_goes_on_elsewhere),
		cmocka_unit_test(both_addresses_are_known),
		cmocka_unit_test(keepalive_is_set_and_checked),
		cmocka_unit_test(a_bad_descriptor_is_an_error),
		cmocka_unit_test(connect_succeeds_and_knows_both_addresses),
		cmocka_unit_test(connect_to_a_port_without_listener_is_refused),
		cmocka_unit_test(connect_gives_up_after_its_time),
		cmocka_unit_test(a_connect_may_be_freed_before_it_ends),
		cmocka_unit_test(connect_from_an_address_that_is_not_ours_fails_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
