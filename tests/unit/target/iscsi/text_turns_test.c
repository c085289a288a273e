// SPDX-License-Identifier: BSD-2-Clause
// Texts that do not end: a connection has one Text Request in each round, so that those beside it
// have their turn. Judged by the order in which PDUs are seen on the worker.
#include "target/iscsi/conn_rig.h"

enum { FLOOD = 1000, SHARE = 2 };

static struct rig flood, other;
static uint64_t before; // PDUs of the flood that were served before the other's

static int on_ping(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		   const uint8_t *data, struct err *e)
{
	struct dm_counters n;
	flood.c->dm->ops->counters(flood.c->dm, &n);
	before = n.pdus_in;
	return conn_dm_up.control(dm, pdu, bhs, data, e);
}

static void open_both(void *arg)
{
	rig_open_run(&flood);
	rig_open_run(&other);
}

// Requests without an end: a new one each time, or pieces of the same.
static void flood_with(bool is_new)
{
	static uint8_t raw[FLOOD][ISCSI_BHS_LEN];
	uint8_t bhs[ISCSI_BHS_LEN];
	struct look l;
	rig_init(&flood);
	rig_init(&other);
	other.up.control = on_ping;
	for (unsigned i = 0; i < FLOOD; i++)
		memcpy(raw[i],
		       request(ISCSI_OP_TEXT_REQ | ISCSI_I, ISCSI_TEXT_C, 1,
			       is_new || !i ? ISCSI_TAG_NONE : 1),
		       ISCSI_BHS_LEN);
	wire_send(flood.fds[1], raw, sizeof raw);
	rig_send(&other, request(ISCSI_OP_NOP_OUT, ISCSI_F, 1, ISCSI_TAG_NONE), NULL, 0);
	before = FLOOD;
	worker_call(worker, open_both, NULL);
	assert_int_equal(rig_recv(&other, bhs), ISCSI_OP_NOP_IN);
	for (unsigned i = 0; i < FLOOD; i++)
		assert_int_equal(rig_recv(&flood, bhs), ISCSI_OP_TEXT_RSP);
	WAIT(&flood, l, l.n.pdus_in == FLOOD);
	rig_close(&flood);
	rig_close(&other);
	assert_in_range(before, 0, SHARE);
}

static void requests_that_are_not_finished_leave_turns_for_others(void **state)
{
	flood_with(true);
}

static void a_request_without_an_end_leaves_turns_for_others(void **state)
{
	flood_with(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_that_are_not_finished_leave_turns_for_others),
		cmocka_unit_test(a_request_without_an_end_leaves_turns_for_others),
	};
	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
