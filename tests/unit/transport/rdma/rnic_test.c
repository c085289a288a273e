// SPDX-License-Identifier: BSD-2-Clause
// What waits in software: requests beyond the depth, reads beyond the agreed number, fences.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "transport/rdma/rnic.h"

#define WRS 8

static struct rnic_wr *posted[WRS];
static unsigned posted_count;
static int done_res[WRS];
static struct rnic_wr wrs[WRS];
static uint8_t memory[256];
static struct rnic rnic = {
	.limits = {.max_send_wr = 4, .max_sge = 2, .max_read_sge = 1, .max_message = 128}
};
static struct rnic_mr mr = { .rnic = &rnic, .addr = memory, .len = sizeof memory };
static struct rnic_qp qp;

static void fake_post(struct rnic_qp *q, struct rnic_wr *wr)
{
	posted[posted_count++] = wr;
}

static const struct rnic_provider fake = { .name = "fake", .post = fake_post };

static void on_done(struct rnic_wr *wr, int res)
{
	done_res[wr - wrs] = res ? res : 1;
}

static int setup(void **state)
{
	struct rnic_qp_options o = { .send_depth = 3, .reads_out = 1 };

	memset(&qp, 0, sizeof qp);
	memset(wrs, 0, sizeof wrs);
	memset(done_res, 0, sizeof done_res);
	posted_count = 0;
	rnic_qp_init(&qp, &fake, &rnic, &o, NULL, NULL);
	qp.is_established = true;
	return 0;
}

static int post(unsigned i, enum rnic_opcode opcode, unsigned flags)
{
	wrs[i].opcode = opcode;
	wrs[i].flags = flags;
	wrs[i].done = on_done;
	return rnic_post(&qp, &wrs[i]);
}

static void assert_posted(const char *which)
{
	assert_int_equal(posted_count, strlen(which));
	for (unsigned i = 0; i < posted_count; i++)
		assert_int_equal(posted[i] - wrs, which[i] - '0');
}

static void requests_beyond_the_depth_wait_their_turn(void **state)
{
	for (unsigned i = 0; i < 5; i++)
		post(i, RNIC_SEND, 0);
	assert_posted("012");
	rnic_wr_done(&wrs[0], 0);
	assert_posted("0123");
	rnic_wr_done(&wrs[1], 0);
	assert_posted("01234");
	assert_int_equal(done_res[0], 1);
}

static void a_read_too_many_waits_and_holds_up_nothing(void **state)
{
	post(0, RNIC_READ, 0);
	post(1, RNIC_READ, 0);
	post(2, RNIC_WRITE, 0);
	post(3, RNIC_SEND, 0);
	assert_posted("023");
	rnic_wr_done(&wrs[0], 0);
	assert_posted("0231");
}

static void reads_leave_room_for_other_requests(void **state)
{
	qp.send_depth = qp.reads_out = 4;
	for (unsigned i = 0; i < 5; i++)
		post(i, RNIC_READ, 0);
	post(5, RNIC_SEND, 0);
	assert_posted("0125");
	rnic_wr_done(&wrs[5], 0);
	assert_posted("0125");
	rnic_wr_done(&wrs[0], 0);
	assert_posted("01253");
}

static void a_fence_waits_for_every_earlier_read(void **state)
{
	post(0, RNIC_READ, 0);
	post(1, RNIC_READ, 0);
	post(2, RNIC_SEND, RNIC_FENCE);
	post(3, RNIC_SEND, 0);
	assert_posted("0");
	rnic_wr_done(&wrs[0], 0);
	assert_posted("01");
	rnic_wr_done(&wrs[1], 0);
	assert_posted("0123");
}

static void what_does_not_fit_is_refused(void **state)
{
	struct rnic_sge sge[3] = {
		{memory,  8, &mr},
		    { memory, 8, &mr},
		{ memory, 8, &mr}
	};

	wrs[0].sge = sge;
	wrs[0].nsge = 3;
	assert_int_equal(post(0, RNIC_SEND, 0), -EINVAL);
	wrs[0].nsge = 2;
	assert_int_equal(post(0, RNIC_READ, 0), -EINVAL);
	sge[1].len = 121; // 129 in all
	assert_int_equal(post(0, RNIC_SEND, 0), -EINVAL);
	sge[1] = (struct rnic_sge){ memory + 250, 7, &mr };
	assert_int_equal(post(0, RNIC_SEND, 0), -EINVAL);
	mr.addr = memory + 8;
	sge[1] = (struct rnic_sge){ memory + 7, 1, &mr };
	assert_int_equal(post(0, RNIC_SEND, 0), -EINVAL);
	mr.addr = memory;
	sge[1] = (struct rnic_sge){ memory, 1, NULL };
	assert_int_equal(post(0, RNIC_SEND, 0), -EINVAL);
	assert_posted("");
}

static void what_waits_is_cancelled_at_the_end(void **state)
{
	for (unsigned i = 0; i < 5; i++)
		post(i, i < 2 ? RNIC_READ : RNIC_SEND, 0);
	assert_posted("023");
	qp.is_closing = true;
	rnic_wr_done(&wrs[0], -ECANCELED);
	assert_posted("023");
	rnic_qp_flush_waiting(&qp);
	assert_int_equal(done_res[1], -ECANCELED);
	assert_int_equal(done_res[4], -ECANCELED);
}

static void a_lingering_close_sends_what_waits_but_no_reads_nor_what_they_fence(void **state)
{
	for (unsigned i = 0; i < 3; i++)
		post(i, RNIC_SEND, 0);
	post(3, RNIC_SEND, 0);
	post(4, RNIC_READ, 0);
	post(5, RNIC_SEND, 0);
	post(6, RNIC_SEND, RNIC_FENCE);
	post(7, RNIC_SEND, 0);
	rnic_qp_linger(&qp);
	for (unsigned i = 0; i < 3; i++)
		rnic_wr_done(&wrs[i], 0);
	assert_posted("01235");
	rnic_wr_done(&wrs[3], 0);
	rnic_wr_done(&wrs[5], 0);
	assert_posted("01235");
	rnic_qp_flush_waiting(&qp);
	assert_int_equal(done_res[4], -ECANCELED);
	assert_int_equal(done_res[6], -ECANCELED);
	assert_int_equal(done_res[7], -ECANCELED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(requests_beyond_the_depth_wait_their_turn, setup),
		cmocka_unit_test_setup(a_read_too_many_waits_and_holds_up_nothing, setup),
		cmocka_unit_test_setup(reads_leave_room_for_other_requests, setup),
		cmocka_unit_test_setup(a_fence_waits_for_every_earlier_read, setup),
		cmocka_unit_test_setup(what_does_not_fit_is_refused, setup),
		cmocka_unit_test_setup(what_waits_is_cancelled_at_the_end, setup),
		cmocka_unit_test_setup(
			a_lingering_close_sends_what_waits_but_no_reads_nor_what_they_fence, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
