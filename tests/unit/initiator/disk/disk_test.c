// SPDX-License-Identifier: BSD-2-Clause
// A disk over one or two paths: requests, failover, failback, access states, replaced units.
#include <sched.h>

#include "disk_rig.h"

static uint8_t read_back[BYTES];

static void a_long_request_is_split(void **state)
{
	open_disk((struct opening){ 1 });
	assert_int_equal(request(DISK_WRITE, content, BYTES), 0);
	assert_memory_equal(far.disk, content, BYTES);
	assert_int_equal(request(DISK_READ, read_back, BYTES), 0);
	assert_memory_equal(read_back, content, BYTES);
	assert_int_equal(ways[0].commands, 6);
}

static void what_is_not_a_range_of_blocks_is_refused(void **state)
{
	open_disk((struct opening){ 1 });
	assert_int_equal(request(DISK_READ, read_back, 100), -EINVAL);
	assert_int_equal(request(DISK_READ, read_back, BLOCK * (BLOCKS + 1ull)), -EINVAL);
	assert_int_equal(request(DISK_UNMAP, NULL, BLOCK), -EOPNOTSUPP);
	assert_int_equal(request(DISK_OP_COUNT, NULL, BLOCK), -EOPNOTSUPP);
}

static void round_robin_uses_both_paths(void **state)
{
	open_disk((struct opening){ 2, .policy = DISK_ROUND_ROBIN });
	for (int i = 0; i < 4; i++)
		assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	assert_int_equal(ways[0].commands, 2);
	assert_int_equal(ways[1].commands, 2);
}

static void a_lost_path_is_replaced_by_the_other_at_once(void **state)
{
	open_disk((struct opening){ 2 });
	cut(&ways[0]);
	for (int i = 0; i < 2; i++)
		assert_int_equal(request(DISK_WRITE, content, BYTES), 0);
	assert_memory_equal(far.disk, content, BYTES);
	assert_int_equal(far.downs, 1);
}

static void requests_wait_while_no_path_is_up(void **state)
{
	struct disk_io io;
	struct sg sg;
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	cut(&ways[0]);
	begin(&io, &sg, DISK_WRITE, content, BYTES);
	back(&ways[0]);
	sem_wait(&done);
	assert_int_equal(io.res, 0);
	assert_memory_equal(far.disk, content, BYTES);
}

static void a_unit_that_is_slow_after_a_loss_is_no_other_one(void **state)
{
	struct disk_io io;
	struct sg sg;
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	cut(&ways[0]);
	begin(&io, &sg, DISK_WRITE, content, BLOCK);
	ways[0].lates = 1;
	worker_call(worker, way_back, &ways[0]);
	sem_wait(&done);
	assert_int_equal(io.res, 0);
}

static void a_check_that_is_late_leaves_its_path_up(void **state)
{
	struct disk_path_info i;
	ways[0].alua = 0;
	open_disk((struct opening){ 1 });
	ways[0].key = 6, ways[0].asc = 0x2a, ways[0].ascq = 6; // access states have changed
	ways[0].lates = 1;
	assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	assert_int_equal(ways[0].lates, 0);
	disk_path_info(disk, 0, &i);
	assert_int_equal(i.state, DISK_PATH_UP);
}

static void requests_fail_after_the_time_without_a_path(void **state)
{
	open_disk((struct opening){ 1, .no_path_retry = 0 });
	cut(&ways[0]);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), -ENOTCONN);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), -ENOTCONN);
	assert_int_equal(request(DISK_FLUSH, NULL, 0), -ENOTCONN);
	assert_int_equal(failures, 1); // told once
	back(&ways[0]);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
}

static void an_optimized_path_is_preferred(void **state)
{
	ways[0].alua = 1;
	ways[1].alua = 0;
	open_disk((struct opening){ 2, .policy = DISK_ROUND_ROBIN });
	for (int i = 0; i < 4; i++)
		assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	assert_int_equal(ways[0].commands, 0);
	assert_int_equal(ways[1].commands, 4);
}

// REPORT TARGET PORT GROUPS has no descriptor of the first path's group.
static void a_path_whose_state_is_not_reported_is_tried_last(void **state)
{
	ways[0].is_unreported = true;
	ways[0].alua = ways[1].alua = 1;
	open_disk((struct opening){ 2, .policy = DISK_ROUND_ROBIN });
	for (int i = 0; i < 4; i++)
		assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	assert_int_equal(ways[0].commands, 0);
	cut(&ways[1]);
	assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	assert_int_equal(ways[0].commands, 1);
}

// Asymmetric access state changed: the states are read again, and the request goes there.
static void requests_follow_a_change_of_access_states(void **state)
{
	ways[0].alua = 0;
	ways[1].alua = 1;
	open_disk((struct opening){ 2 });
	ways[0].alua = 2;
	ways[0].key = 2, ways[0].asc = 4, ways[0].ascq = 0xb; // in standby
	assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	sem_wait(&moved);
	assert_int_equal(ways[0].commands, 1);
	assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	assert_int_equal(ways[0].commands, 1);
	assert_int_equal(ways[1].commands, 2);
}

static void an_unavailable_path_is_kept_for_later(void **state)
{
	ways[0].alua = ways[1].alua = 0;
	open_disk((struct opening){ 2, .policy = DISK_ROUND_ROBIN });
	ways[0].alua = 3;
	for (int i = 0; i < 2; i++)
		assert_int_equal(request(DISK_WRITE, content, BYTES), 0);
	sem_wait(&moved); // standby, not faulty
	assert_int_equal(sem_trywait(&faulty), -1);
	assert_memory_equal(far.disk, content, BYTES);
}

static void an_unavailable_unit_is_not_another_one(void **state)
{
	struct disk_io io;
	struct sg sg;
	ways[0].alua = 0;
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	cut(&ways[0]);
	ways[0].alua = 3;
	begin(&io, &sg, DISK_WRITE, content, BYTES);
	worker_call(worker, way_back, &ways[0]);
	while (far.refusals < 3)
		sched_yield();
	assert_int_equal(sem_trywait(&stale), -1);
	ways[0].alua = 0;
	sem_wait(&done);
	assert_int_equal(io.res, 0);
	assert_memory_equal(far.disk, content, BYTES);
}

static void errors_are_those_of_a_block_device(void **state)
{
	static const struct {
		uint8_t key, asc, ascq;
		int res;
	} rows[] = {
		{3,    0x11, 0, -ENODATA},
		  { 7,   0x27, 7, -ENOSPC },
		   { 7,	0x27, 0, -EROFS	},
		{ 4,   0x44, 0, 0	},
		  { 6,   0x2a, 1, 0	  },
		   { 0xb, 0x47, 1, 0	     },
	};
	open_disk((struct opening){ 1 });
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ways[0].key = rows[i].key, ways[0].asc = rows[i].asc, ways[0].ascq = rows[i].ascq;
		assert_int_equal(request(DISK_WRITE, content, BLOCK), rows[i].res);
	}
}

static void all_is_data_where_the_target_tells_nothing(void **state)
{
	for (int thin = 0; thin <= 1; thin++) {
		_Alignas(8) uint8_t memory[DISK_EXTENTS_MIN];
		struct disk_extent *e = (void *)memory;
		struct sg sg = { .addr = memory, .len = sizeof memory };
		struct disk_io io = {
			.op = DISK_EXTENTS, .len = BYTES, .sg = &sg, .nsg = 1, .done = on_done
		};
		far.is_thin = thin;
		if (!thin)
			open_disk((struct opening){ 1 });
		worker_call(worker, submit_run, &io);
		sem_wait(&done);
		assert_int_equal(io.res, 0);
		assert_int_equal(io.extents, 1);
		assert_true(e[0].len == BYTES && !e[0].is_hole && !e[0].is_zero);
	}
}

static void expect_notice(enum disk_notice n)
{
	for (unsigned i = 0; i < DISK_NOTICE_COUNT; i++)
		assert_int_equal(told[i], i == (unsigned)n);
	assert_int_equal(disk_notices(disk), 1u << n);
}

static void what_another_initiator_or_a_thin_pool_does_is_told_once(void **state)
{
	static const struct {
		uint8_t key, asc, ascq;
		enum disk_notice notice;
		int res;
	} rows[] = {
		{6,  0x2a, 3, DISK_RESERVATION_LOST, 0      },
		{ 6, 0x2a, 4, DISK_RESERVATION_LOST, 0      },
		{ 6, 0x2a, 5, DISK_RESERVATION_LOST, 0      },
		{ 6, 0x38, 7, DISK_SPACE_LOW,	      0	},
		{ 7, 0x27, 7, DISK_SPACE_EXHAUSTED,  -ENOSPC},
	};
	open_disk((struct opening){ 1 });
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		disk->notices = 0;
		memset(told, 0, sizeof told);
		for (int twice = 0; twice < 2; twice++) {
			ways[0].key = rows[i].key, ways[0].asc = rows[i].asc;
			ways[0].ascq = rows[i].ascq;
			assert_int_equal(request(DISK_WRITE, content, BLOCK), rows[i].res);
		}
		assert_int_equal(request(DISK_WRITE, content, BLOCK), 0); // it stays for a while
		expect_notice(rows[i].notice);
	}
}

static void a_reservation_conflict_is_told_once(void **state)
{
	open_disk((struct opening){ 1 });
	for (int i = 0; i < 2; i++) {
		ways[0].status = SCSI_RESERVATION_CONFLICT;
		assert_int_equal(request(DISK_WRITE, content, BLOCK), -EBADE);
	}
	expect_notice(DISK_RESERVATION_CONFLICT);
}

static void a_conflict_that_is_old_ends_with_a_write(void **state)
{
	open_disk((struct opening){ 1 });
	ways[0].status = SCSI_RESERVATION_CONFLICT;
	assert_int_equal(request(DISK_WRITE, content, BLOCK), -EBADE);
	disk->notice_ns[DISK_RESERVATION_CONFLICT] -= 61 * NS_PER_SEC;
	disk->ops.notice = NULL;
	assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	assert_int_equal(disk_notices(disk), 1u << DISK_RESERVATION_CONFLICT);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	assert_int_equal(disk_notices(disk), 0);
}

// It is fetched by the check that follows a login, and no command tells of it.
static void a_reservation_lost_with_the_session_is_told(void **state)
{
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	cut(&ways[0]);
	struct disk_io io;
	struct sg sg;
	begin(&io, &sg, DISK_WRITE, content, BLOCK);
	ways[0].ready_asc = 0x2a, ways[0].ready_ascq = 3;
	back(&ways[0]);
	sem_wait(&done);
	assert_int_equal(io.res, 0);
	expect_notice(DISK_RESERVATION_LOST);
}

static void a_replaced_disk_is_not_written(void **state)
{
	struct disk_io io;
	struct sg sg;
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	far.new_serial = 'b';
	cut(&ways[0]);
	begin(&io, &sg, DISK_WRITE, content, BYTES);
	worker_call(worker, way_back, &ways[0]);
	sem_wait(&stale);
	sem_wait(&done);
	assert_int_equal(io.res, -ESTALE);
	for (size_t i = 0; i < sizeof far.disk; i++)
		assert_int_equal(far.disk[i], 0xee);
}

// 2A/09; the session that is lost later finds the new size, too.
static void a_new_size_is_not_another_disk(void **state)
{
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	far.more_blocks = 8;
	ways[0].key = 6, ways[0].asc = 0x2a, ways[0].ascq = 9;
	assert_int_equal(request(DISK_READ, read_back, BLOCK), 0);
	sem_wait(&changed);
	assert_int_equal(disk_facts(disk)->blocks, BLOCKS + 8);
	cut(&ways[0]);
	struct disk_io io;
	struct sg sg;
	begin(&io, &sg, DISK_WRITE, content, BLOCK);
	back(&ways[0]);
	sem_wait(&done);
	assert_int_equal(io.res, 0);
}

static void a_disk_that_grew_while_no_path_was_up_is_taken_over(void **state)
{
	struct disk_io io;
	struct sg sg;
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	cut(&ways[0]);
	begin(&io, &sg, DISK_WRITE, content, BLOCK);
	far.more_blocks = 8;
	back(&ways[0]);
	sem_wait(&changed);
	sem_wait(&done);
	assert_int_equal(io.res, 0);
	assert_int_equal(disk_facts(disk)->blocks, BLOCKS + 8);
}

static void a_disk_that_shrank_while_no_path_was_up_is_refused(void **state)
{
	struct disk_io io;
	struct sg sg;
	far.more_blocks = 8;
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	cut(&ways[0]);
	begin(&io, &sg, DISK_WRITE, content, BLOCK);
	far.more_blocks = 0;
	worker_call(worker, way_back, &ways[0]);
	sem_wait(&stale);
	sem_wait(&done);
	assert_int_equal(io.res, -ESTALE);
	assert_non_null(strstr(stale_why.text, "the size changed from 16392 blocks"));
	assert_int_equal(disk_facts(disk)->blocks, BLOCKS + 8);
}

static void a_disk_that_shrinks_under_a_live_session_is_refused(void **state)
{
	far.more_blocks = 8;
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	far.more_blocks = 0;
	ways[0].key = 6, ways[0].asc = 0x2a, ways[0].ascq = 9;
	request(DISK_READ, read_back, BLOCK);
	sem_wait(&stale);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), -ESTALE);
}

static void one_path_to_another_disk_is_left_alone(void **state)
{
	open_disk((struct opening){ 2 });
	ways[1].serial = 'b';
	cut(&ways[1]);
	ways[0].key = 2, ways[0].asc = 4, ways[0].ascq = 1; // so that the other one is tried, too
	assert_int_equal(request(DISK_WRITE, content, BYTES), 0);
	worker_call(worker, way_back, &ways[1]);
	sem_wait(&faulty);
	assert_int_equal(request(DISK_WRITE, content, BYTES), 0);
	assert_memory_equal(far.disk, content, BYTES);
}

// Two disks of one type and size look like this, too.
static void expect_one_path(void)
{
	struct opening o = { 2 };
	struct disk_path_info i;
	worker_call(worker, open_run, &o);
	sem_wait(&ready);
	sem_wait(&settled);
	disk_path_info(disk, 0, &i);
	assert_int_equal(i.state, DISK_PATH_UP);
	disk_path_info(disk, 1, &i);
	assert_int_equal(i.state, DISK_PATH_FAULTY);
	assert_non_null(strstr(i.why.text, "cannot tell whether this is the same disk"));
	assert_int_equal(request(DISK_WRITE, content, BYTES), 0);
	assert_int_equal(ways[1].commands, 0);
}

static void a_second_path_needs_a_designator_or_a_serial_number(void **state)
{
	far.has_no_serial = true;
	expect_one_path();
}

static void a_serial_number_of_spaces_names_no_disk(void **state)
{
	far.serial = ' ';
	expect_one_path();
}

static void a_disk_without_a_name_returns_by_its_path(void **state)
{
	struct disk_io io;
	struct sg sg;
	far.has_no_serial = true;
	open_disk((struct opening){ 1, .no_path_retry = DISK_QUEUE_FOREVER });
	cut(&ways[0]);
	begin(&io, &sg, DISK_WRITE, content, BLOCK);
	back(&ways[0]);
	sem_wait(&done);
	assert_int_equal(io.res, 0);
}

static void it_has_settled_when_each_path_was_looked_at(void **state)
{
	struct opening o = { 2 };
	struct disk_path_info i;
	ways[1].serial = 'b';
	worker_call(worker, open_run, &o);
	sem_wait(&ready);
	sem_wait(&settled);
	disk_path_info(disk, 0, &i);
	assert_int_equal(i.state, DISK_PATH_UP);
	disk_path_info(disk, 1, &i);
	assert_int_equal(i.state, DISK_PATH_FAULTY);
	assert_non_null(strstr(i.why.text, "another disk (bbbb, not aaaa)"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_long_request_is_split),
		T(what_is_not_a_range_of_blocks_is_refused),
		T(round_robin_uses_both_paths),
		T(a_lost_path_is_replaced_by_the_other_at_once),
		T(requests_wait_while_no_path_is_up),
		T(a_unit_that_is_slow_after_a_loss_is_no_other_one),
		T(a_check_that_is_late_leaves_its_path_up),
		T(requests_fail_after_the_time_without_a_path),
		T(an_optimized_path_is_preferred),
		T(a_path_whose_state_is_not_reported_is_tried_last),
		T(requests_follow_a_change_of_access_states),
		T(an_unavailable_path_is_kept_for_later),
		T(an_unavailable_unit_is_not_another_one),
		T(errors_are_those_of_a_block_device),
		T(all_is_data_where_the_target_tells_nothing),
		T(what_another_initiator_or_a_thin_pool_does_is_told_once),
		T(a_reservation_conflict_is_told_once),
		T(a_conflict_that_is_old_ends_with_a_write),
		T(a_reservation_lost_with_the_session_is_told),
		T(a_replaced_disk_is_not_written),
		T(a_new_size_is_not_another_disk),
		T(a_disk_that_grew_while_no_path_was_up_is_taken_over),
		T(a_disk_that_shrank_while_no_path_was_up_is_refused),
		T(a_disk_that_shrinks_under_a_live_session_is_refused),
		T(one_path_to_another_disk_is_left_alone),
		T(a_second_path_needs_a_designator_or_a_serial_number),
		T(a_serial_number_of_spaces_names_no_disk),
		T(a_disk_without_a_name_returns_by_its_path),
		T(it_has_settled_when_each_path_was_looked_at),
	};
	for (int i = 0; i < BYTES; i++)
		content[i] = (uint8_t)(i * 7 + i / 4096);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
