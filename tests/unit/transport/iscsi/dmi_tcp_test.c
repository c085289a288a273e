// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover: data both ways, status, digests. What holds for every mover is in
// transport/iser/initiator_movers_test.c.
#include "transport/iscsi/digest.h"
#include "transport/iscsi/dmi_tcp_rig.h"

static struct rig r; // large

static int setup(void **state)
{
	rig_init(&r, &tcp_carrier);
	return 0;
}

static int teardown(void **state)
{
	rig_done(&r);
	return 0;
}

static void fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + i / 251);
}

// --- data-in ---

static void script_read(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[1000];
	fill(all, sizeof all);
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_R);
	assert_int_equal(get_be32(bhs + 20), 1000);
	data_in(rg, bhs, 0, 0, 0, all, 600);
	data_in(rg, bhs, ISCSI_F, 1, 600, all + 600, 400);
	response(rg, bhs, 0, 0, 0, NULL, 0);
}

static void data_in_lands_across_the_pieces_of_the_callers_memory(void **state)
{
	uint8_t a[100], b[650], c[250], want[1000];
	struct sg sg[] = {
		{.addr = a,  .len = 100},
		   { .addr = b, .len = 650},
		      { .addr = c, .len = 250}
	};
	r.script = script_read;
	add(&r, sg, 3, 1000, false);
	rig_run(&r);
	fill(want, sizeof want);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].dm.data_len, 1000);
	assert_memory_equal(a, want, 100);
	assert_memory_equal(b, want + 100, 650);
	assert_memory_equal(c, want + 750, 250);
}

static void script_collapsed(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[64];
	fill(all, sizeof all);
	data_in(rg, bhs, ISCSI_F | ISCSI_DATA_S, 0, 0, all, sizeof all);
}

static void status_in_the_last_data_in_ends_the_command(void **state)
{
	read_one(&r, script_collapsed);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].dm.data_len, 64);
	assert_int_equal(r.tasks[0].dm.residual_flags, 0);
}

static void script_short(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[64] = { 0 };
	data_in(rg, bhs, ISCSI_F, 0, 0, all, 20);
	response(rg, bhs, 0, 0, 0, NULL, 0);
}

static void missing_data_is_an_underflow_even_if_the_target_denies_it(void **state)
{
	read_one(&r, script_short);
	assert_int_equal(r.tasks[0].dm.data_len, 20);
	assert_int_equal(r.tasks[0].dm.residual_flags, ISCSI_RSP_UNDERFLOW);
	assert_int_equal(r.tasks[0].dm.residual, 44);
}

static void script_overclaimed(struct rig *rg, const uint8_t *bhs, const uint8_t *data,
			       uint32_t len)
{
	uint8_t all[64] = { 0 };
	data_in(rg, bhs, ISCSI_F, 0, 0, all, 64);
	response(rg, bhs, ISCSI_RSP_UNDERFLOW, 0, 60, NULL, 0);
}

static void data_that_the_residual_takes_back_is_not_valid(void **state)
{
	read_one(&r, script_overclaimed);
	assert_int_equal(r.tasks[0].dm.data_len, 4);
}

// --- data-out ---

static void script_good(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD)
		response(rg, bhs, 0, 0, 0, NULL, 0);
}

static void script_refuse(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD)
		response(rg, bhs, 0, 8, 0, NULL, 0);
}

// Of 3000 bytes 512 are immediate data.
static void a_write_that_ends_before_its_data_was_requested_is_short(void **state)
{
	static uint8_t mem[3000];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.script = script_good;
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].dm.residual_flags, ISCSI_RSP_UNDERFLOW);
	assert_int_equal(r.tasks[0].dm.residual, 2488);
}

static void a_refused_write_needs_no_residual(void **state)
{
	static uint8_t mem[3000];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.script = script_refuse;
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.tasks[0].dm.status, 8);
	assert_int_equal(r.tasks[0].dm.residual_flags, 0);
}

static void gather(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint32_t offset = (bhs[0] & 0x3f) == ISCSI_OP_DATA_OUT ? get_be32(bhs + 40) : 0;
	assert_true(offset + len <= sizeof rg->out);
	assert_true(len <= rg->params.max_send_data);
	memcpy(rg->out + offset, data, len);
	rg->out_len += len;
}

// Immediate data first, then two R2Ts at once, answered one behind the other.
static void script_write(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static uint8_t cmd[48];
	gather(rg, bhs, data, len);
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_W);
		assert_int_equal(len, 512);
		r2t(rg, bhs, 7, 0, 512, 1200);
		r2t(rg, bhs, 8, 1, 1712, 1288);
		return;
	}
	// 512 + 512 + 176, then 512 + 512 + 264
	static const uint32_t lens[] = { 512, 512, 176, 512, 512, 264 };
	assert_int_equal(len, lens[rg->step]);
	assert_int_equal(get_be32(bhs + 20), rg->step < 3 ? 7 : 8);
	assert_int_equal(get_be32(bhs + 36), (uint32_t)rg->step % 3);
	assert_int_equal(bhs[1], rg->step % 3 == 2 ? ISCSI_F : 0);
	if (++rg->step == 6)
		response(rg, cmd, 0, 0, 0, NULL, 0);
}

static void a_write_goes_out_immediate_then_as_r2ts_ask(void **state)
{
	uint8_t mem[3000];
	struct sg sg[] = {
		{.addr = mem,	       .len = 700 },
		     { .addr = mem + 700, .len = 2300}
	};
	r.script = script_write;
	fill(mem, sizeof mem);
	add(&r, sg, 2, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.out_len, 3000);
	assert_memory_equal(r.out, mem, 3000);
}

static void script_unsolicited(struct rig *rg, const uint8_t *bhs, const uint8_t *data,
			       uint32_t len)
{
	static uint8_t cmd[48];
	gather(rg, bhs, data, len);
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		assert_int_equal(bhs[1], ISCSI_CMD_W); // F follows with the data
		return;
	}
	if (get_be32(bhs + 20) == ISCSI_TAG_NONE) {
		assert_int_equal(get_be32(bhs + 40), 512);
		assert_int_equal(bhs[1], ISCSI_F);
		r2t(rg, cmd, 9, 0, 1024, 476);
	} else if (bhs[1] & ISCSI_F) {
		response(rg, cmd, 0, 0, 0, NULL, 0);
	}
}

static void unsolicited_data_fills_the_first_burst(void **state)
{
	uint8_t mem[1500];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.params.initial_r2t = false;
	r.script = script_unsolicited;
	fill(mem, sizeof mem);
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.out_len, 1500);
	assert_memory_equal(r.out, mem, 1500);
}

static void script_nothing_immediate(struct rig *rg, const uint8_t *bhs, const uint8_t *data,
				     uint32_t len)
{
	assert_int_equal(len, 0);
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_W);
	response(rg, bhs, ISCSI_RSP_UNDERFLOW, 2, 100, NULL, 0);
}

static void no_data_leaves_unasked_where_none_may(void **state)
{
	uint8_t mem[100] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.params.immediate_data = false;
	r.script = script_nothing_immediate;
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
}

// The target asks for 2 MiB, which the socket cannot hold, ends the command and reads nothing.
static void script_early_status(struct rig *rg, const uint8_t *bhs, const uint8_t *data,
				uint32_t len)
{
	static uint8_t cmd[48];
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		r2t(rg, cmd, 1, 0, 512, (2 << 20) - 512);
		response(rg, cmd, 0, 2, 0, NULL, 0);
		return;
	}
	assert_int_equal(rg->done_count, 0); // the rest of the memory is still being sent
	if (bhs[1] & ISCSI_F)
		rg->step = 1;
}

static void a_command_ends_when_the_last_byte_of_its_memory_has_left(void **state)
{
	uint8_t *mem = calloc(1, 2 << 20);
	struct sg sg = { .addr = mem, .len = 2 << 20 };
	r.params.max_send_data = 65536;
	r.params.first_burst = 512;
	r.params.max_burst = 4 << 20;
	r.script = script_early_status;
	add(&r, &sg, 1, 2 << 20, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].dm.status, 2);
	free(mem);
}

// --- drop ---

static void script_drop(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t cmd[48];
	memcpy(cmd, bhs, 48);
	rg->ends_when_done = false;
	rg->dm->ops->drop(rg->dm, &rg->tasks[0].dm);
	assert_int_equal(rg->done_count, 1);
	data_in(rg, cmd, ISCSI_F, 0, 0, "abcd", 4);
}

static void a_dropped_command_takes_no_more_data(void **state)
{
	uint8_t mem[64] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.script = script_drop;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -ECANCELED);
	assert_int_equal(mem[0], 0);
	assert_non_null(strstr(r.why.text, "no command in flight"));
}

// --- digests ---

static void script_bad_digest(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t pdu[48 + 4 + 4] = { 0 };
	answer_head(rg, pdu, ISCSI_OP_DATA_IN, ISCSI_F | ISCSI_DATA_S, bhs);
	put_be24(pdu + 5, 4);
	put_be32(pdu + 20, ISCSI_TAG_NONE);
	memcpy(pdu + 48, "abcd", 4);
	digest_put(digest_update(ISCSI_CRC_START, "abce", 4), pdu + 52);
	rg->carrier->say(rg, pdu, sizeof pdu);
}

static void a_wrong_data_digest_ends_the_connection(void **state)
{
	uint8_t mem[4] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.params.data_digest = true;
	r.script = script_bad_digest;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -EPIPE);
	assert_non_null(strstr(r.why.text, "data digest error in Data-In"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(data_in_lands_across_the_pieces_of_the_callers_memory),
		T(status_in_the_last_data_in_ends_the_command),
		T(missing_data_is_an_underflow_even_if_the_target_denies_it),
		T(data_that_the_residual_takes_back_is_not_valid),
		T(a_write_that_ends_before_its_data_was_requested_is_short),
		T(a_refused_write_needs_no_residual),
		T(a_write_goes_out_immediate_then_as_r2ts_ask),
		T(unsolicited_data_fills_the_first_burst),
		T(no_data_leaves_unasked_where_none_may),
		T(a_command_ends_when_the_last_byte_of_its_memory_has_left),
		T(a_dropped_command_takes_no_more_data),
		T(a_wrong_data_digest_ends_the_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
