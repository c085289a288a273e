// SPDX-License-Identifier: BSD-2-Clause
// The target's TCP mover: solicited data, Data-In and status, aborts in the middle of a segment,
// the close. What holds for every mover is in transport/iser/target_movers_test.c.
#include "transport/iscsi/dm_tcp_rig.h"
#include "transport/iscsi/target_says.h"

static int setup(void **state)
{
	carrier = &tcp_carrier;
	return tcp_setup(state);
}

static uint32_t expect_r2t(uint32_t tag, uint32_t sn, uint32_t offset, uint32_t len)
{
	uint8_t bhs[ISCSI_BHS_LEN];
	expect(ISCSI_OP_R2T, bhs, NULL);
	assert_int_equal(get_be32(bhs + 16), tag);
	assert_int_equal(get_be32(bhs + 36), sn);
	assert_int_equal(get_be32(bhs + 40), offset);
	assert_int_equal(get_be32(bhs + 44), len);
	return get_be32(bhs + 20);
}

// --- data-out ---

static void test_a_task_asks_for_the_rest_from_inside_anothers_arrival(void **state)
{
	one[1].plan = WAIT;
	one[1].want = 9000;
	one[2].plan = ANSWER;
	one[2].wakes = &one[1];
	tcp_open();
	put_command(1, ISCSI_F | ISCSI_CMD_W, 9000, 3000);
	put_command(2, ISCSI_F, 0, 0);
	uint32_t ttt = expect_r2t(1, 0, 3000, 6000);
	expect_status(2);
	put_data_out(1, ttt, 0, 3000, 6000, true);
	expect_status(1);
	tcp_close();
	assert_memory_equal(memory[1], payload, 9000);
}

static void test_r2ts_are_as_many_and_as_long_as_agreed(void **state)
{
	uint32_t ttt[4];
	one[1].want = 30000;
	params.initial_r2t = true;
	tcp_open();
	put_command(1, ISCSI_F | ISCSI_CMD_W, 30000, 0);
	ttt[0] = expect_r2t(1, 0, 0, 8192);
	ttt[1] = expect_r2t(1, 1, 8192, 8192);
	expect_nothing();
	put_data_out(1, ttt[0], 0, 0, 8000, false);
	put_data_out(1, ttt[0], 1, 8000, 192, true);
	ttt[2] = expect_r2t(1, 2, 16384, 8192);
	put_data_out(1, ttt[1], 0, 8192, 8192, true);
	ttt[3] = expect_r2t(1, 3, 24576, 30000 - 24576);
	put_data_out(1, ttt[2], 0, 16384, 8192, true);
	put_data_out(1, ttt[3], 0, 24576, 30000 - 24576, true);
	expect_status(1);
	tcp_close();
	assert_int_equal(one[1].data_res, 0);
	assert_memory_equal(memory[1], payload, 30000);
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
		tcp_setup(NULL);
		one[1].want = 8192;
		params.initial_r2t = true;
		tcp_open();
		put_command(1, ISCSI_F | ISCSI_CMD_W, 8192, 0);
		uint32_t ttt = expect_r2t(1, 0, 0, 8192);
		put_data_out(1, ttt, rows[i].sn, rows[i].offset, rows[i].len, true);
		expect_status(1);
		tcp_close();
		assert_int_equal(one[1].data_res, rows[i].error);
	}
}

static void test_pieces_of_data_out_follow_each_other(void **state)
{
	one[1].want = 20000;
	one[1].piece = 9000;
	params.initial_r2t = true;
	tcp_open();
	put_command(1, ISCSI_F | ISCSI_CMD_W, 20000, 2000);
	uint32_t ttt = expect_r2t(1, 0, 2000, 7000);
	expect_nothing(); // the second piece has no memory yet
	put_data_out(1, ttt, 0, 2000, 7000, true);
	uint32_t first = expect_r2t(1, 1, 9000, 8192), second = expect_r2t(1, 2, 17192, 808);
	put_data_out(1, first, 0, 9000, 8192, true);
	put_data_out(1, second, 0, 17192, 808, true);
	ttt = expect_r2t(1, 3, 18000, 2000);
	put_data_out(1, ttt, 0, 18000, 2000, true);
	expect_status(1);
	tcp_close();
	assert_int_equal(one[1].answers, 3);
	assert_memory_equal(memory[1], payload, 20000);
}

static void abort_run(void *arg)
{
	drop(&one[1]);
	memset(memory[1], 0xee, ROOM); // it has no owner now
}

static void test_an_abort_in_the_middle_of_a_segment(void **state)
{
	static uint8_t raw[ROOM];
	uint8_t bhs[ISCSI_BHS_LEN];
	static const size_t cuts[] = { 1, 47, 48, 49, 100, 9000, 65536 + 47 };
	for (unsigned i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
		tcp_setup(NULL);
		one[1].want = 65536;
		one[2].plan = ANSWER;
		params.initial_r2t = true;
		params.max_burst = 65536;
		tcp_open();
		put_command(1, ISCSI_F | ISCSI_CMD_W, 65536, 0);
		uint32_t ttt = expect_r2t(1, 0, 0, 65536);
		data_out_head(bhs, 1, ttt, 0, 0, true);
		size_t size = wire_pdu(raw, bhs, NULL, 0, payload, 65536, false, false);
		wire_send(fds[1], raw, cuts[i]);
		struct probe n = { 0 };
		while (n.counters.bytes_in < ISCSI_BHS_LEN + cuts[i]) {
			sched_yield();
			worker_call(worker, probe_run, &n);
		}
		worker_call(worker, abort_run, NULL);
		wire_send(fds[1], raw + cuts[i], size - cuts[i]);
		put_command(2, ISCSI_F, 0, 0);
		expect_status(2);
		for (unsigned at = 0; at < 65536; at++)
			assert_int_equal(memory[1][at], 0xee);
		tcp_close();
		assert_int_equal(one[1].answers, 0);
	}
}

static void test_a_close_answers_what_waits_for_data(void **state)
{
	one[1].want = one[2].want = 8192;
	params.initial_r2t = true;
	tcp_open();
	put_command(1, ISCSI_F | ISCSI_CMD_W, 8192, 0);
	put_command(2, ISCSI_CMD_W, 8192, 100);
	expect_r2t(1, 0, 0, 8192);
	tcp_close();
	assert_int_equal(one[1].releases, 1);
	assert_int_equal(one[2].releases, 1);
}

// --- data-in ---

static void test_data_in_is_cut_and_status_rides_on_the_last(void **state)
{
	static uint8_t got[ROOM];
	uint8_t bhs[ISCSI_BHS_LEN];
	one[1].plan = ANSWER;
	one[1].data_in = 18001;
	memcpy(memory[1], payload, 18001);
	tcp_open();
	put_command(1, ISCSI_F | ISCSI_CMD_R, 18001, 0);
	for (uint32_t at = 0, sn = 0; at < 18001; at += 4096, sn++) {
		bool is_last = at + 4096 > 18001;
		expect(ISCSI_OP_DATA_IN, bhs, got + at);
		assert_int_equal(get_be32(bhs + 36), sn);
		assert_int_equal(get_be32(bhs + 40), at);
		assert_int_equal(bhs[1] & ISCSI_DATA_S, is_last ? ISCSI_DATA_S : 0);
		// F at the end of each burst of 8192.
		assert_int_equal(bhs[1] & ISCSI_F, sn % 2 || is_last ? ISCSI_F : 0);
	}
	assert_memory_equal(got, payload, 18001);
	tcp_close();
}

static void test_pieces_of_data_in_are_numbered_on(void **state)
{
	static uint8_t got[ROOM];
	uint8_t bhs[ISCSI_BHS_LEN];
	one[1].plan = ANSWER;
	one[1].data_in = 10000;
	one[1].piece = 5000;
	one[1].result.residual_flags = ISCSI_RSP_UNDERFLOW;
	memcpy(memory[1], payload, 10000);
	tcp_open();
	put_command(1, ISCSI_F | ISCSI_CMD_R, 18001, 0);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t at = i / 2 * 5000 + i % 2 * 4096;
		expect(ISCSI_OP_DATA_IN, bhs, got + at);
		assert_int_equal(get_be32(bhs + 36), i);
		assert_int_equal(get_be32(bhs + 40), at);
		assert_int_equal(bhs[1], i % 2 ? ISCSI_F : 0);
	}
	expect(ISCSI_OP_SCSI_RSP, bhs, NULL);
	assert_int_equal(get_be32(bhs + 36), 4); // ExpDataSN
	assert_memory_equal(got, payload, 10000);
	tcp_close();
	assert_int_equal(one[1].answers, 1);
}

static void test_a_close_ends_a_piece_that_is_not_read(void **state)
{
	one[1].plan = ANSWER;
	one[1].data_in = ROOM; // more than the socket takes
	one[1].piece = ROOM - 1;
	tcp_open();
	put_command(1, ISCSI_F | ISCSI_CMD_R, ROOM, 0);
	tcp_close();
	assert_int_equal(one[1].releases, 1);
}

static void test_a_residual_has_its_own_response(void **state)
{
	static uint8_t got[8192];
	uint8_t bhs[ISCSI_BHS_LEN];
	one[1].plan = ANSWER;
	one[1].data_in = 512;
	one[1].result.residual = 512;
	one[1].result.residual_flags = ISCSI_RSP_UNDERFLOW;
	tcp_open();
	put_command(1, ISCSI_F | ISCSI_CMD_R, 1024, 0);
	expect(ISCSI_OP_DATA_IN, bhs, got);
	assert_int_equal(bhs[1], ISCSI_F);
	expect(ISCSI_OP_SCSI_RSP, bhs, got);
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_RSP_UNDERFLOW);
	assert_int_equal(get_be32(bhs + 36), 1); // ExpDataSN
	assert_int_equal(get_be32(bhs + 44), 512);
	tcp_close();
}

#define T(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_task_asks_for_the_rest_from_inside_anothers_arrival),
		T(test_r2ts_are_as_many_and_as_long_as_agreed),
		T(test_wrong_data_out_is_an_error),
		T(test_pieces_of_data_out_follow_each_other),
		T(test_an_abort_in_the_middle_of_a_segment),
		T(test_a_close_answers_what_waits_for_data),
		T(test_data_in_is_cut_and_status_rides_on_the_last),
		T(test_pieces_of_data_in_are_numbered_on),
		T(test_a_close_ends_a_piece_that_is_not_read),
		T(test_a_residual_has_its_own_response),
	};
	fill_pattern(payload, sizeof payload, 3);
	return cmocka_run_group_tests(tests, wire_setup, wire_teardown);
}
