// SPDX-License-Identifier: BSD-2-Clause
// The worker of a new connection: the fabric's choice, else the one with the fewest connections.
#include "target/fabric/toy_fabric.h"

#include <sys/socket.h>
#include <unistd.h>

#include "target/fabric/portal.h"

static struct worker *control, *data[2];
static struct worker *chosen, *quietest, *accepted_by;

static struct worker *choose(const struct tcp_addr *peer, struct worker *w)
{
	quietest = w;
	return chosen ? chosen : w;
}

static void take(struct worker *w, int fd, struct rnic_request *q, struct portal *p)
{
	struct tcp_addr peer;
	accepted_by = worker_self();
	tcp_addr_of_peer(&peer, fd);
	close(fd);
	portal_conn_closed(p, &peer);
	worker_stop(control);
}

// A portal of a free port, and a connection to it.
static void connect_once(void)
{
	struct tcp_addr any, bound;
	struct portal *p;
	struct err e;
	int probe = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(tcp_addr_parse(&any, "127.0.0.1:1", 0, &e), 0);
	tcp_addr_set_port(&any, 0);
	assert_int_equal(bind(probe, &any.sa, tcp_addr_len(&any)), 0);
	tcp_addr_of_socket(&bound, probe);
	close(probe);
	assert_int_equal(portal_open(&p, &toy_fabric, control, &bound, PORTAL_TCP, &e), 0);
	assert_int_equal(connect(fd, &bound.sa, tcp_addr_len(&bound)), 0);
	worker_run(control);
	close(fd);
	portal_close(p, PORTAL_TCP);
}

static void the_fabric_chooses_the_worker_of_a_connection(void **state)
{
	chosen = data[1];
	connect_once();
	assert_ptr_equal(quietest, data[0]);
	assert_ptr_equal(accepted_by, data[1]);
}

static int begin(void **state)
{
	toy_fabric.assign = choose;
	toy_fabric.accept = take;
	return toy_begin(&control, data, 2);
}

static int end(void **state)
{
	toy_finish(control, data, 2);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fabric_chooses_the_worker_of_a_connection),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
