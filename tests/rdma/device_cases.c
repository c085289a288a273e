// SPDX-License-Identifier: BSD-2-Clause
// Devices that come, fail and go, where the command line says how to make them (--find, --down and
// --up, --lose): in the lab's guest.
#include "bench.h"

#include <stdlib.h>

const char *device_lose, *device_find, *device_down, *device_up;

static int run(const char *command)
{
	return system(command);
}

static void a_port_that_stays_down_ends_connections(void **state)
{
	struct end *server, *client = bench_pair(&server);

	if (!device_down)
		skip();
	assert_int_equal(run(device_down), 0);
	UNTIL(client->is_closed && server->is_closed);
	assert_true(client->why.code < 0 && server->why.code < 0);
	assert_int_equal(run(device_up), 0);
}

static void a_device_that_goes_takes_connections_and_listeners_along(void **state)
{
	struct end *server, *client = bench_pair(&server);

	if (!device_lose)
		skip();
	server->keeps = true;
	send_text(client, "to be kept");
	UNTIL(server->received == 1);
	assert_int_equal(run(device_lose), 0);
	UNTIL(client->is_closed && server->is_closed && b->failed.code);
	assert_int_equal(b->failed.code, -ENODEV);
	assert_memory_equal(server->kept[0]->data, "to be kept", 10);
}

static void a_device_that_comes_later_is_found(void **state)
{
	static const struct rnic_listener_ops none;
	struct worker_options o = { .name = "late", .cpu = -1 };
	struct rnic_listener *l = NULL;
	struct worker *w;
	struct err e;

	assert_int_equal(worker_new(&w, &o, &e), 0);
	bench_run_once(w);
	assert_int_equal(rnic_listen(bench_provider, &l, w, &bench_addr, &none, NULL, &e), -ENODEV);
	assert_true(strlen(e.text) > 0);
	assert_int_equal(run(device_find), 0);
	if (rnic_listen(bench_provider, &l, w, &bench_addr, &none, NULL, &e) < 0)
		fail_msg("%s", e.text);
	rnic_listener_free(l);
	bench_run_once(w);
	worker_free(w);
}

const struct CMUnitTest device_cases[] = {
	CASE(a_port_that_stays_down_ends_connections),
	CASE(a_device_that_goes_takes_connections_and_listeners_along),
};
const size_t device_case_count = sizeof device_cases / sizeof *device_cases;

const struct CMUnitTest late_cases[] = {
	cmocka_unit_test(a_device_that_comes_later_is_found),
};
const size_t late_case_count = sizeof late_cases / sizeof *late_cases;
