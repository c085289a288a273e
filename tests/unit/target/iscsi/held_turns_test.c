// SPDX-License-Identifier: BSD-2-Clause
// PDUs held for an earlier CmdSN do not all run in the round in which it comes: the connections
// beside theirs have their turn. Judged by the order in which PDUs are served on the worker.
#include "target/iscsi/conn_rig.h"

enum { HELD = 100, SHARE = 2 };

static struct rig flood, other;
static uint32_t before; // PDUs of the flood that were served before the other's

static int on_ping(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		   const uint8_t *data, struct err *e)
{
	before = flood.c->sns.exp_cmd_sn - 1;
	return conn_dm_up.control(dm, pdu, bhs, data, e);
}

static void open_both(void *arg)
{
	rig_open_run(&flood);
	rig_open_run(&other);
}

// Those after the first one.
static void send_out_of_turn(void)
{
	static uint8_t raw[HELD][ISCSI_BHS_LEN];
	for (uint32_t i = 0; i < HELD; i++)
		memcpy(raw[i], request(ISCSI_OP_NOP_OUT, ISCSI_F, i + 2, ISCSI_TAG_NONE),
		       ISCSI_BHS_LEN);
	wire_send(flood.fds[1], raw, sizeof raw);
}

static void send_first(struct rig *r)
{
	wire_send(r->fds[1], request(ISCSI_OP_NOP_OUT, ISCSI_F, 1, ISCSI_TAG_NONE), ISCSI_BHS_LEN);
}

// On the worker, so that both come in one round, the flood's before the other's.
static void send_both(void *arg)
{
	send_first(&flood);
	send_first(&other);
}

static void held_pdus_leave_turns_for_others(void **state)
{
	uint8_t bhs[ISCSI_BHS_LEN];
	struct look l;
	window_turn_ns = 0; // one of them is a turn
	rig_init(&flood);
	rig_init(&other);
	other.up.control = on_ping;
	before = 0;
	worker_call(worker, open_both, NULL);
	send_out_of_turn();
	WAIT(&flood, l, l.n.pdus_in == HELD);
	worker_call(worker, send_both, NULL);
	assert_int_equal(rig_recv(&other, bhs), ISCSI_OP_NOP_IN);
	for (uint32_t i = 1; i <= HELD + 1; i++) {
		assert_int_equal(rig_recv(&flood, bhs), ISCSI_OP_NOP_IN);
		assert_int_equal(get_be32(bhs + 16), i);
	}
	rig_close(&flood);
	rig_close(&other);
	assert_in_range(before, 1, SHARE);
}

static void a_connection_may_close_before_its_held_pdus_ran(void **state)
{
	struct look l;
	window_turn_ns = 0;
	rig_open(&flood);
	send_out_of_turn();
	send_first(&flood);
	WAIT(&flood, l, l.n.pdus_in == HELD + 1);
	rig_close(&flood);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_pdus_leave_turns_for_others),
		cmocka_unit_test(a_connection_may_close_before_its_held_pdus_ran),
	};
	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
