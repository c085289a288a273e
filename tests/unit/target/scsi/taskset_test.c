// SPDX-License-Identifier: BSD-2-Clause
// What waits in a task set costs those that do not wait nothing.
#include <sys/mman.h>

#include "target/scsi/held_store.h"

static struct bench_cmd cmds[64];

static void start_command(struct bench_cmd *k, unsigned nexus, uint8_t opcode, uint8_t attr)
{
	memset(k, 0, offsetof(struct bench_cmd, data));
	k->cdb[0] = opcode;
	k->cdb_len = opcode ? 10 : 6;
	k->cdb[8] = opcode ? 1 : 0;
	k->expected_in = opcode ? 512 : 0;
	k->attr = attr;
	bench_start(&b, nexus, k);
}

static size_t page_round(size_t n)
{
	return (n + 4095) & ~(size_t)4095;
}

static void a_task_that_ends_does_not_look_at_those_that_wait_at_another_nexus(void **state)
{
	size_t len = page_round(sizeof(struct bench_cmd));
	struct bench_cmd *waits =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(waits, MAP_FAILED);
	held_start(&(struct bench_options){ .nexuses = 2 });
	start_command(&cmds[0], 1, 0x28, TASK_SIMPLE);
	start_command(waits, 1, 0, TASK_ORDERED);
	start_command(&cmds[1], 0, 0x28, TASK_SIMPLE); // its neighbour in the set
	held_wait(2);
	bench_settle(&b);
	mprotect(waits, len, PROT_NONE);
	int status = BENCH_NONE(&b, 0, &c, 0, 0, 0, 0, 0, 0);
	mprotect(waits, len, PROT_READ | PROT_WRITE);
	held_go(0);
	bench_wait(waits);
	munmap(waits, len);
	expect_good(status);
}

// Reads that their initiator has not taken stay in the set for as long as it likes.
static void to_abort_the_tasks_of_a_nexus_does_not_look_at_those_of_others(void **state)
{
	size_t len = page_round(sizeof(struct bench_cmd));
	struct bench_cmd *others =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(others, MAP_FAILED);
	held_start(&(struct bench_options){ .nexuses = 2 });
	start_command(&cmds[0], 1, 0x28, TASK_SIMPLE); // neighbours of others in the set
	start_command(others, 1, 0x28, TASK_SIMPLE);
	start_command(&cmds[1], 1, 0x28, TASK_SIMPLE);
	held_wait(3);
	mprotect(others, len, PROT_NONE);
	int result = bench_tmf(&b, 0, TMF_ABORT_TASK_SET, 0);
	mprotect(others, len, PROT_READ | PROT_WRITE);
	held_go(0);
	bench_wait(others);
	munmap(others, len);
	assert_int_equal(result, TMF_COMPLETE);
}

static void tasks_go_on_in_order_after_an_ordered_one(void **state)
{
	held_start(&(struct bench_options){ 0 });
	start_command(&cmds[0], 0, 0x28, TASK_ORDERED);
	start_command(&cmds[1], 0, 0, TASK_SIMPLE);
	start_command(&cmds[2], 0, 0, TASK_ORDERED);
	start_command(&cmds[3], 0, 0, TASK_SIMPLE);
	held_wait(1);
	held_go(0);
	for (unsigned i = 0; i < 4; i++)
		bench_wait(&cmds[i]);
	for (unsigned i = 1; i < 4; i++)
		assert_true(cmds[i - 1].order < cmds[i].order);
}

static void an_aborted_task_in_the_middle_lets_those_behind_it_go(void **state)
{
	held_start(&(struct bench_options){ 0 });
	start_command(&cmds[0], 0, 0x28, TASK_SIMPLE);
	start_command(&cmds[1], 0, 0, TASK_ORDERED);
	start_command(&cmds[2], 0, 0, TASK_SIMPLE);
	held_wait(1);
	bench_settle(&b);
	assert_false(cmds[2].is_done);
	bench_abort(&cmds[1], false);
	bench_wait(&cmds[2]);
	assert_false(cmds[0].is_done);
	held_go(0);
	bench_wait(&cmds[0]);
}

struct counting {
	struct lu_round round;
	const struct task *last;
	unsigned asked;
	sem_t done;
};

static bool counts(const struct lu_round *r, const struct task *t)
{
	struct counting *k = container_of((struct lu_round *)r, struct counting, round);
	k->asked++;
	return t == k->last;
}

static void counted(struct lu_round *r)
{
	sem_post(&container_of(r, struct counting, round)->done);
}

static void round_begin(void *arg)
{
	static const struct lu_round_ops ops = { .awaits = counts, .done = counted };
	lu_round_start(&((struct counting *)arg)->round, b.lu, &ops);
}

static void a_round_walks_the_tasks_once(void **state)
{
	enum { COUNT = 50 };
	static struct counting k;
	held_start(&(struct bench_options){ 0 });
	for (unsigned i = 0; i < COUNT; i++)
		start_command(&cmds[i], 0, 0x28, TASK_SIMPLE);
	held_wait(COUNT);
	k.last = &cmds[COUNT - 1].task;
	sem_init(&k.done, 0, 0);
	bench_on_nexus(&b, 0, round_begin, &k);
	held_go(0);
	sem_wait(&k.done);
	assert_in_range(k.asked, COUNT, 2 * COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		bench_wait(&cmds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_task_that_ends_does_not_look_at_those_that_wait_at_another_nexus),
		T(to_abort_the_tasks_of_a_nexus_does_not_look_at_those_of_others),
		T(tasks_go_on_in_order_after_an_ordered_one),
		T(an_aborted_task_in_the_middle_lets_those_behind_it_go),
		T(a_round_walks_the_tasks_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
