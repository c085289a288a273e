// SPDX-License-Identifier: BSD-2-Clause
// What a session may leave undone, and for how long, by a clock of the test.
#include "target/iscsi/conn_rig.h"

static struct rig r;
static uint8_t payload[8192];

static int open_one(void **state)
{
	rig_open(&r);
	return 0;
}

static int close_one(void **state)
{
	rig_close(&r);
	return 0;
}

static void a_control_pdu_has_30_s_to_arrive(void **state)
{
	struct look l;
	uint8_t raw[ISCSI_BHS_LEN + sizeof payload + 8];
	size_t len = wire_pdu(raw, request(ISCSI_OP_NOP_OUT, ISCSI_F, 1, ISCSI_TAG_NONE), NULL, 0,
			      payload, sizeof payload, false, false);
	wire_send(r.fds[1], raw, len - 4);
	WAIT(&r, l, l.n.partial_ns);
	assert_false(look(&r, l.n.partial_ns + 30 * SECOND).is_closed);
	assert_true(look(&r, l.n.partial_ns + 30 * SECOND + 1).is_closed);
	assert_string_equal(r.why.text, "incomplete PDU after 30 s");
}

static void a_gap_of_cmd_sns_has_60_s_to_be_filled(void **state)
{
	struct look l;
	rig_send(&r, request(ISCSI_OP_NOP_OUT, ISCSI_F, 2, ISCSI_TAG_NONE), NULL, 0);
	WAIT(&r, l, l.held == 1);
	uint64_t since = r.c->held_ns;
	assert_false(look(&r, since + 60 * SECOND).is_closed);
	assert_true(look(&r, since + 60 * SECOND + 1).is_closed);
	assert_string_equal(r.why.text, "CmdSN 1 did not come within 60 s");
}

static void data_held_for_an_earlier_cmd_sn_is_at_most_512_kib(void **state)
{
	struct look l;
	enum { MOST = (512 << 10) / sizeof payload };
	for (uint32_t i = 0; i < MOST; i++)
		rig_send(&r, request(ISCSI_OP_NOP_OUT, ISCSI_F, 2 + i, ISCSI_TAG_NONE), payload,
			 sizeof payload);
	WAIT(&r, l, l.is_closed || l.held == MOST);
	assert_false(l.is_closed);
	rig_send(&r, request(ISCSI_OP_NOP_OUT, ISCSI_F, WINDOW, ISCSI_TAG_NONE), payload, 4);
	WAIT(&r, l, l.is_closed || l.held > MOST);
	assert_true(l.is_closed);
	assert_string_equal(r.why.text, "out of memory for a PDU ahead of its CmdSN");
	assert_int_equal(l.held, 0);
}

static void a_text_is_open_for_15_s(void **state)
{
	uint8_t bhs[ISCSI_BHS_LEN];
	struct look l;
	rig_send(&r, request(ISCSI_OP_TEXT_REQ, ISCSI_TEXT_C, 1, ISCSI_TAG_NONE), "X-a", 3);
	assert_int_equal(rig_recv(&r, bhs), ISCSI_OP_TEXT_RSP);
	uint32_t ttt = get_be32(bhs + 20);
	l = look(&r, 0);
	assert_true(look(&r, l.now + 14 * SECOND).has_text);
	l = look(&r, l.now + 16 * SECOND);
	assert_false(l.has_text);
	assert_false(l.is_closed);
	rig_send(&r, request(ISCSI_OP_TEXT_REQ, ISCSI_F, 2, ttt), "=1", 3);
	assert_int_equal(rig_recv(&r, bhs), ISCSI_OP_REJECT);
}

// Another session has no buffer; this one has so many bytes of them.
static void fall_short(uint64_t bytes)
{
	static struct nexus nexus;
	nexus = (struct nexus){ .pool_used = bytes };
	r.c->session.nexus = &nexus;
	iscsi_worker_at(worker_index(worker))->is_short = true;
}

static void be_rich(void)
{
	iscsi_worker_at(worker_index(worker))->is_short = false;
}

static void to_take_a_few_bytes_is_not_to_make_progress(void **state)
{
	enum { PINGS = 100 };
	struct look l, later;
	for (uint32_t i = 1; i <= PINGS; i++)
		rig_send(&r, request(ISCSI_OP_NOP_OUT, ISCSI_F, i, ISCSI_TAG_NONE), payload,
			 sizeof payload);
	WAIT(&r, l, l.n.pdus_in == PINGS);
	WAIT(&r, later, later.now > l.now + 1);
	// Until some more have left, of what was queued before.
	uint8_t bin[4096];
	for (later = l; later.n.tx_stuck_ns == l.n.tx_stuck_ns; later = look(&r, 0))
		wire_recv(r.fds[1], bin, sizeof bin);
	fall_short(64 << 10);
	uint64_t since = later.n.tx_since_ns;
	assert_true(since && since < later.n.tx_stuck_ns);
	assert_false(look(&r, since + 5 * SECOND).is_closed);
	assert_true(look(&r, since + 5 * SECOND + 1).is_closed);
	be_rich();
	assert_string_equal(
		r.why.text,
		"out of buffer memory, and the peer has not read all of its data for 5 s");
}

// A mover that says what the test wants.
static struct dm_counters said;
static uint64_t said_owed, said_buffers;
static bool is_told_to_close;

static void said_counters(struct dm *dm, struct dm_counters *ret)
{
	*ret = said;
}

static uint64_t said_oldest_owed(struct dm *dm)
{
	return said_owed;
}

static void said_close(struct dm *dm, bool linger, const struct err *why)
{
	is_told_to_close = true;
}

static bool is_ended(uint64_t bytes, uint64_t read_seconds, uint64_t owed_seconds)
{
	static const struct dm_ops ops = { .counters = said_counters,
					   .oldest_owed = said_oldest_owed,
					   .close = said_close };
	const struct dm_ops *own = r.c->dm->ops;
	const uint64_t now = 1000 * SECOND;
	said = (struct dm_counters){ .last_rx_ns = now, .buffers = said_buffers };
	said.tx_stuck_ns = read_seconds ? now : 0;
	said.tx_since_ns = read_seconds ? now - read_seconds * SECOND : 0;
	said.owed_since_ns = owed_seconds ? now - owed_seconds * SECOND : 0;
	said_owed = owed_seconds ? now : 0;
	is_told_to_close = false;
	fall_short(bytes);
	r.c->dm->ops = &ops;
	struct look l = look(&r, now);
	r.c->dm->ops = own;
	be_rich();
	assert_false(l.is_closed);
	return is_told_to_close;
}

static void kept_buffers_leave_at_64_kib_a_second_or_in_15_s(void **state)
{
	static const struct {
		uint64_t bytes, seconds; // that they may take
	} rows[] = {
		{4096,	5 },
		     { 320 << 10, 5 },
		       { 640 << 10, 10},
		  { 64 << 20,  15}
	};
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t bytes = rows[i].bytes, most = rows[i].seconds;
		assert_false(is_ended(bytes, most, 0));
		assert_true(is_ended(bytes, most + 1, 0));
		assert_false(is_ended(bytes, 0, most));
		assert_true(is_ended(bytes, 0, most + 1));
	}
	assert_false(is_ended(0, 100, 0)); // it has none
	said_buffers = 4096;		   // but its mover
	assert_true(is_ended(0, 100, 0));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_one)
	const struct CMUnitTest tests[] = {
		T(a_control_pdu_has_30_s_to_arrive),
		T(a_gap_of_cmd_sns_has_60_s_to_be_filled),
		T(data_held_for_an_earlier_cmd_sn_is_at_most_512_kib),
		T(a_text_is_open_for_15_s),
		T(to_take_a_few_bytes_is_not_to_make_progress),
		T(kept_buffers_leave_at_64_kib_a_second_or_in_15_s),
	};
	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
