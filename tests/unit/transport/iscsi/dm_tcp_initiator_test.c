// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover: data both ways, status, sense, serial numbers, the end.
#include "transport/iscsi/dm_tcp_initiator_rig.h"

static void fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + i / 251);
}

// --- data-in ---

static void script_read(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[1000];
	fill(all, sizeof all);
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_R);
	assert_int_equal(get_be32(bhs + 20), 1000);
	data_in(r, bhs, 0, 0, 0, all, 600);
	data_in(r, bhs, ISCSI_F, 1, 600, all + 600, 400);
	response(r, bhs, 0, 0, 0, NULL, 0);
}

static void data_in_lands_across_the_pieces_of_the_callers_memory(void **state)
{
	struct rig r;
	uint8_t a[100], b[650], c[250], want[1000];
	struct sg sg[] = {
		{.addr = a,  .len = 100},
		   { .addr = b, .len = 650},
		      { .addr = c, .len = 250}
	};
	rig_init(&r);
	r.script = script_read;
	add(&r, sg, 3, 1000, false);
	rig_run(&r);
	fill(want, sizeof want);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].data_len, 1000);
	assert_memory_equal(a, want, 100);
	assert_memory_equal(b, want + 100, 650);
	assert_memory_equal(c, want + 750, 250);
	rig_done(&r);
}

static void script_collapsed(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[64];
	fill(all, sizeof all);
	data_in(r, bhs, ISCSI_F | ISCSI_DATA_S, 0, 0, all, sizeof all);
}

static void status_in_the_last_data_in_ends_the_command(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_collapsed;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].data_len, 64);
	assert_int_equal(r.tasks[0].residual_flags, 0);
	rig_done(&r);
}

static void script_short(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[64] = { 0 };
	data_in(r, bhs, ISCSI_F, 0, 0, all, 20);
	response(r, bhs, 0, 0, 0, NULL, 0);
}

static void missing_data_is_an_underflow_even_if_the_target_denies_it(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_short;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.tasks[0].data_len, 20);
	assert_int_equal(r.tasks[0].residual_flags, ISCSI_RSP_UNDERFLOW);
	assert_int_equal(r.tasks[0].residual, 44);
	rig_done(&r);
}

static void script_overclaimed(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[64] = { 0 };
	data_in(r, bhs, ISCSI_F, 0, 0, all, 64);
	response(r, bhs, ISCSI_RSP_UNDERFLOW, 0, 60, NULL, 0);
}

static void data_that_the_residual_takes_back_is_not_valid(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_overclaimed;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.tasks[0].data_len, 4);
	rig_done(&r);
}

static void script_sense(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t sense[20] = { 0, 18, 0x70, 0, 5 };
	response(r, bhs, ISCSI_RSP_UNDERFLOW, 2, 64, sense, sizeof sense);
}

static void sense_comes_with_check_condition(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_sense;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.tasks[0].status, 2);
	assert_int_equal(r.tasks[0].sense_len, 18);
	assert_int_equal(r.tasks[0].sense[2], 5);
	assert_int_equal(r.tasks[0].data_len, 0);
	rig_done(&r);
}

static void script_long_sense(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t sense[1002] = { 1000 >> 8, 1000 & 0xff, 0x70, 0, 5 };
	response(r, bhs, 0, 2, 0, sense, sizeof sense);
}

static void sense_longer_than_spc_allows_is_cut(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_long_sense;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].sense_len, DMI_SENSE_MAX);
	rig_done(&r);
}

// --- data-out ---

static void gather(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint32_t offset = (bhs[0] & 0x3f) == ISCSI_OP_DATA_OUT ? get_be32(bhs + 40) : 0;
	assert_true(offset + len <= sizeof r->out);
	assert_true(len <= r->params.max_send_data);
	memcpy(r->out + offset, data, len);
	r->out_len += len;
}

// Immediate data first, then two R2Ts at once, answered one behind the other.
static void script_write(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static uint8_t cmd[48];
	gather(r, bhs, data, len);
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_W);
		assert_int_equal(len, 512);
		r2t(r, bhs, 7, 0, 512, 1200);
		r2t(r, bhs, 8, 1, 1712, 1288);
		return;
	}
	// 512 + 512 + 176, then 512 + 512 + 264
	static const uint32_t lens[] = { 512, 512, 176, 512, 512, 264 };
	assert_int_equal(len, lens[r->step]);
	assert_int_equal(get_be32(bhs + 20), r->step < 3 ? 7 : 8);
	assert_int_equal(get_be32(bhs + 36), (uint32_t)r->step % 3);
	assert_int_equal(bhs[1], r->step % 3 == 2 ? ISCSI_F : 0);
	if (++r->step == 6)
		response(r, cmd, 0, 0, 0, NULL, 0);
}

static void a_write_goes_out_immediate_then_as_r2ts_ask(void **state)
{
	struct rig r;
	uint8_t mem[3000];
	struct sg sg[] = {
		{.addr = mem,	       .len = 700 },
		     { .addr = mem + 700, .len = 2300}
	};
	rig_init(&r);
	r.script = script_write;
	fill(mem, sizeof mem);
	add(&r, sg, 2, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.out_len, 3000);
	assert_memory_equal(r.out, mem, 3000);
	rig_done(&r);
}

static void script_unsolicited(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static uint8_t cmd[48];
	gather(r, bhs, data, len);
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		assert_int_equal(bhs[1], ISCSI_CMD_W); // F follows with the data
		return;
	}
	if (get_be32(bhs + 20) == ISCSI_TAG_NONE) {
		assert_int_equal(get_be32(bhs + 40), 512);
		assert_int_equal(bhs[1], ISCSI_F);
		r2t(r, cmd, 9, 0, 1024, 476);
	} else if (bhs[1] & ISCSI_F) {
		response(r, cmd, 0, 0, 0, NULL, 0);
	}
}

static void unsolicited_data_fills_the_first_burst(void **state)
{
	struct rig r;
	uint8_t mem[1500];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.params.initial_r2t = false;
	r.script = script_unsolicited;
	fill(mem, sizeof mem);
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.out_len, 1500);
	assert_memory_equal(r.out, mem, 1500);
	rig_done(&r);
}

static void script_nothing_immediate(struct rig *r, const uint8_t *bhs, const uint8_t *data,
				     uint32_t len)
{
	assert_int_equal(len, 0);
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_W);
	response(r, bhs, ISCSI_RSP_UNDERFLOW, 2, 100, NULL, 0);
}

static void no_data_leaves_unasked_where_none_may(void **state)
{
	struct rig r;
	uint8_t mem[100] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.params.immediate_data = false;
	r.script = script_nothing_immediate;
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	rig_done(&r);
}

// The target asks for 2 MiB, which the socket cannot hold, ends the command and reads nothing.
static void script_early_status(struct rig *r, const uint8_t *bhs, const uint8_t *data,
				uint32_t len)
{
	static uint8_t cmd[48];
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		r2t(r, cmd, 1, 0, 512, (2 << 20) - 512);
		response(r, cmd, 0, 2, 0, NULL, 0);
		return;
	}
	assert_int_equal(r->done_count, 0); // the rest of the memory is still being sent
	if (bhs[1] & ISCSI_F)
		r->step = 1;
}

static void a_command_ends_when_the_last_byte_of_its_memory_has_left(void **state)
{
	struct rig r;
	uint8_t *mem = calloc(1, 2 << 20);
	struct sg sg = { .addr = mem, .len = 2 << 20 };
	rig_init(&r);
	r.params.max_send_data = 65536;
	r.params.first_burst = 512;
	r.params.max_burst = 4 << 20;
	r.script = script_early_status;
	add(&r, &sg, 1, 2 << 20, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].status, 2);
	rig_done(&r);
	free(mem);
}

// --- drop ---

static void script_drop(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t cmd[48];
	memcpy(cmd, bhs, 48);
	r->ends_when_done = false;
	r->dm->ops->drop(r->dm, &r->tasks[0]);
	assert_int_equal(r->done_count, 1);
	data_in(r, cmd, ISCSI_F, 0, 0, "abcd", 4);
}

static void a_dropped_command_takes_no_more_data(void **state)
{
	struct rig r;
	uint8_t mem[64] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_drop;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -ECANCELED);
	assert_int_equal(mem[0], 0);
	assert_non_null(strstr(r.why.text, "no such command"));
	rig_done(&r);
}

// --- serial numbers ---

static void script_window(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static const struct {
		uint32_t exp, max, want_max;
	} steps[] = {
		{2,   80,	 80}, // forward
		{ 2,  70,	 80}, // never back
		{ 90, 80,	  80}, // contradicts itself
		{ 2,  0x90000000, 80}, // too far is back, modulo 2^32
	};
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD)
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
			uint8_t nop[48] = { ISCSI_OP_NOP_IN, ISCSI_F };
			put_be32(nop + 16, ISCSI_TAG_NONE);
			put_be32(nop + 20, ISCSI_TAG_NONE);
			put_be32(nop + 28, steps[i].exp);
			put_be32(nop + 32, steps[i].max);
			say(r, nop, NULL, 0);
		}
	uint8_t cmd[48];
	memcpy(cmd, bhs, 48);
	response(r, cmd, 0, 0, 0, NULL, 0);
}

static void the_command_window_only_moves_forward(void **state)
{
	struct rig r;
	rig_init(&r);
	r.script = script_window;
	add(&r, NULL, 0, 0, false)->is_read = false;
	rig_run(&r);
	assert_int_equal(r.controls, 4);
	assert_int_equal(r.windows, 1);
	rig_done(&r);
}

// --- digests ---

static void script_bad_digest(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t pdu[48 + 4 + 4] = { 0 };
	answer_head(r, pdu, ISCSI_OP_DATA_IN, ISCSI_F | ISCSI_DATA_S, bhs);
	put_be24(pdu + 5, 4);
	put_be32(pdu + 20, ISCSI_TAG_NONE);
	memcpy(pdu + 48, "abcd", 4);
	digest_put(digest_update(ISCSI_CRC_START, "abce", 4), pdu + 52);
	assert_int_equal(write(r->peer, pdu, sizeof pdu), sizeof pdu);
}

static void a_wrong_data_digest_ends_the_connection(void **state)
{
	struct rig r;
	uint8_t mem[4] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.params.data_digest = true;
	r.script = script_bad_digest;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -EPIPE);
	assert_non_null(strstr(r.why.text, "data digest error in Data-In"));
	rig_done(&r);
}

// --- the end ---

static void script_close(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (r->pdus == 3)
		shutdown(r->peer, SHUT_RDWR);
}

static void every_command_in_flight_ends_with_the_connection(void **state)
{
	struct rig r;
	uint8_t mem[3][16];
	struct sg sg[3];
	rig_init(&r);
	r.script = script_close;
	for (int i = 0; i < 3; i++) {
		sg[i] = (struct sg){ .addr = mem[i], .len = 16 };
		add(&r, &sg[i], 1, 16, false);
	}
	rig_run(&r);
	for (int i = 0; i < 3; i++)
		assert_int_equal(r.res[i], -EPIPE);
	rig_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_in_lands_across_the_pieces_of_the_callers_memory),
		cmocka_unit_test(status_in_the_last_data_in_ends_the_command),
		cmocka_unit_test(missing_data_is_an_underflow_even_if_the_target_denies_it),
		cmocka_unit_test(data_that_the_residual_takes_back_is_not_valid),
		cmocka_unit_test(sense_comes_with_check_condition),
		cmocka_unit_test(sense_longer_than_spc_allows_is_cut),
		cmocka_unit_test(a_write_goes_out_immediate_then_as_r2ts_ask),
		cmocka_unit_test(unsolicited_data_fills_the_first_burst),
		cmocka_unit_test(no_data_leaves_unasked_where_none_may),
		cmocka_unit_test(a_command_ends_when_the_last_byte_of_its_memory_has_left),
		cmocka_unit_test(a_dropped_command_takes_no_more_data),
		cmocka_unit_test(the_command_window_only_moves_forward),
		cmocka_unit_test(a_wrong_data_digest_ends_the_connection),
		cmocka_unit_test(every_command_in_flight_ends_with_the_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
