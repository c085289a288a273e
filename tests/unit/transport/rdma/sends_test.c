// SPDX-License-Identifier: BSD-2-Clause
// Sends over a device that collects requests: their memory, the limit, errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/worker.h"
#include "transport/rdma/sends.h"

enum { SLOT = 512, PER_SLAB = BUF_MIN / SLOT, LIMIT = 20 };

static struct rnic_wr *posted[64];
static unsigned posted_count;
static struct rnic rnic;
static struct rnic_mr all = { .rnic = &rnic, .len = UINT64_MAX };
static struct rnic_qp qp;
static struct rnic_transfers transfers;
static struct rnic_sends sends;
static bool knows_nothing;
static int done_res;

static void fake_post(struct rnic_qp *q, struct rnic_wr *wr)
{
	posted[posted_count++] = wr;
}

static struct rnic_mr *fake_find(struct rnic *r, const void *addr, uint64_t len)
{
	return knows_nothing ? NULL : &all;
}

static const struct rnic_provider fake = { .name = "fake", .post = fake_post, .find = fake_find };

static int setup(void **state)
{
	const struct worker_options wo = { .name = "test", .cpu = -1, .pool_bytes = 1 };
	const struct rnic_qp_options o = { .send_depth = 64 };
	struct err e;
	rnic = (struct rnic){
		.provider = &fake,
		.limits = {.max_send_wr = 64, .max_sge = 1, .max_message = 1 << 20}
	};
	assert_int_equal(worker_new(&rnic.worker, &wo, &e), 0);
	memset(&qp, 0, sizeof qp);
	rnic_qp_init(&qp, &fake, &rnic, &o, NULL, NULL);
	qp.is_established = true;
	rnic_transfers_init(&transfers, &rnic);
	transfers.qp = &qp;
	rnic_sends_init(&sends, &transfers, SLOT);
	sends.limit = LIMIT;
	sends.kept = PER_SLAB - 1;
	posted_count = 0;
	knows_nothing = false;
	done_res = 1;
	return 0;
}

static int teardown(void **state)
{
	rnic_sends_done(&sends);
	rnic_transfers_done(&transfers);
	worker_free(rnic.worker);
	return 0;
}

static void on_done(struct rnic_wr *wr, int res)
{
	done_res = res;
	rnic_send_end(rnic_send_of(wr));
}

static struct rnic_send *get(uint32_t len)
{
	struct rnic_send *t;
	assert_int_equal(rnic_send_get(&sends, &t, len), 0);
	return t;
}

static void a_send_is_posted_and_freed_when_it_is_done(void **state)
{
	struct rnic_send *t = get(100);
	transfers.unsignaled = 5;
	assert_int_equal(rnic_send_post(t, 60, RNIC_LAZY | RNIC_SOLICITED), 0);
	assert_int_equal(posted[0]->bytes, 60);
	assert_int_equal(posted[0]->flags, RNIC_LAZY | RNIC_SOLICITED);
	assert_int_equal(transfers.unsignaled, 0);
	assert_int_equal(transfers.outgoing, 1);
	assert_int_equal(sends.in_flight, 1);
	rnic_wr_done(posted[0], 0);
	assert_int_equal(transfers.outgoing, 0);
	assert_int_equal(sends.in_flight, 0);
	assert_ptr_equal(get(1), t);
}

static void slots_do_not_overlap(void **state)
{
	struct rnic_send *a = get(SLOT), *b = get(SLOT);
	assert_true(a->sge.addr + SLOT <= b->sge.addr || b->sge.addr + SLOT <= a->sge.addr);
	assert_null(a->big);
}

static void a_long_send_has_a_buffer_of_its_own(void **state)
{
	struct rnic_send *t = get(SLOT + 1);
	assert_non_null(t->big);
	assert_ptr_equal(t->sge.addr, t->big->addr);
	rnic_send_put(t);
	t = get(SLOT);
	assert_null(t->big);
}

static void the_number_in_flight_is_limited(void **state)
{
	struct rnic_send *t;
	for (unsigned i = 0; i < LIMIT; i++)
		assert_int_equal(rnic_send_post(get(10), 10, RNIC_LAZY), 0);
	assert_int_equal(rnic_send_get(&sends, &t, 10), -EAGAIN);
	rnic_wr_done(posted[0], 0);
	rnic_send_put(get(10));
	for (unsigned i = 1; i < LIMIT; i++)
		rnic_wr_done(posted[i], 0);
}

static void memory_beyond_what_is_kept_is_freed(void **state)
{
	for (unsigned i = 0; i < LIMIT; i++)
		rnic_send_post(get(10), 10, RNIC_LAZY);
	assert_int_equal(sends.slab_count, 3);
	for (unsigned i = 0; i < LIMIT; i++)
		rnic_wr_done(posted[i], 0);
	assert_int_equal(sends.slab_count, 1);
}

static void without_registered_memory_there_is_no_send(void **state)
{
	struct rnic_send *t;
	knows_nothing = true;
	assert_int_equal(rnic_send_get(&sends, &t, 10), -ENOBUFS);
	assert_int_equal(rnic_sends_add(&sends), -ENOBUFS);
	assert_int_equal(sends.slab_count, 0);
}

static void a_refused_send_is_done_with_the_error(void **state)
{
	struct rnic_send *t = get(10);
	t->wr.done = on_done;
	rnic.limits.max_message = 5;
	assert_int_equal(rnic_send_post(t, 10, RNIC_LAZY), -EINVAL);
	assert_int_equal(done_res, -EINVAL);
	assert_int_equal(sends.in_flight, 0);
	assert_int_equal(transfers.outgoing, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_send_is_posted_and_freed_when_it_is_done),
		TEST(slots_do_not_overlap),
		TEST(a_long_send_has_a_buffer_of_its_own),
		TEST(the_number_in_flight_is_limited),
		TEST(memory_beyond_what_is_kept_is_freed),
		TEST(without_registered_memory_there_is_no_send),
		TEST(a_refused_send_is_done_with_the_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
