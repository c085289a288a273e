// SPDX-License-Identifier: BSD-2-Clause
// Listeners: bind errors in words, accepting, running out of descriptors.
#include "core/worker_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "transport/tcp/listener.h"

struct rig {
	struct worker *w;
	struct listener *l;
	int accepted, stop_after, troubles;
	bool frees_itself;
	struct tcp_addr last_peer;
	int last_flags;
	struct rlimit limit;
	char trouble[240];
};

static void rig_accepted(struct listener *l, int fd, const struct tcp_addr *peer)
{
	struct rig *r = listener_arg(l);

	r->last_peer = *peer;
	r->last_flags = fcntl(fd, F_GETFL);
	close(fd);
	r->accepted++;
	if (r->frees_itself) {
		listener_free(l);
		r->l = NULL;
	}
	if (r->accepted == r->stop_after)
		worker_stop(r->w);
}

static void rig_trouble(struct listener *l, const struct err *e)
{
	struct rig *r = listener_arg(l);

	r->troubles++;
	strcpy(r->trouble, e->text);
	setrlimit(RLIMIT_NOFILE, &r->limit); // the cure; nothing but the listener's timer follows
}

static const struct listener_ops rig_ops = { .accepted = rig_accepted, .trouble = rig_trouble };

static struct tcp_addr any_port(const char *ip)
{
	struct tcp_addr a;

	assert_int_equal(tcp_addr_parse(&a, ip, 1, NULL), 0);
	tcp_addr_set_port(&a, 0);
	return a;
}

static void rig_init(struct rig *r)
{
	struct tcp_addr a = any_port("127.0.0.1");
	struct err e;

	memset(r, 0, sizeof *r);
	r->w = make_worker(true, 0);
	if (listener_new(&r->l, r->w, &a, &rig_ops, r, &e) < 0)
		fail_msg("%s", e.text);
}

static void rig_done(struct rig *r)
{
	listener_free(r->l);
	worker_free(r->w);
}

static int connect_to(const struct tcp_addr *a)
{
	int fd = socket(a->sa.sa_family, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, &a->sa, tcp_addr_len(a)), 0);
	return fd;
}

static void the_chosen_port_is_known(void **state)
{
	struct rig r;

	rig_init(&r);
	assert_int_not_equal(tcp_addr_port(listener_addr(r.l)), 0);
	rig_done(&r);
}

static void connections_come_with_their_peer_and_do_not_block(void **state)
{
	struct rig r;
	struct tcp_addr own;

	rig_init(&r);
	int fd = connect_to(listener_addr(r.l));
	r.stop_after = 1;
	run_guarded(r.w);
	tcp_addr_of_socket(&own, fd);
	assert_int_equal(tcp_addr_compare(&r.last_peer, &own), 0);
	assert_true(r.last_flags & O_NONBLOCK);
	close(fd);
	rig_done(&r);
}

static void more_connections_than_a_round_takes_all_come(void **state)
{
	struct rig r;
	int fds[200];

	rig_init(&r);
	for (int i = 0; i < 200; i++)
		fds[i] = connect_to(listener_addr(r.l));
	r.stop_after = 200;
	run_guarded(r.w);
	assert_int_equal(r.accepted, 200);
	for (int i = 0; i < 200; i++)
		close(fds[i]);
	rig_done(&r);
}

static void accepted_may_free_the_listener(void **state)
{
	struct rig r;
	int fds[3];

	rig_init(&r);
	for (int i = 0; i < 3; i++)
		fds[i] = connect_to(listener_addr(r.l));
	r.stop_after = 1;
	r.frees_itself = true;
	run_guarded(r.w);
	assert_int_equal(r.accepted, 1);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	rig_done(&r);
}

static void new_listener_without_owner(void *arg)
{
	static const struct listener_ops none;
	struct rig *r = arg;
	struct tcp_addr a = any_port("127.0.0.1");

	assert_int_equal(listener_new(&r->l, worker_self(), &a, &none, NULL, NULL), 0);
}

static void free_listener(void *arg)
{
	listener_free(arg);
}

static void without_an_owner_connections_are_closed(void **state)
{
	struct rig r = { .w = start_worker(0) };
	char c;

	worker_call(r.w, new_listener_without_owner, &r);
	int fd = connect_to(listener_addr(r.l));
	assert_int_equal(read(fd, &c, 1), 0);
	close(fd);
	worker_call(r.w, free_listener, r.l);
	worker_free(r.w);
}

static void an_address_in_use_is_told_in_words(void **state)
{
	struct rig r;
	struct listener *l = NULL;
	struct err e;

	rig_init(&r);
	assert_int_equal(listener_new(&l, r.w, listener_addr(r.l), &rig_ops, &r, &e), -EADDRINUSE);
	assert_null(l);
	assert_non_null(strstr(e.text, "127.0.0.1:"));
	assert_non_null(strstr(e.text, "the port is in use"));
	rig_done(&r);
}

static void an_address_of_no_interface_is_told_in_words(void **state)
{
	struct rig r;
	struct listener *l = NULL;
	struct tcp_addr a = any_port("192.0.2.1");
	struct err e;

	rig_init(&r);
	assert_int_equal(listener_new(&l, r.w, &a, &rig_ops, &r, &e), -EADDRNOTAVAIL);
	assert_non_null(strstr(e.text, "no interface has this address"));
	rig_done(&r);
}

static void both_wildcards_share_a_port(void **state)
{
	struct rig r;
	struct listener *four = NULL, *six = NULL;
	struct tcp_addr a = any_port("0.0.0.0"), b = any_port("::");
	struct err e;
	int code = -EADDRINUSE;

	rig_init(&r);
	// The port of IPv6 may be in use in IPv4: then try another one.
	for (int tries = 0; code == -EADDRINUSE && tries < 1000; tries++) {
		listener_free(six);
		assert_int_equal(listener_new(&six, r.w, &b, &rig_ops, &r, &e), 0);
		tcp_addr_set_port(&a, tcp_addr_port(listener_addr(six)));
		code = listener_new(&four, r.w, &a, &rig_ops, &r, &e);
	}
	assert_int_equal(code, 0);
	listener_free(four);
	listener_free(six);
	rig_done(&r);
}

static int lowest_free_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

// The limit is lifted by the trouble callback: the listener must come back by itself, without
// another event of its socket.
static void out_of_descriptors_it_pauses_tells_once_and_goes_on(void **state)
{
	struct rig r;
	int fds[3];

	rig_init(&r);
	for (int i = 0; i < 3; i++)
		fds[i] = connect_to(listener_addr(r.l));
	getrlimit(RLIMIT_NOFILE, &r.limit);
	struct rlimit low = r.limit;
	low.rlim_cur = (rlim_t)lowest_free_fd();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	r.stop_after = 3;
	run_guarded(r.w);
	assert_int_equal(r.troubles, 1);
	assert_non_null(strstr(r.trouble, "out of file descriptors"));
	assert_int_equal(r.accepted, 3);
	assert_true(worker_counters(r.w)->rounds < 20); // it slept meanwhile
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	rig_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chosen_port_is_known),
		cmocka_unit_test(connections_come_with_their_peer_and_do_not_block),
		cmocka_unit_test(more_connections_than_a_round_takes_all_come),
		cmocka_unit_test(accepted_may_free_the_listener),
		cmocka_unit_test(without_an_owner_connections_are_closed),
		cmocka_unit_test(an_address_in_use_is_told_in_words),
		cmocka_unit_test(an_address_of_no_interface_is_told_in_words),
		cmocka_unit_test(both_wildcards_share_a_port),
		cmocka_unit_test(out_of_descriptors_it_pauses_tells_once_and_goes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
