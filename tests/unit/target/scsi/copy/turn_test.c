// SPDX-License-Identifier: BSD-2-Clause
// How many copies run at the same time, and whose memory they take.
#include "target/scsi/copy/turn.h"
#include "target/scsi/held_store.h"
#include "target/scsi/lu_state.h"

enum { CROWD = 20 };
static struct bench_cmd cmds[BENCH_NEXUSES][CROWD];
static uint8_t list[16 + 32 + 28];

// EXTENDED COPY of a quarter of a MiB within the unit.
static void start_copies(unsigned nexus, unsigned n)
{
	put_be16(list + 2, 32);
	put_be32(list + 8, 28);
	list[1] = 3 << 3; // no list identifier
	memcpy(list + 16, (uint8_t[]){ 0xe4, 0, 0, 0, 1, 3, 0, 16 }, 8);
	memcpy(list + 24, b.lu->naa, 16);
	memcpy(list + 48, (uint8_t[]){ 0x02, 0, 0, 0x18 }, 4);
	put_be16(list + 58, 512);
	put_be64(list + 68, 1024);
	for (unsigned i = 0; i < n; i++) {
		struct bench_cmd *k = &cmds[nexus][i];
		memset(k, 0, offsetof(struct bench_cmd, data));
		k->cdb[0] = 0x83;
		k->cdb[13] = sizeof list;
		k->cdb_len = 16;
		k->out = list;
		k->out_len = sizeof list;
		bench_start(&b, nexus, k);
	}
	for (unsigned i = 0; i < 50; i++)
		bench_settle(&b);
}

// Every copy reads one chunk and writes it.
static void let_all_go(unsigned nexuses)
{
	held_passes = true;
	for (unsigned i = 0; i < nexuses; i++)
		held_go(i);
	for (unsigned i = 0; i < nexuses; i++)
		for (unsigned k = 0; k < CROWD && cmds[i][k].cdb_len; k++)
			bench_wait(&cmds[i][k]);
	held_passes = false;
}

struct pool_look {
	uint64_t in_use, charged;
};

static void look(void *arg)
{
	struct pool_look *p = arg;
	struct buf_pool_stats pool;
	buf_pool_stats(worker_self(), &pool);
	p->in_use = pool.bytes_in_use;
	p->charged = b.nexuses[0]->pool_used;
}

static void memory_of_copies_is_charged_to_their_nexus(void **state)
{
	struct pool_look p;
	held_start(&(struct bench_options){ .size = 4 << 20 });
	start_copies(0, 8);
	bench_on_nexus(&b, 0, look, &p);
	let_all_go(1);
	assert_int_equal(held_arrived(), 16);
	assert_true(p.in_use > 0);
	assert_int_equal(p.charged, p.in_use);
	bench_on_nexus(&b, 0, look, &p);
	assert_int_equal(p.in_use, 0);
	assert_int_equal(p.charged, 0);
}

static void no_more_of_a_nexus_run_than_are_advertised(void **state)
{
	held_start(&(struct bench_options){ .size = 4 << 20 });
	BENCH_IN(&b, 0, &c, 64, 0x84, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0);
	unsigned most = c.data[36];
	start_copies(0, CROWD);
	unsigned arrived = held_arrived();
	let_all_go(1);
	assert_true(most < CROWD);
	assert_int_equal(arrived, most);
	for (unsigned i = 0; i < CROWD; i++)
		expect_good(cmds[0][i].status);
}

static unsigned ended(unsigned nexus, uint8_t status)
{
	unsigned n = 0;
	for (unsigned i = 0; i < CROWD; i++)
		n += cmds[nexus][i].status == status;
	return n;
}

static void a_crowd_leaves_a_copy_for_each_nexus(void **state)
{
	held_start(
		&(struct bench_options){ .size = 4 << 20, .workers = 2, .nexuses = BENCH_NEXUSES });
	for (unsigned i = 0; i < BENCH_NEXUSES; i++)
		start_copies(i, CROWD);
	unsigned arrived = held_arrived();
	let_all_go(BENCH_NEXUSES);
	assert_true(arrived <= COPIES_MAX);
	for (unsigned i = 0; i < BENCH_NEXUSES; i++)
		assert_int_equal(ended(i, STATUS_GOOD), CROWD);
}

static void a_copy_that_waits_for_its_turn_can_be_aborted(void **state)
{
	held_start(&(struct bench_options){ .size = 4 << 20 });
	start_copies(0, CROWD);
	struct bench_cmd *last = &cmds[0][CROWD - 1];
	bench_abort(last, false);
	assert_true(last->is_aborted);
	let_all_go(1);
	assert_int_equal(ended(0, STATUS_GOOD), CROWD - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(memory_of_copies_is_charged_to_their_nexus),
		T(no_more_of_a_nexus_run_than_are_advertised),
		T(a_crowd_leaves_a_copy_for_each_nexus),
		T(a_copy_that_waits_for_its_turn_can_be_aborted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
