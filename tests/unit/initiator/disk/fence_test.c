// SPDX-License-Identifier: BSD-2-Clause
// A write that a lost path may still execute is neither repeated nor overtaken before its nexus has
// ended.
#include <errno.h>
#include <sched.h>

#include "disk_rig.h"

static struct disk_io first, second;
static struct sg first_sg, second_sg;

static void begin_at(struct disk_io *io, struct sg *sg, uint8_t op, uint64_t block)
{
	*sg = (struct sg){ .addr = content, .len = BLOCK };
	*io = (struct disk_io){
		.op = op, .offset = block * BLOCK, .len = BLOCK, .sg = sg, .nsg = 1, .done = on_done
	};
	worker_call(worker, submit_run, io);
}

static int request_at(uint8_t op, uint64_t block)
{
	struct disk_io io;
	struct sg sg;
	begin_at(&io, &sg, op, block);
	sem_wait(&done);
	return io.res;
}

// The write of block 0 is in flight on path 0, which is lost; the fence by path 1 has no answer.
static void lose_a_write(void)
{
	open_disk((struct opening){ 2, .no_path_retry = DISK_QUEUE_FOREVER });
	ways[1].holds_fence = true;
	cut(&ways[0]);
	begin_at(&first, &first_sg, DISK_WRITE, 0);
	while (!ways[1].fences)
		sched_yield();
}

static void let_the_fence_go_on(void)
{
	worker_call(worker, fence_goes_on, &ways[1]);
	sem_wait(&done);
}

static void a_lost_write_is_repeated_after_the_fence(void **state)
{
	lose_a_write();
	assert_int_equal(ways[1].commands, 0);
	let_the_fence_go_on();
	assert_int_equal(first.res, 0);
	assert_int_equal(ways[1].commands, 1);
}

static void a_newer_write_of_its_blocks_waits_too(void **state)
{
	lose_a_write();
	begin_at(&second, &second_sg, DISK_WRITE, 0);
	assert_int_equal(request_at(DISK_READ, 9), 0); // was submitted later
	assert_int_equal(ways[1].commands, 1);
	let_the_fence_go_on();
	sem_wait(&done);
	assert_int_equal(second.res, 0);
}

static void reads_and_other_writes_do_not_wait(void **state)
{
	lose_a_write();
	assert_int_equal(request_at(DISK_READ, 0), 0);
	assert_int_equal(request_at(DISK_WRITE, 1), 0);
	assert_int_equal(ways[1].commands, 2);
	let_the_fence_go_on();
}

static void a_lost_read_needs_no_fence(void **state)
{
	open_disk((struct opening){ 2 });
	cut(&ways[0]);
	assert_int_equal(request_at(DISK_READ, 0), 0);
	assert_int_equal(request_at(DISK_WRITE, 0), 0);
	assert_int_equal(ways[1].fences, 0);
}

static void the_path_itself_fences_when_it_returns(void **state)
{
	lose_a_write();
	worker_call(worker, way_back, &ways[0]);
	sem_wait(&done);
	assert_int_equal(first.res, 0);
}

// The other path leads to another portal group: its login is another nexus.
static void a_target_with_remove_i_t_nexus_needs_no_login(void **state)
{
	static const char port[] = "iqn.i,i,0x000000000001";
	ways[0].promises = ways[1].promises = 1;
	ways[1].tpgt = 2;
	open_disk((struct opening){ 2 });
	cut(&ways[0]);
	assert_int_equal(request_at(DISK_WRITE, 0), 0);
	assert_int_equal(ways[1].fences, 0);
	assert_int_equal(ways[1].removes, 1);
	assert_int_equal(get_be16(ways[1].removed + 4), 7); // the relative port
	assert_memory_equal(ways[1].removed + 12, port, sizeof port);
}

// Two farblockds serve one disk under the same names: what one ends the other still has.
static void a_promise_of_another_farblockd_is_none(void **state)
{
	ways[1].server = 1;
	ways[0].promises = ways[1].promises = 7;
	open_disk((struct opening){ 2, .fence_wait = 1 });
	cut(&ways[0]);
	assert_int_equal(request_at(DISK_WRITE, 0), 0);
	assert_int_equal(ways[1].fences + ways[1].removes, 0);
	assert_int_equal(told[DISK_NOT_FENCED], 1);
}

static void examined_run(void *arg)
{
	*(bool *)arg = disk->paths[0].is_examined;
}

// Its login ends a nexus of the farblockd that it comes to.
static void a_login_that_is_redirected_to_another_farblockd_fences_nothing(void **state)
{
	ways[0].promises = ways[1].promises = 7;
	lose_a_write();
	ways[0].is_redirected = true;
	ways[0].server = 1;
	bool is_examined = false;
	worker_call(worker, way_back, &ways[0]);
	while (!is_examined)
		worker_call(worker, examined_run, &is_examined);
	assert_int_equal(sem_trywait(&done), -1);
	let_the_fence_go_on();
	assert_int_equal(first.res, 0);
}

static void a_login_that_is_redirected_to_the_same_farblockd_fences(void **state)
{
	ways[0].promises = ways[1].promises = 7;
	lose_a_write();
	ways[0].is_redirected = true;
	worker_call(worker, way_back, &ways[0]);
	sem_wait(&done);
	assert_int_equal(first.res, 0);
}

static void a_fence_that_is_redirected_is_none(void **state)
{
	ways[0].promises = ways[1].promises = 7;
	ways[1].is_redirected = true;
	open_disk((struct opening){ 2 });
	cut(&ways[0]);
	assert_int_equal(request_at(DISK_WRITE, 0), 0);
	assert_int_equal(ways[1].fences, 1);
	assert_int_equal(ways[1].removes, 1);
}

static void without_a_promise_only_time_ends_the_wait(void **state)
{
	ways[0].promises = ways[1].promises = 0;
	open_disk((struct opening){ 2, .fence_wait = 1 });
	cut(&ways[0]);
	assert_int_equal(request_at(DISK_WRITE, 0), 0);
	assert_int_equal(ways[1].fences + ways[1].removes, 0);
	assert_int_equal(told[DISK_NOT_FENCED], 1);
}

// A request that has failed to its caller leaves its blocks behind.
static void a_failed_write_is_still_fenced(void **state)
{
	open_disk((struct opening){ 1 });
	cut(&ways[0]);
	assert_int_equal(request_at(DISK_WRITE, 0), -ENOTCONN);
	struct disk_nexus left[DISK_NEXUSES_MAX];
	assert_int_equal(disk_nexuses(disk, left, true), 1);
	assert_string_equal(left[0].nexus.initiator, "iqn.i,i,0x000000000001");
	back(&ways[0]);
	assert_int_equal(disk_nexuses(disk, left, true), 0);
}

// --- of a former process ---

static struct disk_nexus former = {
	.nexus = {SCSI_NEXUS_ISCSI, "iqn.i,i,0x000000000008", "iqn.t,t,0x0001"},
	.server = 1,
};

static void inherit_run(void *arg)
{
	assert_int_equal(disk_inherit(disk, &former, 1), 0);
}

static void what_a_former_process_left_is_fenced(void **state)
{
	open_disk((struct opening){ 1 });
	ways[0].holds_fence = true;
	worker_call(worker, inherit_run, NULL);
	while (!ways[0].fences)
		sched_yield();
	assert_int_equal(disk_inherited(disk), 1);
	worker_call(worker, fence_goes_on, &ways[0]);
	sem_wait(&inherited);
	assert_int_equal(disk_inherited(disk), 0);
}

static void a_nexus_that_is_logged_in_needs_no_fence(void **state)
{
	former.nexus.initiator[21] = '1';
	open_disk((struct opening){ 1 });
	worker_call(worker, inherit_run, NULL);
	sem_wait(&inherited);
	assert_int_equal(ways[0].fences, 0);
	former.nexus.initiator[21] = '8';
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_lost_write_is_repeated_after_the_fence),
		T(a_newer_write_of_its_blocks_waits_too),
		T(reads_and_other_writes_do_not_wait),
		T(a_lost_read_needs_no_fence),
		T(the_path_itself_fences_when_it_returns),
		T(a_target_with_remove_i_t_nexus_needs_no_login),
		T(a_promise_of_another_farblockd_is_none),
		T(a_login_that_is_redirected_to_another_farblockd_fences_nothing),
		T(a_login_that_is_redirected_to_the_same_farblockd_fences),
		T(a_fence_that_is_redirected_is_none),
		T(without_a_promise_only_time_ends_the_wait),
		T(a_failed_write_is_still_fenced),
		T(what_a_former_process_left_is_fenced),
		T(a_nexus_that_is_logged_in_needs_no_fence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
