// SPDX-License-Identifier: BSD-2-Clause
// A portal's listener on RDMA devices: waits for one, says so, listens again when it has failed.
#include "core/worker_util.h"

#include <errno.h>
#include <string.h>

#include "target/fabric/portal_rdma.h"

static struct worker *control;
static struct portal_rdma rdma;
static struct tcp_addr address;
static struct rnic_listener the_listener;
static unsigned listens, frees, absences, ib_port_count;
static uint16_t service_port; // 0: it listens by address
static const struct rnic_listener_ops *given_ops;
static void *given_arg;

static int fake_listen(struct rnic_listener **ret, struct worker *w, const struct tcp_addr *addr,
		       const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	listens++;
	if (listens <= absences)
		return err_set(e, -ENODEV, "no RDMA device has this address");
	given_ops = ops;
	given_arg = arg;
	*ret = &the_listener;
	if (listens > 1)
		worker_stop(w);
	return 0;
}

static int fake_listen_service(struct rnic_listener **ret, struct worker *w, uint16_t port,
			       const struct rnic_listener_ops *o, void *arg, struct err *e)
{
	service_port = port;
	return fake_listen(ret, w, NULL, o, arg, e);
}

static unsigned fake_ib_ports(struct ib_port *ret, unsigned max)
{
	return ib_port_count < max ? ib_port_count : max;
}

static void fake_free(struct rnic_listener *l)
{
	assert_ptr_equal(l, &the_listener);
	frees++;
}

static const struct rnic_provider fake = {
	.name = "fake",
	.listen = fake_listen,
	.listen_service = fake_listen_service,
	.listener_free = fake_free,
};

static void on_failed(void *arg, const struct err *e)
{
	portal_rdma_failed(arg, e);
}

static const struct rnic_listener_ops ops = { .failed = on_failed };

static int setup(void **state)
{
	struct err e;
	control = make_worker(true, 0);
	the_listener.provider = &fake;
	listens = frees = absences = ib_port_count = service_port = 0;
	memset(&rdma, 0, sizeof rdma);
	return tcp_addr_parse(&address, "127.0.0.1:3260", 3260, &e);
}

static int teardown(void **state)
{
	portal_rdma_stop(&rdma);
	worker_free(control);
	return 0;
}

static void start(void)
{
	portal_rdma_start(&rdma, &fake, control, &address, &ops, &rdma);
}

static void retry_now(void)
{
	assert_true(timer_is_armed(&rdma.retry));
	timer_arm(control, &rdma.retry, 1);
	run_guarded(control);
}

static void one_that_has_not_begun_says_nothing(void **state)
{
	assert_null(portal_rdma_reason(&rdma));
	portal_rdma_stop(&rdma);
	assert_int_equal(frees, 0);
}

static void a_device_that_is_there_is_listened_on(void **state)
{
	start();
	start();
	assert_int_equal(listens, 1);
	assert_string_equal(portal_rdma_reason(&rdma), "");
	assert_ptr_equal(given_arg, &rdma);
	portal_rdma_stop(&rdma);
	assert_int_equal(frees, 1);
	assert_null(portal_rdma_reason(&rdma));
}

static void a_device_that_is_missing_is_waited_for(void **state)
{
	absences = 1;
	start();
	assert_string_equal(portal_rdma_reason(&rdma), "no RDMA device has this address");
	assert_null(portal_rdma_lost(&rdma));
	retry_now();
	assert_int_equal(listens, 2);
	assert_string_equal(portal_rdma_reason(&rdma), "");
}

static void a_device_that_was_removed_is_waited_for(void **state)
{
	struct err e;
	start();
	err_set(&e, -ENODEV, "the device was removed");
	given_ops->failed(given_arg, &e);
	assert_string_equal(portal_rdma_reason(&rdma), "the device was removed");
	assert_string_equal(portal_rdma_lost(&rdma), "the device was removed");
	retry_now();
	assert_null(portal_rdma_lost(&rdma));
	assert_int_equal(frees, 1);
	assert_int_equal(listens, 2);
	assert_string_equal(portal_rdma_reason(&rdma), "");
}

static void waiting_ends_with_the_portal(void **state)
{
	absences = 1000;
	start();
	portal_rdma_stop(&rdma);
	assert_false(timer_is_armed(&rdma.retry));
	assert_int_equal(frees, 0);
}

static void a_service_id_is_that_of_the_port_number(void **state)
{
	rdma.ib_ports = fake_ib_ports;
	ib_port_count = 1;
	start();
	assert_int_equal(listens, 1);
	assert_int_equal(service_port, 3260);
	assert_string_equal(portal_rdma_reason(&rdma), "");
}

static void a_service_id_waits_until_there_is_an_infiniband_port(void **state)
{
	rdma.ib_ports = fake_ib_ports;
	listens = 1; // the next one ends the worker's run
	start();
	assert_int_equal(listens, 1);
	assert_int_equal(rdma.why.code, -ENODEV);
	assert_string_equal(portal_rdma_reason(&rdma), "no InfiniBand port");
	ib_port_count = 1;
	retry_now();
	assert_int_equal(service_port, 3260);
	assert_string_equal(portal_rdma_reason(&rdma), "");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(one_that_has_not_begun_says_nothing),
		T(a_device_that_is_there_is_listened_on),
		T(a_device_that_is_missing_is_waited_for),
		T(a_device_that_was_removed_is_waited_for),
		T(waiting_ends_with_the_portal),
		T(a_service_id_is_that_of_the_port_number),
		T(a_service_id_waits_until_there_is_an_infiniband_port),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
