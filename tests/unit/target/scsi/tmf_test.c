// SPDX-License-Identifier: BSD-2-Clause
// Task management functions on a logical unit.
#include "target/scsi/held_store.h"
#include "target/scsi/nexus_lun.h"

static struct bench_cmd cmds[4];
static const struct bench_options two = { .workers = 2, .nexuses = 2 };

// A WRITE that waits for data-out the bench does not send.
static struct bench_cmd *stuck(unsigned i, unsigned nexus)
{
	static const uint8_t block[512];
	struct bench_cmd *k = &cmds[i];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, (uint8_t)i, 0, 0, 1, 0 }, 10);
	k->cdb_len = 10;
	k->out = block;
	k->out_len = 512;
	k->holds_data = true;
	bench_start(&b, nexus, k);
	bench_wait_asked(k);
	return k;
}

static void end(struct bench_cmd *k)
{
	bench_send_data(k);
	bench_wait(k);
}

static void abort_task_set_takes_the_own_tasks_only(void **state)
{
	start(&two);
	struct bench_cmd *own = stuck(0, 0), *other = stuck(1, 1);
	assert_int_equal(bench_tmf(&b, 0, TMF_ABORT_TASK_SET, 0), TMF_COMPLETE);
	assert_true(own->is_aborted);
	assert_false(other->is_done);
	end(other);
	expect_good(other->status);
}

static void clear_task_set_takes_everybodys_tasks(void **state)
{
	start(&two);
	struct bench_cmd *own = stuck(0, 0), *other = stuck(1, 1);
	assert_int_equal(bench_tmf(&b, 0, TMF_CLEAR_TASK_SET, 0), TMF_COMPLETE);
	assert_true(own->is_aborted);
	assert_true(other->is_aborted);
}

static void with_tas_the_other_initiator_gets_a_status(void **state)
{
	start(&two);
	struct bench_cmd *own = stuck(0, 0), *other = stuck(1, 1);
	bench_tmf(&b, 0, TMF_CLEAR_TASK_SET, 0);
	assert_false(own->sends_aborted);
	assert_true(other->sends_aborted);
	assert_int_equal(tur(1), 0);
}

static void without_tas_the_other_initiator_gets_a_unit_attention(void **state)
{
	start(&(struct bench_options){
		.workers = 2, .nexuses = 2, .attrs = (const char *[]){"emulate_tas=0", NULL}
	       });
	struct bench_cmd *other = stuck(1, 1);
	bench_tmf(&b, 0, TMF_CLEAR_TASK_SET, 0);
	assert_false(other->sends_aborted);
	assert_int_equal(tur(0), 0);
	assert_int_equal(tur(1), SENSE(SK_UNIT_ATTENTION, 0x2f, 0x00));
}

static void a_unit_reset_takes_all_tasks(void **state)
{
	start(&two);
	struct bench_cmd *own = stuck(0, 0), *other = stuck(1, 1);
	assert_int_equal(bench_tmf(&b, 1, TMF_LU_RESET, 0), TMF_COMPLETE);
	assert_true(own->is_aborted);
	assert_true(other->is_aborted);
}

static void a_unit_reset_is_told_on_every_path(void **state)
{
	start(&two);
	bench_tmf(&b, 0, TMF_LU_RESET, 0);
	assert_int_equal(tur(0), SENSE(SK_UNIT_ATTENTION, 0x29, 0x03));
	assert_int_equal(tur(1), SENSE(SK_UNIT_ATTENTION, 0x29, 0x03));
	assert_int_equal(tur(0), 0);
}

static void a_target_reset_resets_every_unit_of_the_map(void **state)
{
	start(NULL);
	struct lu *second = bench_lu(&b, "second", "2", &(struct bench_options){ 0 });
	bench_set_map(&b, 0, 2, (const uint16_t[]){ 0, 4 }, (struct lu *const[]){ b.lu, second });
	bench_tmf(&b, 0, TMF_TARGET_RESET, 0);
	const struct nexus *n = b.nexuses[0];
	assert_true(n->luns[0]->ua & 1u << UA_DEVICE_RESET);
	assert_true(n->luns[4]->ua & 1u << UA_DEVICE_RESET);
	lu_put(second);
}

static void a_function_on_an_unmapped_lun_finds_none(void **state)
{
	start(NULL);
	assert_int_equal(bench_tmf(&b, 0, TMF_LU_RESET, 9), TMF_NO_LUN);
	assert_int_equal(bench_tmf(&b, 0, TMF_ABORT_TASK_SET, UINT64_MAX), TMF_NO_LUN);
}

static void query_task_set_tells_whether_there_is_one(void **state)
{
	start(&two);
	assert_int_equal(bench_tmf(&b, 0, TMF_QUERY_TASK_SET, 0), TMF_COMPLETE);
	struct bench_cmd *k = stuck(0, 0);
	assert_int_equal(bench_tmf(&b, 0, TMF_QUERY_TASK_SET, 0), TMF_SUCCEEDED);
	assert_int_equal(bench_tmf(&b, 1, TMF_QUERY_TASK_SET, 0), TMF_COMPLETE);
	end(k);
}

static bool reset_is_over;

static void reset_ended(struct tmf *f, enum tmf_result result)
{
	reset_is_over = true;
}

static void reset_begin(void *arg)
{
	tmf_submit(arg);
}

struct reset_test {
	struct tmf f;
	bool is_over_at_once;
};

static void reset_and_look(void *arg)
{
	struct reset_test *t = arg;
	tmf_submit(&t->f);
	t->is_over_at_once = reset_is_over;
}

// A map may have thousands.
static void a_target_reset_takes_a_turn_for_each_unit(void **state)
{
	struct reset_test t = { 0 };
	start(NULL);
	bench_set_map(&b, 0, 2, (const uint16_t[]){ 0, 1 }, (struct lu *const[]){ b.lu, b.lu });
	t.f = (struct tmf){ .nexus = b.nexuses[0], .function = TMF_TARGET_RESET };
	t.f.done = reset_ended;
	reset_is_over = false;
	bench_on_nexus(&b, 0, reset_and_look, &t);
	for (unsigned i = 0; i < 4; i++)
		bench_settle(&b);
	assert_false(t.is_over_at_once);
	assert_true(reset_is_over);
}

static void a_reset_waits_for_the_backstore(void **state)
{
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *k = &cmds[0];
	held_read(k);
	struct tmf f = { .nexus = b.nexuses[0], .function = TMF_LU_RESET, .done = reset_ended };
	reset_is_over = false;
	bench_on_nexus(&b, 0, reset_begin, &f);
	bench_settle(&b);
	assert_false(reset_is_over);
	held_go(0);
	bench_wait(k);
	bench_settle(&b);
	assert_true(reset_is_over);
	assert_true(k->is_aborted);
}

static void reset_lose(void *arg)
{
	tmf_lose_nexus(arg);
}

// A function of nexus 1, which ends while it waits for a read of nexus 0.
static void lose_nexus(struct tmf *f, enum tmf_function function)
{
	held_start(&(struct bench_options){ .nexuses = 2 });
	held_read(&cmds[0]);
	*f = (struct tmf){ .nexus = b.nexuses[1], .function = function, .done = reset_ended };
	reset_is_over = false;
	bench_on_nexus(&b, 1, reset_begin, f);
	bench_on_nexus(&b, 1, reset_lose, f);
	bench_relogin(&b, 1);
	assert_false(reset_is_over);
}

static void let_the_read_go(void)
{
	held_go(0);
	bench_wait(&cmds[0]);
	for (unsigned i = 0; i < 4; i++)
		bench_settle(&b);
	assert_true(reset_is_over);
}

static void functions_may_outlive_their_nexus(void **state)
{
	static const enum tmf_function all[] = { TMF_CLEAR_TASK_SET, TMF_LU_RESET,
						 TMF_TARGET_RESET };
	struct tmf f;
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		lose_nexus(&f, all[i]);
		let_the_read_go();
		assert_true(cmds[0].is_aborted);
		stop(NULL);
	}
}

static void a_reset_of_a_lost_nexus_ends_no_later_reservation(void **state)
{
	struct tmf f;
	lose_nexus(&f, TMF_LU_RESET);
	while (tur(1))
		;
	expect_good(BENCH_NONE(&b, 1, &c, 0x16, 0, 0, 0, 0, 0));
	let_the_read_go();
	while (tur(0))
		;
	assert_int_equal(c.status, STATUS_RESERVATION_CONFLICT);
}

static void a_reset_takes_tasks_that_wait_for_their_turn(void **state)
{
	start(NULL);
	struct bench_cmd *first = stuck(0, 0);
	struct bench_cmd *k = &cmds[1];
	memset(k, 0, offsetof(struct bench_cmd, data));
	k->cdb_len = 6;
	k->attr = TASK_ORDERED;
	bench_start(&b, 0, k);
	bench_tmf(&b, 0, TMF_LU_RESET, 0);
	assert_true(first->is_aborted);
	bench_wait(k);
	assert_true(k->is_aborted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(abort_task_set_takes_the_own_tasks_only),
		T(clear_task_set_takes_everybodys_tasks),
		T(with_tas_the_other_initiator_gets_a_status),
		T(without_tas_the_other_initiator_gets_a_unit_attention),
		T(a_unit_reset_takes_all_tasks),
		T(a_unit_reset_is_told_on_every_path),
		T(a_target_reset_resets_every_unit_of_the_map),
		T(a_function_on_an_unmapped_lun_finds_none),
		T(query_task_set_tells_whether_there_is_one),
		T(a_target_reset_takes_a_turn_for_each_unit),
		T(a_reset_waits_for_the_backstore),
		T(functions_may_outlive_their_nexus),
		T(a_reset_of_a_lost_nexus_ends_no_later_reservation),
		T(a_reset_takes_tasks_that_wait_for_their_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
