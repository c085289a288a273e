// SPDX-License-Identifier: BSD-2-Clause
// target/rpc/client.c: the time that a client has.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/worker_priv.h"
#include "target/rpc/client.h"
#include "core/worker_util.h"

#define S UINT64_C(1000000000)

// More answers than the socket holds.
static void ask_without_reading(int fd)
{
	static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"version\"}\n";
	char requests[400 * sizeof request] = "";
	size_t len = 0;

	for (int i = 0; i < 400; i++, len += strlen(request))
		memcpy(requests + len, request, strlen(request));
	assert_int_equal(write(fd, requests, len), len);
}

static void the_time_to_read_an_answer_starts_when_it_is_ready(void **state)
{
	struct rpc_server s = { .control = make_worker(true, 0) };
	struct ucred who = { .uid = geteuid() };
	int fd[2];

	list_init(&s.clients);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	assert_int_equal(setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &(int){ 4096 }, sizeof(int)), 0);
	ask_without_reading(fd[1]);
	assert_int_equal(client_new(&s, fd[0], &who), 0);
	struct client *c = container_of(s.clients.next, struct client, link);

	s.control->now -= 100 * S; // the round with the request takes 100 s
	while (!c->out)		   // a slow machine needs several turns
		client_work(c);
	assert_true(timer_is_armed(&c->timer));
	assert_true(c->timer.deadline_ns > clock_ns() + (RPC_PARTIAL_S - 1) * S);
	assert_true(c->timer.deadline_ns <= clock_ns() + RPC_PARTIAL_S * S);

	client_free(c);
	close(fd[1]);
	worker_free(s.control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_to_read_an_answer_starts_when_it_is_ready),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
