// SPDX-License-Identifier: BSD-2-Clause
// A disk with a reservation: a key for each path, and a path that is lost writes no more once its
// key was preempted.
#include <sched.h>

#include "disk_rig.h"

enum { HOST = 0x12345678 };

static void reserve_run(void *arg)
{
	disk_reserve(disk, HOST);
}

// Over portal groups of their own, of a target without another fence.
static void open_groups(unsigned paths)
{
	ways[0].promises = ways[1].promises = 0;
	ways[1].tpgt = 2;
	far.pr.is_supported = true;
	open_disk((struct opening){ paths, .no_path_retry = DISK_QUEUE_FOREVER });
}

static int reserve_disk(void)
{
	worker_call(worker, reserve_run, NULL);
	sem_wait(&reserved);
	return reserved_why.code;
}

static void begin_reserved(unsigned paths)
{
	open_groups(paths);
	assert_int_equal(reserve_disk(), 0);
}

static uint64_t key_of(unsigned i)
{
	for (unsigned n = 0; n < far.pr.count; n++)
		if (far.pr.keys[n].way == &ways[i])
			return far.pr.keys[n].key;
	return 0;
}

// --- the beginning ---

static void each_path_has_a_key_of_its_own(void **state)
{
	begin_reserved(2);
	assert_int_equal(far.pr.count, 2);
	assert_int_equal(key_of(0) >> 32, HOST);
	assert_int_equal(key_of(1) >> 32, HOST);
	assert_true(key_of(0) != key_of(1));
	assert_int_equal(far.pr.type, 5);
	assert_string_equal(far.pr.said, "register reserve register ");
}

static void a_disk_with_a_foreign_key_is_refused(void **state)
{
	add_key(NULL, 0xabc);
	open_groups(1);
	assert_int_equal(reserve_disk(), -EBUSY);
	assert_non_null(strstr(reserved_why.text, "0xabc"));
	assert_int_equal(far.pr.count, 1);
}

static void a_disk_with_another_reservation_is_refused(void **state)
{
	add_key(NULL, (uint64_t)HOST << 32 | 7);
	far.pr.holder = far.pr.keys[0].key;
	far.pr.type = 3;
	open_groups(1);
	assert_int_equal(reserve_disk(), -EBUSY);
	assert_non_null(strstr(reserved_why.text, "exclusive-access"));
}

static void a_target_without_reservations_is_refused(void **state)
{
	open_groups(1);
	far.pr.is_supported = false;
	assert_int_equal(reserve_disk(), -EOPNOTSUPP);
}

static void a_target_without_preempt_and_abort_is_refused(void **state)
{
	far.pr.has_no_abort = true;
	open_groups(1);
	assert_int_equal(reserve_disk(), -EOPNOTSUPP);
}

static void what_a_former_process_has_registered_is_preempted(void **state)
{
	const uint64_t dead = (uint64_t)HOST << 32 | 7;
	add_key(NULL, dead);
	far.pr.holder = dead;
	far.pr.type = 5;
	begin_reserved(1);
	assert_int_equal(far.pr.count, 1);
	assert_true(far.pr.holder == key_of(0));
	assert_string_equal(far.pr.said, "register preempt ");
}

// Its tasks would be aborted.
static void a_path_that_has_logged_in_keeps_its_key(void **state)
{
	open_groups(2);
	disk->reservation.host = HOST;
	add_key(&ways[1], reservation_key(disk, &disk->paths[1].nexus.nexus));
	assert_int_equal(reserve_disk(), 0);
	assert_string_equal(far.pr.said, "register reserve register ");
}

static struct disk_nexus former = {
	.nexus = {SCSI_NEXUS_ISCSI, "iqn.i,i,0x000000000008", "iqn.t,t,0x0008"},
};

static void inherit_run(void *arg)
{
	assert_int_equal(disk_inherit(disk, &former, 1), 0);
}

// Its key is not registered any more, which alone would prove nothing where REMOVE I_T NEXUS does.
static void a_nexus_that_was_preempted_at_the_beginning_is_fenced(void **state)
{
	ways[0].promises = 1;
	far.pr.is_supported = true;
	open_disk((struct opening){ 1 });
	disk->reservation.host = HOST;
	add_key(NULL, reservation_key(disk, &former.nexus));
	assert_int_equal(reserve_disk(), 0);
	worker_call(worker, inherit_run, NULL);
	sem_wait(&inherited);
	assert_string_equal(far.pr.said, "register preempt reserve ");
	assert_int_equal(told[DISK_NOT_FENCED], 0);
	assert_int_equal(ways[0].removes, 0);
}

// --- a loss ---

static void a_lost_path_is_preempted_before_its_write_is_repeated(void **state)
{
	begin_reserved(2);
	cut(&ways[0]);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	assert_int_equal(key_of(0), 0);
	assert_false(may_write(&ways[0])); // what is late is refused
	assert_true(far.pr.holder == key_of(1));
	assert_string_equal(far.pr.said, "register reserve register preempt ");
	assert_int_equal(told[DISK_NOT_FENCED], 0);
}

static void a_path_that_returns_registers_before_it_is_used(void **state)
{
	begin_reserved(2);
	cut(&ways[0]);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	back(&ways[0]); // up again
	assert_true(key_of(0) != 0);
	cut(&ways[1]);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	assert_int_equal(told[DISK_RESERVATION_CONFLICT], 0);
}

// A PREEMPT AND ABORT whose answer was lost.
static void a_key_that_is_gone_already_is_fenced_too(void **state)
{
	begin_reserved(2);
	cut(&ways[0]);
	drop_keys(&ways[0], 0);
	far.pr.holder = key_of(1);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	assert_int_equal(told[DISK_NOT_FENCED], 0);
}

// LIO: a registered path of the same initiator and group lets the other one write.
static void a_target_that_registers_names_is_not_fenced_within_a_group(void **state)
{
	begin_reserved(2);
	strcpy(disk->facts.disk.vendor, "LIO-ORG");
	ways[1].tpgt = 1;
	strcpy(disk->paths[1].nexus.nexus.target, "iqn.t,t,0x0001");
	cut(&ways[0]);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	assert_int_equal(ways[1].fences, 1); // a login
	assert_true(key_of(0) != 0);
}

// --- conflicts ---

static void a_path_that_lost_its_registration_registers_again(void **state)
{
	begin_reserved(1);
	far.pr.count = 0;
	far.pr.type = 5;
	far.pr.holder = 0;
	far.pr.type = 0;
	ways[0].status = SCSI_RESERVATION_CONFLICT;
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	assert_true(key_of(0) != 0);
	assert_int_equal(far.pr.type, 5);
}

static void writes_of_a_disk_that_another_host_takes_fail(void **state)
{
	begin_reserved(1);
	far.pr.count = 0;
	add_key(NULL, 0xabc);
	far.pr.holder = 0xabc;
	assert_int_equal(request(DISK_WRITE, content, BLOCK), -EBADE);
	assert_int_equal(told[DISK_TAKEN], 1);
	assert_int_equal(request(DISK_READ, content, BLOCK), 0);
	assert_int_equal(far.pr.count, 1); // nobody fights
}

// --- the end ---

static void close_and_wait(void)
{
	worker_call(worker, close_run, NULL);
	sem_wait(&closed);
	sem_post(&closed); // of teardown()
}

static void nothing_is_left_at_the_end(void **state)
{
	begin_reserved(2);
	close_and_wait();
	assert_int_equal(far.pr.count, 0);
	assert_int_equal(far.pr.type, 0);
	assert_false(disk_is_left_reserved(disk));
}

// Else what a lost path has sent could still come.
static void the_reservation_stays_while_a_lost_path_is_kept_out(void **state)
{
	struct disk_nexus left[DISK_NEXUSES_MAX];
	begin_reserved(2);
	cut(&ways[0]);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	close_and_wait();
	assert_true(disk_is_left_reserved(disk));
	assert_int_equal(far.pr.type, 5);
	assert_int_equal(disk_nexuses(disk, left, true), 1);
}

static void it_goes_once_the_path_has_returned(void **state)
{
	begin_reserved(2);
	cut(&ways[0]);
	assert_int_equal(request(DISK_WRITE, content, BLOCK), 0);
	back(&ways[0]);
	close_and_wait();
	assert_int_equal(far.pr.type, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(each_path_has_a_key_of_its_own),
		T(a_disk_with_a_foreign_key_is_refused),
		T(a_disk_with_another_reservation_is_refused),
		T(a_target_without_reservations_is_refused),
		T(a_target_without_preempt_and_abort_is_refused),
		T(what_a_former_process_has_registered_is_preempted),
		T(a_path_that_has_logged_in_keeps_its_key),
		T(a_nexus_that_was_preempted_at_the_beginning_is_fenced),
		T(a_lost_path_is_preempted_before_its_write_is_repeated),
		T(a_path_that_returns_registers_before_it_is_used),
		T(a_key_that_is_gone_already_is_fenced_too),
		T(a_target_that_registers_names_is_not_fenced_within_a_group),
		T(a_path_that_lost_its_registration_registers_again),
		T(writes_of_a_disk_that_another_host_takes_fail),
		T(nothing_is_left_at_the_end),
		T(the_reservation_stays_while_a_lost_path_is_kept_out),
		T(it_goes_once_the_path_has_returned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
