// SPDX-License-Identifier: BSD-2-Clause
// Memory of the worker's pool is charged to its user, and the share of a nexus has a
// limit, whatever the command takes it for.
#include "target/scsi/held_store.h"

enum { CROWD = 60, SLICE = 256 << 10 };
static struct bench_cmd cmds[CROWD];

struct pool_look {
	uint64_t in_use, charged, limit;
};

static void look_at(void *arg)
{
	struct pool_look *p = arg;
	struct buf_pool_stats pool;
	buf_pool_stats(worker_self(), &pool);
	p->in_use = pool.bytes_in_use;
	p->limit = pool.bytes_limit;
	p->charged = b.nexuses[0]->pool_used;
}

static struct pool_look look(void)
{
	struct pool_look p;
	bench_on_nexus(&b, 0, look_at, &p);
	return p;
}

static void send(unsigned i, const uint8_t *cdb, unsigned len, uint32_t out_len, uint32_t in)
{
	static const uint8_t block[512] = { 1 };
	struct bench_cmd *k = &cmds[i];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, cdb, len);
	k->cdb_len = len;
	k->out = block;
	k->out_len = out_len;
	k->expected_in = in;
	bench_start(&b, 0, k);
}

static void let_all_go(unsigned n)
{
	held_passes = true;
	held_go(0);
	for (unsigned i = 0; i < n; i++) {
		bench_wait(&cmds[i]);
		expect_good(cmds[i].status);
	}
	held_passes = false;
}

static void verifies_without_data_are_charged_and_limited(void **state)
{
	held_start(&(struct bench_options){ .size = 4 << 20 });
	for (unsigned i = 0; i < CROWD; i++)
		send(i, (uint8_t[10]){ 0x2f, [7] = 2 }, 10, 0, 0);
	held_wait(CROWD);
	struct pool_look p = look();
	let_all_go(CROWD);
	assert_true(p.in_use >= 8 * SLICE);
	assert_true(p.in_use <= p.limit / 4);
	assert_int_equal(p.charged, p.in_use);
	assert_int_equal(look().charged, 0);
}

static void the_pattern_of_write_same_is_charged(void **state)
{
	held_start(&(struct bench_options){ .size = 4 << 20 });
	send(0, (uint8_t[10]){ 0x41, [7] = 8 }, 10, 512, 0);
	held_wait(1);
	struct pool_look p = look();
	let_all_go(1);
	assert_true(p.charged >= SLICE);
	assert_int_equal(look().charged, 0);
}

static void a_reply_is_charged_until_it_has_left(void **state)
{
	start(NULL);
	struct bench_cmd *k = &cmds[0];
	memset(k, 0, offsetof(struct bench_cmd, data));
	k->cdb[0] = 0x12;
	k->cdb[4] = 96;
	k->cdb_len = 6;
	k->expected_in = 96;
	k->holds_release = true;
	bench_start(&b, 0, k);
	bench_wait(k);
	struct pool_look p = look();
	bench_release(k);
	assert_true(p.charged > 0);
	assert_int_equal(look().charged, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(verifies_without_data_are_charged_and_limited),
		T(the_pattern_of_write_same_is_charged),
		T(a_reply_is_charged_until_it_has_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
