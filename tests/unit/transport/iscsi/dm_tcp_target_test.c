// SPDX-License-Identifier: BSD-2-Clause
// The target's TCP mover with a scripted role: immediate, parked, unsolicited and solicited data,
// Data-In and status, aborts in the middle of a segment, the close.
#include "transport/iscsi/wire_util.h"

#include "transport/iscsi/datamover.h"

enum { TASKS = 4, ROOM = 256 << 10 };

// What the role does with a command, by its tag.
enum plan { FETCH, WAIT, ANSWER, ABORT, IGNORE };

struct one {
	struct dm_task dm;
	struct dm_result result;
	struct sg sg[2];
	uint8_t *memory;
	enum plan plan;
	uint32_t want, data_in, residual;
	int data_res;
	unsigned arrivals, answers, releases;
	bool is_over;
	struct one *wakes; // another task that asks for its data when this one arrives
};

struct rig {
	struct dm *dm;
	struct dm_sns sns;
	struct iscsi_params params;
	int fds[2];
	struct one one[TASKS];
	unsigned controls, closes;
	struct msg free_msg;
};

static uint8_t payload[ROOM], memories[TASKS][ROOM];

static void fetch(struct rig *r, struct one *o)
{
	r->dm->ops->get_data(r->dm, &o->dm, o->sg, 2, o->want);
}

static void answer(struct rig *r, struct one *o)
{
	o->result = (struct dm_result){ .sg = o->sg, .nsg = 2, .data_len = o->data_in };
	o->result.residual = o->residual;
	o->result.residual_flags = o->residual ? ISCSI_RSP_UNDERFLOW : 0;
	r->dm->ops->put_data(r->dm, &o->dm, &o->result);
}

static struct dm_task *on_command(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
				  const uint8_t *ahs)
{
	struct rig *r = dm->role;
	struct one *o = &r->one[get_be32(bhs + 16) % TASKS];
	dm_task_init(&o->dm, bhs);
	o->arrivals++;
	if (o->wakes)
		fetch(r, o->wakes);
	if (o->plan == FETCH)
		fetch(r, o);
	else if (o->plan == ANSWER)
		answer(r, o);
	else if (o->plan == ABORT)
		dm->ops->put_data(dm, &o->dm, NULL);
	return o->plan == IGNORE ? NULL : &o->dm;
}

static int on_control(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	struct rig *r = dm->role;
	uint8_t rsp[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_IN, ISCSI_F };
	r->controls++;
	dm->ops->send(dm, rsp, data, pdu->data_len, DM_ADVANCES);
	return 0;
}

static void on_data(struct dm *dm, struct dm_task *t, int res)
{
	struct one *o = container_of(t, struct one, dm);
	o->answers++;
	o->data_res = res;
	answer(dm->role, o);
}

static void on_released(struct dm *dm, struct dm_task *t)
{
	struct one *o = container_of(t, struct one, dm);
	o->releases++;
	o->is_over = true;
}

static void on_sent(struct dm *dm)
{
}

static void on_free(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, free_msg);
	r->dm->ops->free(r->dm);
	r->closes++;
}

static void on_closed(struct dm *dm, const struct err *e)
{
	struct rig *r = dm->role;
	for (unsigned i = 0; i < TASKS; i++)
		if (r->one[i].arrivals && !r->one[i].is_over && r->one[i].plan != IGNORE)
			dm->ops->put_data(dm, &r->one[i].dm, NULL);
	worker_post(worker, &r->free_msg);
}

static void on_ahead(struct dm *dm, const uint8_t *bhs)
{
}

static const struct dm_up up = {
	.command = on_command,
	.ahead = on_ahead,
	.control = on_control,
	.data = on_data,
	.released = on_released,
	.sent = on_sent,
	.closed = on_closed,
};

// --- the rig ---

static void open_run(void *arg)
{
	struct rig *r = arg;
	struct err e;
	assert_int_equal(dm_tcp_target_new(&r->dm, worker, r->fds[0], &up, r, &e), 0);
	r->dm->sns = &r->sns;
	r->dm->ops->full_feature(r->dm, &r->params);
}

static void rig_open(struct rig *r)
{
	memset(r, 0, sizeof *r);
	iscsi_params_init(&r->params);
	r->params.max_recv_data = 64 << 10;
	r->params.max_send_data = 4096;
	r->params.max_burst = 8192;
	r->params.first_burst = 8192;
	r->params.max_outstanding_r2t = 2;
	r->params.initial_r2t = false;
	r->free_msg.fn = on_free;
	r->sns.exp_cmd_sn = 7;
	r->sns.max_cmd_sn = 9;
	for (unsigned i = 0; i < TASKS; i++) {
		struct one *o = &r->one[i];
		o->memory = memset(memories[i], 0, ROOM);
		o->sg[0] = (struct sg){ .addr = o->memory, .len = 1000 };
		o->sg[1] = (struct sg){ .addr = o->memory + 1000, .len = ROOM - 1000 };
	}
}

static void rig_begin(struct rig *r)
{
	wire_pair(r->fds);
	worker_call(worker, open_run, r);
}

struct probe {
	struct rig *r;
	unsigned closes;
	struct dm_counters counters;
};

static void probe_run(void *arg)
{
	struct probe *p = arg;
	p->closes = p->r->closes;
	if (!p->closes)
		p->r->dm->ops->counters(p->r->dm, &p->counters);
}

static void rig_close(struct rig *r)
{
	uint8_t bin[4096];
	shutdown(r->fds[1], SHUT_WR);
	while (recv(r->fds[1], bin, sizeof bin, 0) > 0)
		;
	struct probe p = { .r = r };
	do {
		sched_yield();
		worker_call(worker, probe_run, &p);
	} while (!p.closes);
	close(r->fds[1]);
	for (unsigned i = 0; i < TASKS; i++) {
		struct one *o = &r->one[i];
		assert_int_equal(o->releases, o->plan == IGNORE ? 0 : o->arrivals);
	}
}

static void put_command(struct rig *r, uint32_t tag, uint8_t flags, uint32_t edtl, uint32_t now)
{
	static uint8_t raw[ROOM + 64];
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_SCSI_CMD, flags };
	put_be32(bhs + 16, tag);
	put_be32(bhs + 20, edtl);
	wire_send(r->fds[1], raw, wire_pdu(raw, bhs, NULL, 0, payload, now, false, false));
}

static size_t data_out(uint8_t *raw, uint32_t tag, uint32_t ttt, uint32_t sn, uint32_t offset,
		       uint32_t len, bool is_final)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_DATA_OUT, is_final ? ISCSI_F : 0 };
	put_be32(bhs + 16, tag);
	put_be32(bhs + 20, ttt);
	put_be32(bhs + 36, sn);
	put_be32(bhs + 40, offset);
	return wire_pdu(raw, bhs, NULL, 0, payload + offset, len, false, false);
}

static void put_data_out(struct rig *r, uint32_t tag, uint32_t ttt, uint32_t sn, uint32_t offset,
			 uint32_t len, bool is_final)
{
	static uint8_t raw[ROOM + 64];
	wire_send(r->fds[1], raw, data_out(raw, tag, ttt, sn, offset, len, is_final));
}

static void put_nop(struct rig *r)
{
	uint8_t raw[64], bhs[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_OUT, ISCSI_F };
	wire_send(r->fds[1], raw, wire_pdu(raw, bhs, NULL, 0, NULL, 0, false, false));
}

// The next PDU; its data to out.
static void expect(struct rig *r, uint8_t opcode, uint8_t bhs[ISCSI_BHS_LEN], uint8_t *out)
{
	assert_int_equal(wire_recv(r->fds[1], bhs, ISCSI_BHS_LEN), ISCSI_BHS_LEN);
	assert_int_equal(bhs[0], opcode);
	size_t len = get_be24(bhs + 5);
	if (len)
		assert_int_equal(wire_recv(r->fds[1], out, len + (-len & 3)), len + (-len & 3));
}

static void expect_status(struct rig *r, uint32_t tag)
{
	uint8_t bhs[ISCSI_BHS_LEN];
	expect(r, ISCSI_OP_SCSI_RSP, bhs, NULL);
	assert_int_equal(get_be32(bhs + 16), tag);
}

static uint32_t expect_r2t(struct rig *r, uint32_t tag, uint32_t sn, uint32_t offset, uint32_t len)
{
	uint8_t bhs[ISCSI_BHS_LEN];
	expect(r, ISCSI_OP_R2T, bhs, NULL);
	assert_int_equal(get_be32(bhs + 16), tag);
	assert_int_equal(get_be32(bhs + 36), sn);
	assert_int_equal(get_be32(bhs + 40), offset);
	assert_int_equal(get_be32(bhs + 44), len);
	return get_be32(bhs + 20);
}

static void expect_nop(struct rig *r)
{
	uint8_t bhs[ISCSI_BHS_LEN];
	expect(r, ISCSI_OP_NOP_IN, bhs, NULL);
}

// --- data-out ---

static void test_immediate_data_goes_to_its_place(void **state)
{
	static struct rig r;
	rig_open(&r);
	r.one[1].want = 5001;
	rig_begin(&r);
	put_command(&r, 1, ISCSI_F | ISCSI_CMD_W, 5001, 5001);
	expect_status(&r, 1);
	rig_close(&r);
	assert_int_equal(r.one[1].data_res, 0);
	assert_memory_equal(r.one[1].memory, payload, 5001);
	assert_int_equal(r.one[1].memory[5001], 0);
}

static void test_data_before_its_place_is_parked(void **state)
{
	static struct rig r;
	rig_open(&r);
	r.one[1].plan = WAIT;
	r.one[1].want = 8000;
	r.one[2].plan = ANSWER;
	r.one[2].wakes = &r.one[1];
	rig_begin(&r);
	put_command(&r, 1, ISCSI_CMD_W, 8000, 3000);
	put_data_out(&r, 1, ISCSI_TAG_NONE, 0, 3000, 2000, false);
	put_data_out(&r, 1, ISCSI_TAG_NONE, 1, 5000, 3000, true);
	put_nop(&r);
	expect_nop(&r);
	put_command(&r, 2, ISCSI_F, 0, 0); // as the one that fills a gap does
	expect_status(&r, 1);
	expect_status(&r, 2);
	rig_close(&r);
	assert_memory_equal(r.one[1].memory, payload, 8000);
}

static void test_a_task_asks_for_the_rest_from_inside_anothers_arrival(void **state)
{
	static struct rig r;
	rig_open(&r);
	r.one[1].plan = WAIT;
	r.one[1].want = 9000;
	r.one[2].plan = ANSWER;
	r.one[2].wakes = &r.one[1];
	rig_begin(&r);
	put_command(&r, 1, ISCSI_F | ISCSI_CMD_W, 9000, 3000);
	put_command(&r, 2, ISCSI_F, 0, 0);
	uint32_t ttt = expect_r2t(&r, 1, 0, 3000, 6000);
	expect_status(&r, 2);
	put_data_out(&r, 1, ttt, 0, 3000, 6000, true);
	expect_status(&r, 1);
	rig_close(&r);
	assert_memory_equal(r.one[1].memory, payload, 9000);
}

static void test_r2ts_are_as_many_and_as_long_as_agreed(void **state)
{
	static struct rig r;
	uint32_t ttt[4];
	rig_open(&r);
	r.one[1].want = 30000;
	r.params.initial_r2t = true;
	rig_begin(&r);
	put_command(&r, 1, ISCSI_F | ISCSI_CMD_W, 30000, 0);
	ttt[0] = expect_r2t(&r, 1, 0, 0, 8192);
	ttt[1] = expect_r2t(&r, 1, 1, 8192, 8192);
	put_nop(&r);
	expect_nop(&r);
	put_data_out(&r, 1, ttt[0], 0, 0, 8000, false);
	put_data_out(&r, 1, ttt[0], 1, 8000, 192, true);
	ttt[2] = expect_r2t(&r, 1, 2, 16384, 8192);
	put_data_out(&r, 1, ttt[1], 0, 8192, 8192, true);
	ttt[3] = expect_r2t(&r, 1, 3, 24576, 30000 - 24576);
	put_data_out(&r, 1, ttt[2], 0, 16384, 8192, true);
	put_data_out(&r, 1, ttt[3], 0, 24576, 30000 - 24576, true);
	expect_status(&r, 1);
	rig_close(&r);
	assert_int_equal(r.one[1].data_res, 0);
	assert_memory_equal(r.one[1].memory, payload, 30000);
}

static void test_wrong_data_out_is_an_error(void **state)
{
	static const struct {
		uint32_t sn, offset, len;
		int error;
	} rows[] = {
		{1,  0, 100,  -EMSGSIZE},
		{ 0, 1, 100,  -EMSGSIZE},
		{ 0, 0, 8193, -EMSGSIZE},
		{ 0, 0, 8191, -EMSGSIZE}
	}; // the last one has F and is short
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		static struct rig r;
		rig_open(&r);
		r.one[1].want = 8192;
		r.params.initial_r2t = true;
		rig_begin(&r);
		put_command(&r, 1, ISCSI_F | ISCSI_CMD_W, 8192, 0);
		uint32_t ttt = expect_r2t(&r, 1, 0, 0, 8192);
		put_data_out(&r, 1, ttt, rows[i].sn, rows[i].offset, rows[i].len, true);
		expect_status(&r, 1);
		rig_close(&r);
		assert_int_equal(r.one[1].data_res, rows[i].error);
	}
}

static void test_status_waits_for_unsolicited_data(void **state)
{
	static struct rig r;
	rig_open(&r);
	r.one[1].plan = ANSWER; // refused: no place for its data
	rig_begin(&r);
	put_command(&r, 1, ISCSI_CMD_W, 8192, 1000);
	put_nop(&r);
	expect_nop(&r);
	put_data_out(&r, 1, ISCSI_TAG_NONE, 0, 1000, 4000, false);
	put_data_out(&r, 1, ISCSI_TAG_NONE, 1, 5000, 3192, true);
	expect_status(&r, 1);
	rig_close(&r);
}

static void test_data_of_ignored_and_aborted_commands_is_skipped(void **state)
{
	for (unsigned plan = ABORT; plan <= IGNORE; plan++) {
		static struct rig r;
		rig_open(&r);
		r.one[1].plan = plan;
		r.one[2].plan = ANSWER;
		rig_begin(&r);
		put_command(&r, 1, ISCSI_CMD_W, 8192, 1000);
		put_data_out(&r, 1, ISCSI_TAG_NONE, 0, 1000, 7192, true);
		put_command(&r, 2, ISCSI_F, 0, 0);
		expect_status(&r, 2);
		rig_close(&r);
	}
}

static void abort_run(void *arg)
{
	struct rig *r = arg;
	r->dm->ops->put_data(r->dm, &r->one[1].dm, NULL);
	memset(r->one[1].memory, 0xee, ROOM); // it is nobody's now
}

static void test_an_abort_in_the_middle_of_a_segment(void **state)
{
	static struct rig r;
	static uint8_t raw[ROOM];
	static const size_t cuts[] = { 1, 47, 48, 49, 100, 9000, 65536 + 47 };
	for (unsigned i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
		rig_open(&r);
		r.one[1].want = 65536;
		r.one[2].plan = ANSWER;
		r.params.initial_r2t = true;
		r.params.max_burst = 65536;
		rig_begin(&r);
		put_command(&r, 1, ISCSI_F | ISCSI_CMD_W, 65536, 0);
		uint32_t ttt = expect_r2t(&r, 1, 0, 0, 65536);
		size_t size = data_out(raw, 1, ttt, 0, 0, 65536, true);
		wire_send(r.fds[1], raw, cuts[i]);
		struct probe n = { .r = &r };
		while (n.counters.bytes_in < ISCSI_BHS_LEN + cuts[i]) {
			sched_yield();
			worker_call(worker, probe_run, &n);
		}
		worker_call(worker, abort_run, &r);
		wire_send(r.fds[1], raw + cuts[i], size - cuts[i]);
		put_command(&r, 2, ISCSI_F, 0, 0);
		expect_status(&r, 2);
		for (unsigned at = 0; at < 65536; at++)
			assert_int_equal(r.one[1].memory[at], 0xee);
		rig_close(&r);
		assert_int_equal(r.one[1].answers, 0);
	}
}

static void test_a_close_answers_what_waits_for_data(void **state)
{
	static struct rig r;
	rig_open(&r);
	r.one[1].want = r.one[2].want = 8192;
	r.params.initial_r2t = true;
	rig_begin(&r);
	put_command(&r, 1, ISCSI_F | ISCSI_CMD_W, 8192, 0);
	put_command(&r, 2, ISCSI_CMD_W, 8192, 100);
	expect_r2t(&r, 1, 0, 0, 8192);
	rig_close(&r);
	assert_int_equal(r.one[1].releases, 1);
	assert_int_equal(r.one[2].releases, 1);
}

// --- data-in ---

static void test_data_in_is_cut_and_status_rides_on_the_last(void **state)
{
	static struct rig r;
	static uint8_t got[ROOM];
	uint8_t bhs[ISCSI_BHS_LEN];
	rig_open(&r);
	r.one[1].plan = ANSWER;
	r.one[1].data_in = 18001;
	memcpy(r.one[1].memory, payload, 18001);
	rig_begin(&r);
	put_command(&r, 1, ISCSI_F | ISCSI_CMD_R, 18001, 0);
	for (uint32_t at = 0, sn = 0; at < 18001; at += 4096, sn++) {
		bool is_last = at + 4096 > 18001;
		expect(&r, ISCSI_OP_DATA_IN, bhs, got + at);
		assert_int_equal(get_be32(bhs + 36), sn);
		assert_int_equal(get_be32(bhs + 40), at);
		assert_int_equal(bhs[1] & ISCSI_DATA_S, is_last ? ISCSI_DATA_S : 0);
		// F at the end of each burst of 8192.
		assert_int_equal(bhs[1] & ISCSI_F, sn % 2 || is_last ? ISCSI_F : 0);
	}
	assert_memory_equal(got, payload, 18001);
	rig_close(&r);
}

static void test_a_residual_has_its_own_response(void **state)
{
	static struct rig r;
	static uint8_t got[8192];
	uint8_t bhs[ISCSI_BHS_LEN];
	rig_open(&r);
	r.one[1].plan = ANSWER;
	r.one[1].data_in = 512;
	r.one[1].residual = 512;
	rig_begin(&r);
	put_command(&r, 1, ISCSI_F | ISCSI_CMD_R, 1024, 0);
	expect(&r, ISCSI_OP_DATA_IN, bhs, got);
	assert_int_equal(bhs[1], ISCSI_F);
	expect(&r, ISCSI_OP_SCSI_RSP, bhs, got);
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_RSP_UNDERFLOW);
	assert_int_equal(get_be32(bhs + 36), 1); // ExpDataSN
	assert_int_equal(get_be32(bhs + 44), 512);
	rig_close(&r);
}

static void test_numbers_are_stamped(void **state)
{
	static struct rig r;
	uint8_t bhs[ISCSI_BHS_LEN];
	rig_open(&r);
	r.one[1].plan = ANSWER;
	r.sns.stat_sn = 0xffffffff;
	rig_begin(&r);
	for (uint32_t i = 0; i < 3; i++) {
		put_nop(&r);
		expect(&r, ISCSI_OP_NOP_IN, bhs, NULL);
		assert_int_equal(get_be32(bhs + 24), 0xffffffff + i);
		assert_int_equal(get_be32(bhs + 28), 7);
		assert_int_equal(get_be32(bhs + 32), 9);
	}
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_immediate_data_goes_to_its_place),
		cmocka_unit_test(test_data_before_its_place_is_parked),
		cmocka_unit_test(test_a_task_asks_for_the_rest_from_inside_anothers_arrival),
		cmocka_unit_test(test_r2ts_are_as_many_and_as_long_as_agreed),
		cmocka_unit_test(test_wrong_data_out_is_an_error),
		cmocka_unit_test(test_status_waits_for_unsolicited_data),
		cmocka_unit_test(test_data_of_ignored_and_aborted_commands_is_skipped),
		cmocka_unit_test(test_an_abort_in_the_middle_of_a_segment),
		cmocka_unit_test(test_a_close_answers_what_waits_for_data),
		cmocka_unit_test(test_data_in_is_cut_and_status_rides_on_the_last),
		cmocka_unit_test(test_a_residual_has_its_own_response),
		cmocka_unit_test(test_numbers_are_stamped),
	};
	fill_pattern(payload, sizeof payload, 3);
	return cmocka_run_group_tests(tests, wire_setup, wire_teardown);
}
