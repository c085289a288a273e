// SPDX-License-Identifier: BSD-2-Clause
// The target's TCP mover between a role and the test, which is its initiator: the role runs on a
// worker's thread, the test has the other end of a socket pair.
#pragma once

#include "transport/iscsi/target_role.h"

static int fds[2];
static struct msg free_msg;

static void tcp_free_run(struct msg *m)
{
	dm->ops->free(dm);
	closes++;
}

static void tcp_when_closed(void)
{
	worker_post(worker, &free_msg);
}

static inline int tcp_setup(void **state)
{
	role_reset();
	role_splits();
	params.max_recv_data = 64 << 10;
	params.max_send_data = 4096;
	params.max_burst = 8192;
	params.first_burst = 8192;
	params.max_outstanding_r2t = 2;
	params.initial_r2t = false;
	when_closed = tcp_when_closed;
	free_msg.fn = tcp_free_run;
	return 0;
}

static inline void tcp_open_run(void *arg)
{
	struct err e;
	assert_int_equal(dm_tcp_new(&dm, worker, fds[0], &up, NULL, &e), 0);
	dm->sns = &sns;
	dm->ops->full_feature(dm, &params);
}

static inline void tcp_open(void)
{
	wire_pair(fds);
	worker_call(worker, tcp_open_run, NULL);
}

struct probe {
	unsigned closes;
	struct dm_counters counters;
};

static inline void probe_run(void *arg)
{
	struct probe *p = arg;
	p->closes = closes;
	if (!p->closes)
		dm->ops->counters(dm, &p->counters);
}

static inline void tcp_close(void)
{
	uint8_t bin[4096];
	struct probe p = { 0 };
	shutdown(fds[1], SHUT_WR);
	while (recv(fds[1], bin, sizeof bin, 0) > 0)
		;
	do {
		sched_yield();
		worker_call(worker, probe_run, &p);
	} while (!p.closes);
	close(fds[1]);
	assert_all_released();
}

static inline void tcp_send(uint8_t *bhs, const void *data, uint32_t len)
{
	static uint8_t raw[ROOM + 64];
	wire_send(fds[1], raw, wire_pdu(raw, bhs, NULL, 0, data, len, false, false));
}

static inline void tcp_recv(uint8_t *bhs, void *data)
{
	assert_int_equal(wire_recv(fds[1], bhs, ISCSI_BHS_LEN), ISCSI_BHS_LEN);
	size_t len = get_be24(bhs + 5);
	if (len)
		assert_int_equal(wire_recv(fds[1], data, len + (-len & 3)), len + (-len & 3));
}

static const struct carrier tcp_carrier = {
	.make_worker = wire_setup,
	.setup = tcp_setup,
	.open = tcp_open,
	.send = tcp_send,
	.recv = tcp_recv,
	.close = tcp_close,
};
