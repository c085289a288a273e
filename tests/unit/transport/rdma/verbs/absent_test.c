// SPDX-License-Identifier: BSD-2-Clause
// Where there is no device: listening and connecting say so, leave nothing behind, and may be tried
// again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "transport/rdma/rnic.h"

static struct worker *w;

// On this thread, so that it is the worker's.
static int setup(void **state)
{
	struct worker_options o = { .name = "absent", .cpu = -1 };
	struct err e;

	return worker_new(&w, &o, &e);
}

static int teardown(void **state)
{
	worker_stop(w);
	worker_run(w);
	worker_free(w);
	return 0;
}

static struct tcp_addr nowhere(void)
{
	struct tcp_addr a;
	struct err e;

	assert_int_equal(tcp_addr_parse(&a, "192.0.2.1", 3260, &e), 0);
	return a;
}

static void listening_where_no_device_is_can_be_tried_again(void **state)
{
	static const struct rnic_listener_ops ops;
	struct tcp_addr a = nowhere();
	struct rnic_listener *l;

	for (int i = 0; i < 3; i++) {
		struct err e = { 0 };
		assert_int_equal(rnic_listen(&rnic_verbs, &l, w, &a, &ops, NULL, &e), -ENODEV);
		assert_true(strlen(e.text) > 0);
	}
}

static bool is_closed;

static void on_closed(struct rnic_qp *qp, const struct err *e)
{
	is_closed = true;
	rnic_qp_free(qp);
	worker_stop(w);
}

static void connecting_where_no_device_is_fails_at_once_or_closes(void **state)
{
	static const struct rnic_qp_ops ops = { .closed = on_closed };
	struct rnic_qp_options o = { .timeout_usec = 100000 };
	struct tcp_addr a = nowhere();
	struct rnic_qp *qp;
	struct err e = { 0 };

	is_closed = false;
	if (rnic_connect(&rnic_verbs, &qp, w, &a, NULL, &o, &ops, NULL, &e) == 0)
		worker_run(w);
	else
		assert_true(strlen(e.text) > 0);
	assert_true(is_closed || e.code < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(listening_where_no_device_is_can_be_tried_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			connecting_where_no_device_is_fails_at_once_or_closes, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
