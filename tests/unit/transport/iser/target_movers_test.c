// SPDX-License-Identifier: BSD-2-Clause
// What holds for every mover of the target, whatever carries its PDUs: each test runs over each.
#include "transport/iscsi/dm_tcp_rig.h"
#include "transport/iser/dm_iser_rig.h"

#include "transport/iscsi/target_says.h"

static int begin(void **state)
{
	carrier = *state;
	return carrier->make_worker(state) || carrier->setup(state);
}

static int end(void **state)
{
	return free_workers(state);
}

// --- immediate and unsolicited data ---

static void immediate_data_goes_to_its_place(void **state)
{
	one[1].want = 5001;
	carrier->open();
	put_command(1, ISCSI_F | ISCSI_CMD_W, 5001, 5001);
	expect_status(1);
	carrier->close();
	assert_int_equal(one[1].data_res, 0);
	assert_memory_equal(memory[1], payload, 5001);
	assert_int_equal(memory[1][5001], 0);
}

static void data_before_its_place_waits_for_it(void **state)
{
	one[1].plan = WAIT;
	one[1].want = 8000;
	one[2].plan = ANSWER;
	one[2].wakes = &one[1];
	carrier->open();
	put_command(1, ISCSI_CMD_W, 8000, 3000);
	put_data_out(1, ISCSI_TAG_NONE, 0, 3000, 2000, false);
	put_data_out(1, ISCSI_TAG_NONE, 1, 5000, 3000, true);
	expect_nothing();
	put_command(2, ISCSI_F, 0, 0); // as the one that fills a gap does
	expect_status(1);
	expect_status(2);
	carrier->close();
	assert_memory_equal(memory[1], payload, 8000);
}

static void a_status_waits_for_data_that_is_owed(void **state)
{
	one[1].plan = ANSWER; // refused: no place for its data
	one[1].result.status = 2;
	carrier->open();
	put_command(1, ISCSI_CMD_W, 8192, 1000);
	expect_nothing();
	put_data_out(1, ISCSI_TAG_NONE, 0, 1000, 4000, false);
	put_data_out(1, ISCSI_TAG_NONE, 1, 5000, 3192, true);
	uint8_t bhs[ISCSI_BHS_LEN];
	expect(ISCSI_OP_SCSI_RSP, bhs, NULL);
	assert_int_equal(bhs[3], 2);
	carrier->close();
}

// A write of want bytes, refused by the mover.
static void assert_refused(uint32_t now, uint32_t want, int why)
{
	one[1].want = want;
	carrier->open();
	put_command(1, ISCSI_F | ISCSI_CMD_W, want, now);
	expect_status(1);
	carrier->close();
	assert_int_equal(one[1].data_res, why);
}

static void immediate_data_that_was_not_agreed_on_is_refused(void **state)
{
	params.immediate_data = false;
	assert_refused(512, 512, -EPROTO);
}

static void more_data_than_the_command_has_is_refused(void **state)
{
	assert_refused(513, 512, -EPROTO);
}

static void unsolicited_data_out_of_order_fails_the_command(void **state)
{
	one[1].want = 4000;
	carrier->open();
	put_command(1, ISCSI_CMD_W, 4000, 0);
	put_data_out(1, ISCSI_TAG_NONE, 0, 1000, 1000, false);
	expect_nothing(); // an error is told when the sequence is over
	put_data_out(1, ISCSI_TAG_NONE, 1, 0, 1000, true);
	expect_status(1);
	carrier->close();
	assert_int_equal(one[1].data_res, -EMSGSIZE);
}

static void unsolicited_data_beyond_the_first_burst_fails_the_command(void **state)
{
	params.first_burst = 1500;
	one[1].want = 4000;
	carrier->open();
	put_command(1, ISCSI_CMD_W, 4000, 0);
	put_data_out(1, ISCSI_TAG_NONE, 0, 0, 1000, false);
	put_data_out(1, ISCSI_TAG_NONE, 1, 1000, 501, true);
	expect_status(1);
	carrier->close();
	assert_int_equal(one[1].data_res, -EMSGSIZE);
}

static void data_out_for_an_unknown_task_is_ignored(void **state)
{
	carrier->open();
	put_data_out(9, ISCSI_TAG_NONE, 0, 0, 100, true);
	expect_nothing();
	carrier->close();
}

static void assert_data_is_skipped(enum plan plan)
{
	one[1].plan = plan;
	one[2].plan = ANSWER;
	carrier->open();
	put_command(1, ISCSI_CMD_W, 8192, 1000);
	put_data_out(1, ISCSI_TAG_NONE, 0, 1000, 7192, true);
	put_command(2, ISCSI_F, 0, 0);
	expect_status(2);
	carrier->close();
}

static void data_of_an_ignored_command_is_skipped(void **state)
{
	assert_data_is_skipped(IGNORE);
}

static void data_of_an_aborted_command_is_skipped(void **state)
{
	assert_data_is_skipped(ABORT);
}

// The role overwrites the memory of a task that has been released.
static void a_command_may_end_while_it_begins(void **state)
{
	one[1].plan = one[2].plan = ANSWER;
	one[3].want = 5001;
	carrier->open();
	put_command(1, ISCSI_F, 0, 0);
	expect_status(1);
	put_command(2, ISCSI_F | ISCSI_CMD_W, 700, 700); // its data is owed first
	expect_status(2);
	put_command(3, ISCSI_F | ISCSI_CMD_W, 5001, 5001);
	expect_status(3);
	carrier->close();
	assert_memory_equal(memory[3], payload, 5001);
}

// As when a task's end is the turn of the next one: it is called for while the mover ends the
// first.
static void the_end_of_a_command_may_begin_anothers_data(void **state)
{
	one[1].plan = WAIT;
	one[1].want = 3000;
	one[2].plan = ABORT;
	one[2].wakes_released = &one[1];
	carrier->open();
	put_command(1, ISCSI_F | ISCSI_CMD_W, 3000, 3000);
	put_command(2, ISCSI_F | ISCSI_CMD_W, 1000, 1000);
	expect_status(1);
	carrier->close();
	assert_int_equal(one[1].data_res, 0);
	assert_memory_equal(memory[1], payload, 3000);
}

// --- what goes out ---

static void numbers_are_stamped(void **state)
{
	uint8_t bhs[ISCSI_BHS_LEN], ping[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_OUT, ISCSI_F };
	sns = (struct dm_sns){ 0xffffffff, 7, 9 };
	carrier->open();
	for (uint32_t i = 0; i < 3; i++) {
		carrier->send(ping, NULL, 0);
		expect(ISCSI_OP_NOP_IN, bhs, NULL);
		assert_int_equal(get_be32(bhs + 24), 0xffffffff + i);
		assert_int_equal(get_be32(bhs + 28), 7);
		assert_int_equal(get_be32(bhs + 32), 9);
	}
	carrier->close();
}

#define OVER(below, name)                                                                          \
	{                                                                                          \
#name " over " #below, name, begin, end, (void *)&below                            \
	}
#define T(name) OVER(tcp_carrier, name), OVER(iser_carrier, name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(immediate_data_goes_to_its_place),
		T(data_before_its_place_waits_for_it),
		T(a_status_waits_for_data_that_is_owed),
		T(immediate_data_that_was_not_agreed_on_is_refused),
		T(more_data_than_the_command_has_is_refused),
		T(unsolicited_data_out_of_order_fails_the_command),
		T(unsolicited_data_beyond_the_first_burst_fails_the_command),
		T(data_out_for_an_unknown_task_is_ignored),
		T(data_of_an_ignored_command_is_skipped),
		T(data_of_an_aborted_command_is_skipped),
		T(a_command_may_end_while_it_begins),
		T(the_end_of_a_command_may_begin_anothers_data),
		T(numbers_are_stamped),
	};
	fill_pattern(payload, sizeof payload, 3);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
