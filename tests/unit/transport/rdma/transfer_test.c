// SPDX-License-Identifier: BSD-2-Clause
// Transfers over a device that collects requests: how they are cut, signaled, and what becomes of
// memory that the device does not know.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/worker.h"
#include "transport/rdma/transfer.h"

#define POSTED_MAX 64

static struct rnic_wr *posted[POSTED_MAX];
static unsigned posted_count;
static uint8_t memory[4096], unknown[4096];
static struct rnic rnic;
static struct rnic_mr mr = { .rnic = &rnic, .addr = memory, .len = sizeof memory };
static struct rnic_mr pool_mr = { .rnic = &rnic, .addr = NULL, .len = UINT64_MAX };
static struct rnic_qp qp;
static struct rnic_transfers transfers;
static struct rnic_transfer move;
static bool is_wanted;

static void fake_post(struct rnic_qp *q, struct rnic_wr *wr)
{
	posted[posted_count++] = wr;
}

static bool is_in(const void *addr, const uint8_t *of, size_t len)
{
	return (uintptr_t)addr >= (uintptr_t)of && (uintptr_t)addr < (uintptr_t)of + len;
}

static struct rnic_mr *fake_find(struct rnic *r, const void *addr, uint64_t len)
{
	if (is_in(addr, unknown, sizeof unknown))
		return NULL;
	return is_in(addr, memory, sizeof memory) ? &mr : &pool_mr;
}

static const struct rnic_provider fake = { .name = "fake", .post = fake_post, .find = fake_find };

static void on_done(struct rnic_wr *wr, int res)
{
	assert_ptr_equal(rnic_transfer_of(wr), &move);
	rnic_transfer_end(wr, is_wanted);
}

static int setup(void **state)
{
	const struct worker_options wo = { .name = "test", .cpu = -1, .pool_bytes = 1 };
	const struct rnic_qp_options o = { .send_depth = POSTED_MAX, .reads_out = POSTED_MAX };
	struct err e;

	rnic = (struct rnic){
		.provider = &fake,
		.limits = {.max_send_wr = POSTED_MAX,
			    .max_sge = 2,
			    .max_read_sge = 1,
			    .max_message = 1 << 20}
	};
	assert_int_equal(worker_new(&rnic.worker, &wo, &e), 0);
	memset(&qp, 0, sizeof qp);
	rnic_qp_init(&qp, &fake, &rnic, &o, NULL, NULL);
	qp.is_established = true;
	rnic_transfers_init(&transfers, &rnic);
	transfers.qp = &qp;
	move = (struct rnic_transfer){ .of = &transfers, .rkey = 7, .remote = 1000 };
	posted_count = 0;
	is_wanted = true;
	return 0;
}

static int teardown(void **state)
{
	rnic_transfers_done(&transfers);
	worker_free(rnic.worker);
	return 0;
}

static void start(enum rnic_opcode opcode, struct sg *sg, uint32_t nsg, uint32_t at, uint32_t end)
{
	move.opcode = opcode;
	rnic_transfer_begin(&move, sg, nsg, at, end);
	assert_int_equal(rnic_transfer_post(&move, on_done), 0);
}

static void end_all(void)
{
	for (unsigned i = 0; i < posted_count; i++)
		rnic_wr_done(posted[i], 0);
	assert_int_equal(move.in_flight, 0);
}

static void a_request_has_as_many_pieces_as_the_device_takes(void **state)
{
	struct sg sg[3] = {
		{memory,	  16},
		{ memory + 100, 16},
		      { memory + 200, 16}
	};

	start(RNIC_WRITE, sg, 3, 0, 48);
	assert_int_equal(posted_count, 2);
	assert_int_equal(posted[0]->nsge, 2);
	assert_int_equal(posted[1]->remote_addr, 1032);
	assert_int_equal(posted[1]->rkey, 7);
	assert_int_equal(transfers.outgoing, 2);
	end_all();
	assert_int_equal(transfers.outgoing, 0);
}

static void it_begins_and_ends_within_pieces(void **state)
{
	struct sg sg[2] = {
		{memory,	  16},
		{ memory + 100, 16}
	};

	start(RNIC_READ, sg, 2, 20, 24);
	assert_int_equal(posted_count, 1);
	assert_ptr_equal(posted[0]->sge[0].addr, memory + 104);
	assert_int_equal(posted[0]->sge[0].len, 4);
	assert_int_equal(posted[0]->remote_addr, 1020);
	assert_int_equal(move.reads, 1);
	end_all();
	assert_int_equal(move.reads, 0);
}

static void reads_are_signaled_and_one_write_in_32(void **state)
{
	struct sg sg[40];

	rnic.limits.max_sge = 1;
	for (unsigned i = 0; i < 40; i++)
		sg[i] = (struct sg){ .addr = memory + 16 * i, .len = 16 };
	start(RNIC_WRITE, sg, 40, 0, 640);
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(posted[i]->flags, i == 31 ? RNIC_LAZY : 0);
	end_all();
	posted_count = 0;
	start(RNIC_READ, sg, 1, 0, 16);
	assert_int_equal(posted[0]->flags, RNIC_SIGNALED);
	end_all();
}

static void unknown_memory_is_written_from_a_buffer(void **state)
{
	struct sg sg[2] = {
		{memory,	  16  },
		{ unknown, 1024}
	};

	memset(unknown, 0x5a, sizeof unknown);
	start(RNIC_WRITE, sg, 2, 0, 1040);
	assert_int_equal(posted_count, 2);
	assert_ptr_not_equal(posted[1]->sge[0].addr, unknown);
	assert_memory_equal(posted[1]->sge[0].addr, unknown, 1024);
	assert_int_equal(posted[1]->flags, RNIC_SIGNALED);
	assert_int_equal(transfers.copied.bytes, 1024);
	end_all();
}

// Runs a read into unknown memory, which brings ones.
static void read_unknown(void)
{
	struct sg sg = { unknown, 600 };

	memset(unknown, 0, sizeof unknown);
	start(RNIC_READ, &sg, 1, 0, 600);
	memset(posted[0]->sge[0].addr, 1, 600);
	end_all();
}

static void what_a_read_brings_goes_to_unknown_memory(void **state)
{
	read_unknown();
	assert_int_equal(unknown[599], 1);
}

static void what_an_aborted_read_brings_is_dropped(void **state)
{
	is_wanted = false;
	read_unknown();
	assert_int_equal(unknown[0], 0);
}

static void without_a_buffer_it_goes_on_where_it_stopped(void **state)
{
	struct sg sg[2] = {
		{memory,	  16},
		{ unknown, 16}
	};
	struct buf *all[16];
	unsigned n = 0;

	while (n < 16 && (all[n] = buf_get(rnic.worker, BUF_MAX)))
		n++;
	assert_in_range(n, 1, 15);
	move.opcode = RNIC_WRITE;
	rnic_transfer_begin(&move, sg, 2, 0, 32);
	assert_int_equal(rnic_transfer_post(&move, on_done), -EAGAIN);
	assert_int_equal(posted_count, 1);
	buf_put(all[--n]);
	assert_int_equal(rnic_transfer_post(&move, on_done), 0);
	assert_int_equal(posted_count, 2);
	assert_int_equal(posted[1]->remote_addr, 1016);
	end_all();
	while (n)
		buf_put(all[--n]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_has_as_many_pieces_as_the_device_takes),
		TEST(it_begins_and_ends_within_pieces),
		TEST(reads_are_signaled_and_one_write_in_32),
		TEST(unknown_memory_is_written_from_a_buffer),
		TEST(without_a_buffer_it_goes_on_where_it_stopped),
		TEST(what_a_read_brings_goes_to_unknown_memory),
		TEST(what_an_aborted_read_brings_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
