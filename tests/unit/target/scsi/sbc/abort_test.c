// SPDX-License-Identifier: BSD-2-Clause
// Commands of several steps that are aborted on the way: they end, do no further step, and
// let go of the blocks they had frozen. The store's gate holds their first write.
#include "target/scsi/sbc/sbc_test.h"

static uint8_t data[2 * 64 * ST_BLOCK];

static void write_same_does_no_further_step(void **state)
{
	static const uint8_t same[16] = { 0x93, 0, BE64(0), BE32(3 * 2048) };
	memset(data, 'x', ST_BLOCK);
	st_gate(true);
	st_start(same, 16, data, ST_BLOCK);
	st_until_held();
	st_abort_start();
	st_gate(false);
	assert_true(st_abort_wait());
	st_expect(2048, 1, 0);
	st_expect(3 * 2048 - 1, 1, 0);
}

static void unmap_does_no_further_step(void **state)
{
	static const uint8_t cdb[10] = { 0x42, [8] = 40 };
	static const uint8_t list[40] = { 0,	   38,	    0, 32, 0, 0, 0,	   0,
					  BE64(0), BE32(8), 0, 0,  0, 0, BE64(64), BE32(8) };
	st_fill(0, 72, 'a');
	st_gate(true);
	st_start(cdb, 10, list, sizeof list);
	st_until_held();
	st_abort_start();
	st_gate(false);
	assert_true(st_abort_wait());
	st_expect(64, 8, 'a');
}

static void frozen_blocks_are_thawed(uint8_t opcode)
{
	uint8_t cdb[16] = { opcode, 0, BE64(0) };
	cdb[13] = 8;
	memset(data, 0, sizeof data);
	memset(data + 8 * ST_BLOCK, 'n', 8 * ST_BLOCK);
	st_gate(true);
	st_start(cdb, 16, data, opcode == 0x89 ? 16 * ST_BLOCK : 8 * ST_BLOCK);
	st_until_held();
	st_abort_start();
	st_gate(false);
	assert_true(st_abort_wait());
	uint8_t read[16] = { 0x88, 0, BE64(4), BE32(8) }, back[8 * ST_BLOCK];
	for (unsigned i = 0; i < ST_NEXUSES; i++)
		assert_int_equal(st_on(i, read, 16, NULL, 0, back, sizeof back), STATUS_GOOD);
}

static void compare_and_write_thaws(void **state)
{
	frozen_blocks_are_thawed(0x89);
}

static void orwrite_thaws(void **state)
{
	frozen_blocks_are_thawed(0x8b);
}

static void write_atomic_thaws(void **state)
{
	frozen_blocks_are_thawed(0x9c);
}

static void a_command_that_waits_for_frozen_blocks_can_be_aborted(void **state)
{
	// Nexus 1 holds the blocks, the command of nexus 0 waits for them.
	static const uint8_t orwrite[16] = { 0x8b, 0, BE64(0), BE32(8) };
	memset(data, 0, sizeof data);
	st_gate(true);
	st_cmd_start(&st.cmd, 1, orwrite, 16, data, 8 * ST_BLOCK, NULL, 0);
	st_until_held();
	st_start(orwrite, 16, data, 8 * ST_BLOCK);
	assert_false(st_is_done(&st.slow));
	st_abort_start();
	st_gate(false);
	assert_true(st_abort_wait());
	st_cmd_wait(&st.cmd);
	assert_int_equal(st.cmd.status, STATUS_GOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(write_same_does_no_further_step),
		ST_TEST(unmap_does_no_further_step),
		ST_TEST(compare_and_write_thaws),
		ST_TEST(orwrite_thaws),
		ST_TEST(write_atomic_thaws),
		ST_TEST(a_command_that_waits_for_frozen_blocks_can_be_aborted),
	};
	return st_main(tests);
}
