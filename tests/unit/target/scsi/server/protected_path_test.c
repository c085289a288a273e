// SPDX-License-Identifier: BSD-2-Clause
// Nexus 0 reaches the logical unit by a write-protected path, nexus 1 by another one.
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/scsi_test.h"
#include "target/scsi/server/dispatch.h"

// Opcode and service action of all that nexus 0 may send.
static const uint16_t allowed[] = {
	0x0000, 0x0300, 0x0800, 0x1200, 0x1700, // TEST UNIT READY .. RELEASE(6)
	0x1a00, 0x1c00, 0x1d00,			// MODE SENSE(6), diagnostics
	0x2500, 0x2800, 0x2f00, 0x3400, 0x3500, // READ CAPACITY(10) .. SYNCHRONIZE CACHE(10)
	0x3700, 0x5700, 0x5a00,			// READ DEFECT DATA, RELEASE(10), MODE SENSE(10)
	0x5e00, 0x5e01, 0x5e02, 0x5e03,		// PERSISTENT RESERVE IN
	0x8300, 0x8310,				// EXTENDED COPY, POPULATE TOKEN
	0x8400, 0x8403, 0x8404, 0x8407,		// RECEIVE COPY RESULTS
	0x8800, 0x8f00, 0x9000, 0x9100,		// READ(16) .. SYNCHRONIZE CACHE(16)
	0x9e10, 0x9e12, 0xa000,			// READ CAPACITY(16), GET LBA STATUS, REPORT LUNS
	0xa30a, 0xa30c, 0xa30d,			// REPORT ...
	0xa800, 0xaf00, 0xb700,			// READ(12), VERIFY(12), READ DEFECT DATA(12)
};

static void begin(void)
{
	start(&(struct bench_options){
		.nexuses = 2,
		.attrs = (const char *[]){"emulate_tpu=1", "removable=1", "atomic_write_kib=4",
					   NULL},
	});
	b.nexuses[0]->luns[0]->is_write_protected = true;
}

static bool is_allowed(const struct opcode_row *row)
{
	for (unsigned i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
		if (allowed[i] == (row->opcode << 8 | row->sa))
			return true;
	return false;
}

// A row that is new is refused until it is in this test, too.
static void every_command_is_refused_but_those_of_the_list(void **state)
{
	unsigned passed = 0;
	begin();
	for (const struct opcode_row *row = opcode_rows; row->name; row++) {
		uint8_t cdb[CDB_MAX] = { row->opcode, (uint8_t)row->sa };
		assert_true(opcode_is_available(row, b.lu));
		bench_run(&b, 0, &c, cdb, row->cdb_len, NULL, 0, 0);
		if ((c.code == SENSE_WRITE_PROTECTED) == is_allowed(row))
			fail_msg("%s: %s", row->name, is_allowed(row) ? "refused" : "not refused");
		passed += c.code != SENSE_WRITE_PROTECTED;
	}
	assert_int_equal(passed, sizeof allowed / sizeof allowed[0]);
}

static int write_by(unsigned nexus)
{
	static const uint8_t block[512];
	return BENCH_OUT(&b, nexus, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
}

static void mode_select_does_not_stop_the_writes_of_others(void **state)
{
	static const uint8_t list[16] = {
		[4] = 0x0a, [5] = 10, [7] = 0x10, [8] = 0x08, [9] = 0x40
	};
	begin();
	BENCH_OUT(&b, 0, &c, list, 16, 0x15, 0x10, 0, 0, 16, 0);
	expect_good(write_by(1));
}

static void a_reservation_does_not_stop_the_writes_of_others(void **state)
{
	static const uint8_t list[24] = { [15] = 1 }, key[24] = { [7] = 1 };
	begin();
	BENCH_NONE(&b, 0, &c, 0x16, 0, 0, 0, 0, 0);
	expect_good(write_by(1));
	BENCH_OUT(&b, 0, &c, list, 24, 0x5f, 0, 0, 0, 0, 0, 0, 0, 24, 0);
	BENCH_OUT(&b, 0, &c, key, 24, 0x5f, 1, 3, 0, 0, 0, 0, 0, 24, 0);
	expect_good(write_by(1));
}

static void an_eject_does_not_take_the_medium_from_others(void **state)
{
	begin();
	BENCH_NONE(&b, 0, &c, 0x1b, 0, 0, 0, 0x02, 0);
	expect_good(write_by(1));
}

static void a_path_that_becomes_protected_can_give_its_reservation_back(void **state)
{
	begin();
	b.nexuses[0]->luns[0]->is_write_protected = false;
	expect_good(BENCH_NONE(&b, 0, &c, 0x16, 0, 0, 0, 0, 0));
	b.nexuses[0]->luns[0]->is_write_protected = true;
	assert_int_equal(write_by(1), STATUS_RESERVATION_CONFLICT);
	expect_good(BENCH_NONE(&b, 0, &c, 0x17, 0, 0, 0, 0, 0));
	expect_good(write_by(1));
}

// Its initiators may do what they like but write.
static void a_read_only_disk_may_be_reserved(void **state)
{
	begin();
	b.lu->is_readonly = true;
	expect_good(BENCH_NONE(&b, 1, &c, 0x16, 0, 0, 0, 0, 0));
	write_by(1);
	expect_code(SENSE_WRITE_PROTECTED);
}

// A WRITE of nexus 1 that waits for its data, beside a reservation of its own.
static struct bench_cmd *begin_work_of_others(void)
{
	static struct bench_cmd k;
	static const uint8_t block[512];
	begin();
	expect_good(BENCH_NONE(&b, 1, &c, 0x16, 0, 0, 0, 0, 0));
	memset(&k, 0, offsetof(struct bench_cmd, data));
	memcpy(k.cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 1, 0, 0, 1, 0 }, 10);
	k.cdb_len = 10;
	k.out = block;
	k.out_len = sizeof block;
	k.holds_data = true;
	bench_start(&b, 1, &k);
	bench_wait_asked(&k);
	return &k;
}

static void expect_undisturbed(struct bench_cmd *k)
{
	assert_false(k->is_done);
	bench_send_data(k);
	bench_wait(k);
	expect_good(k->status);
	assert_int_equal(BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0),
			 STATUS_RESERVATION_CONFLICT);
	expect_good(write_by(1)); // no unit attention
}

static void a_reset_leaves_others_alone(void **state)
{
	struct bench_cmd *k = begin_work_of_others();
	assert_int_equal(bench_tmf(&b, 0, TMF_LU_RESET, 0), TMF_COMPLETE);
	assert_int_equal(bench_tmf(&b, 0, TMF_TARGET_RESET, 0), TMF_COMPLETE);
	BENCH_NONE(&b, 0, &c, 0, 0, 0, 0, 0, 0);
	expect_code(SENSE(SK_UNIT_ATTENTION, 0x29, 0x03));
	expect_undisturbed(k);
}

static void a_reset_ends_its_own_tasks(void **state)
{
	static struct bench_cmd own;
	struct bench_cmd *k = begin_work_of_others();
	memcpy(own.cdb, (uint8_t[]){ 0x2f, 0x02, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	own.cdb_len = 10;
	own.out_len = 512;
	own.holds_data = true;
	BENCH_NONE(&b, 1, &c, 0x17, 0, 0, 0, 0, 0);
	bench_start(&b, 0, &own);
	bench_wait_asked(&own);
	assert_int_equal(bench_tmf(&b, 0, TMF_LU_RESET, 0), TMF_COMPLETE);
	assert_true(own.is_aborted);
	assert_false(k->is_done);
	bench_send_data(k);
	bench_wait(k);
}

static void clear_task_set_is_denied(void **state)
{
	struct bench_cmd *k = begin_work_of_others();
	assert_int_equal(bench_tmf(&b, 0, TMF_CLEAR_TASK_SET, 0), TMF_DENIED);
	expect_undisturbed(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_command_is_refused_but_those_of_the_list),
		T(mode_select_does_not_stop_the_writes_of_others),
		T(a_reservation_does_not_stop_the_writes_of_others),
		T(an_eject_does_not_take_the_medium_from_others),
		T(a_path_that_becomes_protected_can_give_its_reservation_back),
		T(a_read_only_disk_may_be_reserved),
		T(a_reset_leaves_others_alone),
		T(a_reset_ends_its_own_tasks),
		T(clear_task_set_is_denied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
