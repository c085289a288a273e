// SPDX-License-Identifier: BSD-2-Clause
// The device management agent over sockets in place of ports: devices and controllers come and go.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "target/srp/dm_agent.h"
#include "transport/rdma/rnic.h"

enum { PORTS = 2 };

// A fabric of two ports, and what the agent does with it.
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_there[PORTS], is_taken[PORTS];
	int peer[PORTS]; // the other end of its socket; -1: closed
	unsigned opened[PORTS], closed[PORTS], looks, controllers, warnings;
	char warning[256];
} fabric;

static unsigned fake_ports(struct dm_port_name *ret, unsigned max)
{
	unsigned count = 0;

	pthread_mutex_lock(&fabric.lock);
	for (unsigned i = 0; i < PORTS; i++) {
		if (!fabric.is_there[i])
			continue;
		ret[count] = (struct dm_port_name){ "fake0", i };
		count++;
	}
	pthread_mutex_unlock(&fabric.lock);
	return count;
}

static int fake_open(struct dm_link *ret, const struct dm_port_name *name, struct err *e)
{
	int fds[2], r = 0;

	pthread_mutex_lock(&fabric.lock);
	if (fabric.is_taken[name->port]) {
		r = err_set(e, -EBUSY, "taken");
	} else {
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
		*ret = (struct dm_link){ fds[0], (int)name->port };
		fabric.peer[name->port] = fds[1];
		fabric.opened[name->port]++;
		pthread_cond_broadcast(&fabric.changed);
	}
	pthread_mutex_unlock(&fabric.lock);
	return r;
}

static void fake_close(struct dm_link *l)
{
	pthread_mutex_lock(&fabric.lock);
	close(l->fd);
	fabric.closed[l->agent]++;
	pthread_cond_broadcast(&fabric.changed);
	pthread_mutex_unlock(&fabric.lock);
}

static int fake_serve(struct dm_link *l, const struct srp_io_unit *u, struct err *e)
{
	uint8_t mad[512];
	struct dm_mad reply;
	ssize_t n = recv(l->fd, mad, sizeof mad, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN ? 0 : err_errno(e, -errno, "receive");
	if (n == 0)
		return err_set(e, -EIO, "the device is gone");
	if (srp_dm_answer(u, mad, (size_t)n, &reply))
		assert_int_equal(send(l->fd, &reply, sizeof reply, 0), sizeof reply);
	return 1;
}

static const struct dm_link_ops fake = { fake_ports, fake_open, fake_serve, fake_close };

static unsigned controllers(void *arg, struct srp_controller *ret, unsigned max)
{
	pthread_mutex_lock(&fabric.lock);
	unsigned count = fabric.controllers;
	fabric.looks++;
	pthread_cond_broadcast(&fabric.changed);
	pthread_mutex_unlock(&fabric.lock);
	assert_int_equal(max, DM_SLOTS_MAX);
	for (unsigned i = 0; i < count; i++) {
		ret[i].service_id = rnic_service_id(3261);
		snprintf(ret[i].name, sizeof ret[i].name, "target %u", i);
	}
	return count;
}

static void log_sink(void *arg, enum log_level level, const char *line)
{
	pthread_mutex_lock(&fabric.lock);
	if (level == LOG_LVL_WARN) {
		fabric.warnings++;
		snprintf(fabric.warning, sizeof fabric.warning, "%s", line);
	}
	pthread_mutex_unlock(&fabric.lock);
}

static struct dm_agent *start(unsigned count)
{
	struct dm_agent_options o = { .links = &fake, .controllers = controllers, .look_ms = 1 };
	struct dm_agent *a;
	struct err e;

	memset(&fabric.is_there, 0, sizeof fabric - offsetof(typeof(fabric), is_there));
	fabric.is_there[0] = true;
	fabric.controllers = count;
	assert_int_equal(dm_agent_new(&a, &o, &e), 0);
	return a;
}

// Waits until *count has reached n.
static void await(const unsigned *count, unsigned n)
{
	pthread_mutex_lock(&fabric.lock);
	while (*count < n)
		pthread_cond_wait(&fabric.changed, &fabric.lock);
	pthread_mutex_unlock(&fabric.lock);
}

static void await_looks(unsigned n)
{
	pthread_mutex_lock(&fabric.lock);
	n += fabric.looks;
	pthread_mutex_unlock(&fabric.lock);
	await(&fabric.looks, n);
}

// A field of the fabric; its new value.
#define SET(field, value)                                                                          \
	do {                                                                                       \
		pthread_mutex_lock(&fabric.lock);                                                  \
		fabric.field = (value);                                                            \
		pthread_mutex_unlock(&fabric.lock);                                                \
	} while (0)

static void ask(int fd)
{
	struct dm_mad m = {
		.base_version = 1, 6, 1, DM_GET, .attribute = {0, DM_IO_UNIT_INFO}
	};

	assert_int_equal(send(fd, &m, sizeof m, 0), sizeof m);
}

static struct dm_io_unit_info answered(int fd)
{
	struct dm_io_unit_info info;
	struct dm_mad m;

	assert_int_equal(recv(fd, &m, sizeof m, 0), sizeof m);
	memcpy(&info, m.data, sizeof info);
	return info;
}

static void a_port_is_answered(void **state)
{
	struct dm_agent *a = start(3);

	await(&fabric.opened[0], 1);
	ask(fabric.peer[0]);
	assert_int_equal(answered(fabric.peer[0]).max_controllers, 3);
	dm_agent_free(a);
	assert_int_equal(fabric.closed[0], 1);
	close(fabric.peer[0]);
}

static void the_change_id_follows_the_controllers(void **state)
{
	struct dm_agent *a = start(1);

	await(&fabric.opened[0], 1);
	ask(fabric.peer[0]);
	struct dm_io_unit_info before = answered(fabric.peer[0]);
	await_looks(2);
	ask(fabric.peer[0]);
	struct dm_io_unit_info same = answered(fabric.peer[0]);
	assert_memory_equal(same.change_id, before.change_id, 2);
	SET(controllers, 2);
	await_looks(2);
	ask(fabric.peer[0]);
	struct dm_io_unit_info after = answered(fabric.peer[0]);
	assert_int_equal(after.max_controllers, 2);
	assert_memory_not_equal(after.change_id, before.change_id, 2);
	dm_agent_free(a);
	close(fabric.peer[0]);
}

static void without_controllers_the_class_is_left_to_others(void **state)
{
	struct dm_agent *a = start(0);

	await_looks(3);
	assert_int_equal(fabric.opened[0], 0);
	SET(controllers, 1);
	await(&fabric.opened[0], 1);
	SET(controllers, 0);
	await(&fabric.closed[0], 1);
	dm_agent_free(a);
	close(fabric.peer[0]);
}

static void devices_come_and_go(void **state)
{
	struct dm_agent *a = start(1);

	await(&fabric.opened[0], 1);
	SET(is_there[1], true);
	await(&fabric.opened[1], 1);
	SET(is_there[0], false);
	await(&fabric.closed[0], 1);
	ask(fabric.peer[1]);
	assert_int_equal(answered(fabric.peer[1]).max_controllers, 1);
	close(fabric.peer[0]);
	SET(is_there[0], true);
	await(&fabric.opened[0], 2);
	dm_agent_free(a);
	assert_int_equal(fabric.closed[0], 2);
	assert_int_equal(fabric.closed[1], 1);
	close(fabric.peer[0]);
	close(fabric.peer[1]);
}

static void a_port_that_fails_is_opened_again(void **state)
{
	struct dm_agent *a = start(1);

	await(&fabric.opened[0], 1);
	pthread_mutex_lock(&fabric.lock); // a later look may open it again
	int lost = fabric.peer[0];
	pthread_mutex_unlock(&fabric.lock);
	shutdown(lost, SHUT_RDWR);
	await(&fabric.opened[0], 2);
	ask(fabric.peer[0]);
	assert_int_equal(answered(fabric.peer[0]).max_controllers, 1);
	dm_agent_free(a);
	assert_int_equal(fabric.warnings, 1);
	close(lost);
	close(fabric.peer[0]);
}

static void a_class_that_another_has_is_reported_once(void **state)
{
	struct dm_agent *a = start(0);

	SET(is_taken[0], true);
	SET(controllers, 1);
	await_looks(5);
	SET(is_taken[0], false);
	await(&fabric.opened[0], 1);
	dm_agent_free(a);
	assert_int_equal(fabric.warnings, 1);
	assert_string_equal(fabric.warning, "device management: fake0 port 0: taken");
	close(fabric.peer[0]);
}

// As many as the socket takes, on both ports: all are answered.
static void a_flood_on_one_port_keeps_no_other_waiting(void **state)
{
	struct dm_agent *a = start(1);

	SET(is_there[1], true);
	await(&fabric.opened[0], 1);
	await(&fabric.opened[1], 1);
	for (int i = 0; i < 100; i++)
		ask(fabric.peer[0]);
	ask(fabric.peer[1]);
	answered(fabric.peer[1]);
	for (int i = 0; i < 100; i++)
		answered(fabric.peer[0]);
	dm_agent_free(a);
	close(fabric.peer[0]);
	close(fabric.peer[1]);
}

static int setup(void **state)
{
	pthread_mutex_init(&fabric.lock, NULL);
	pthread_cond_init(&fabric.changed, NULL);
	log_set_sink(log_sink, NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_is_answered),
		cmocka_unit_test(the_change_id_follows_the_controllers),
		cmocka_unit_test(without_controllers_the_class_is_left_to_others),
		cmocka_unit_test(devices_come_and_go),
		cmocka_unit_test(a_port_that_fails_is_opened_again),
		cmocka_unit_test(a_class_that_another_has_is_reported_once),
		cmocka_unit_test(a_flood_on_one_port_keeps_no_other_waiting),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
