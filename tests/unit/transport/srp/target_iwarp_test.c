// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel over software iWARP, an initiator at the other end: the login in
// the private data, data both ways through descriptors and external tables, without a copy.
#include "transport/rdma/iwarp/rig.h"

#include "core/counter.h"
#include "transport/srp/target.h"

enum { LEN = 1 << 20, PARTS = 16, TABLE = 4096 };

static struct side a, b; // the initiator; the target's worker
static struct rnic_listener *listener;
static struct srp_channel *ch;
static struct rnic_drain drain;
static struct srp_task task;
static struct srp_result result;
static struct buf *data[2]; // of the initiator, of the target
static struct sg sg;
static unsigned begins, releases, closes;
static int data_res;
static bool is_write;

// --- the target's role: one task at a time ---

static struct srp_task *on_command(struct srp_channel *c, const struct srp_command *cmd)
{
	return &task;
}

static void answer(void)
{
	result = (struct srp_result){ .sg = &sg, .nsg = 1, .data_len = is_write ? 0 : LEN };
	srp_put_data(&task, &result);
}

static void on_begin(struct srp_channel *c, struct srp_task *t)
{
	NOTE(begins++);
	sg = (struct sg){ .addr = data[1]->addr, .len = LEN };
	if (is_write)
		srp_get_data(t, &sg, 1, LEN);
	else
		answer();
}

static void on_data(struct srp_channel *c, struct srp_task *t, int res)
{
	NOTE(data_res = res);
	answer();
}

static void on_released(struct srp_channel *c, struct srp_task *t)
{
	NOTE(releases++);
}

static void on_task_mgmt(struct srp_channel *c, const struct srp_task_mgmt *m)
{
	srp_answer_tmf(c, m->tag, SRP_RSP_TMF_UNSUPPORTED);
}

static void on_logout(struct srp_channel *c)
{
	struct err why;
	err_set(&why, -ESHUTDOWN, "logout");
	srp_channel_close(c, true, SRP_LOGOUT_NO_REASON, &why);
}

static void on_channel_closed(struct srp_channel *c, const struct err *why)
{
	srp_channel_free(c);
	NOTE(closes++);
}

static const struct srp_channel_up up = {
	.command = on_command,
	.begin = on_begin,
	.data = on_data,
	.part = on_data,
	.released = on_released,
	.task_mgmt = on_task_mgmt,
	.logout = on_logout,
	.closed = on_channel_closed,
};

// --- the rig ---

static void listen_here(void *x, void *y)
{
	struct tcp_addr addr;
	struct err e;
	MUST(!tcp_addr_parse(&addr, "127.0.0.1", 0, &e));
	MUST(!rnic_listen(&rnic_iwarp, &listener, b.w, &addr, &listener_ops, &b, &e));
	MUST((data[1] = buf_get(b.w, LEN)));
}

static void unlisten_here(void *x, void *y)
{
	rnic_listener_free(listener);
	buf_put(data[1]);
}

static void connect_here(void *x, void *y)
{
	struct err e;
	MUST(!rnic_connect(&rnic_iwarp, &a.qp, a.w, rnic_listener_addr(listener), NULL, &a.options,
			   &qp_ops, &a, &e));
	a.rnic = a.qp->rnic;
	MUST((data[0] = buf_get(a.w, LEN)));
}

static void accept_here(void *x, void *y)
{
	const struct srp_channel_options o = {
		.accept = {.tag = 7,
			    .credits = 8,
			    .it_iu_len = SRP_IT_IU_MAX,
			    .ti_iu_len = 256,
			    .formats = SRP_FMT_DIRECT | SRP_FMT_INDIRECT},
		.drain = &drain,
	};
	struct err e;
	MUST(!srp_channel_new(&ch, b.request, &o, &up, NULL, &e));
}

static void put_data_here(void *x, void *y)
{
	buf_put(data[0]);
}

static int setup(void **state)
{
	struct srp_accept accept;
	struct err e;
	begins = releases = closes = 0;
	rnic_drain_init(&drain);
	side_start(&a, "initiator");
	side_start(&b, "target");
	run(&b, listen_here, NULL, NULL);
	b.ignores = true;
	run(&a, connect_here, NULL, NULL);
	WAIT(b.requests);
	run(&b, accept_here, NULL, NULL);
	WAIT(a.established);
	assert_int_equal(srp_accept_parse(&accept, a.private_data, a.private_len, &e), 0);
	assert_int_equal(accept.tag, 7);
	assert_int_equal(accept.credits, 8);
	run(&a, reserve_here, &a, (void *)16);
	return 0;
}

static int teardown(void **state)
{
	run(&a, close_here, &a, NULL);
	WAIT(!a.qp && closes);
	run(&b, unlisten_here, NULL, NULL);
	run(&a, put_data_here, NULL, NULL);
	side_stop(&a);
	side_stop(&b);
	return 0;
}

// --- the initiator ---

static void fill(uint8_t *p, uint32_t n, unsigned from)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + i / 251 + from);
}

static uint64_t copied(struct worker *w)
{
	return counter_get(&worker_counters(w)->payload_copy_bytes);
}

// PARTS pieces of the exposed memory, the last one first.
static void parts_of(struct srp_desc *d)
{
	for (unsigned i = 0; i < PARTS; i++)
		d[i] = (struct srp_desc){ a.x.remote_addr + (PARTS - 1 - i) * (LEN / PARTS),
					  a.x.rkey, LEN / PARTS };
}

static void assert_parts_equal(void)
{
	for (unsigned i = 0; i < PARTS; i++)
		assert_memory_equal(data[0]->addr + (PARTS - 1 - i) * (LEN / PARTS),
				    data[1]->addr + i * (LEN / PARTS), LEN / PARTS);
}

// A command with in_iu of the PARTS descriptors; the whole table is at the end of the memory.
static void command(struct req *r, uint8_t *iu, unsigned in_iu)
{
	static const uint8_t lun[8], cdb[SRP_CDB_LEN];
	struct srp_desc d[PARTS];
	uint64_t at = a.x.remote_addr + LEN;
	struct srp_desc table = { at, a.x.rkey, PARTS * SRP_DIRECT_LEN };
	srp_command_put(iu, 42, lun, 0, cdb);
	struct srp_cmd *c = (void *)iu;
	c->buf_fmt = SRP_INDIRECT << (is_write ? 4 : 0);
	*(is_write ? &c->out_count : &c->in_count) = (uint8_t)in_iu;
	srp_desc_put(iu + SRP_CMD_LEN, &table);
	put_be32(iu + SRP_CMD_LEN + SRP_DIRECT_LEN, LEN);
	parts_of(d);
	for (unsigned i = 0; i < in_iu; i++)
		srp_desc_put(iu + SRP_CMD_LEN + SRP_INDIRECT_LEN + i * SRP_DIRECT_LEN, &d[i]);
	uint32_t len = SRP_CMD_LEN + SRP_INDIRECT_LEN + in_iu * SRP_DIRECT_LEN;
	post(req_init(r, &a, RNIC_SEND, iu, len));
}

static void move(bool writes, unsigned in_iu)
{
	static struct req r;
	static uint8_t iu[SRP_IT_IU_MAX], table[TABLE];
	struct srp_desc d[PARTS];
	struct srp_response rsp;
	struct err e;
	struct sg mine[2] = {
		{.addr = data[0]->addr, .len = LEN  },
		       { .addr = table,	.len = TABLE}
	};
	is_write = writes;
	fill(data[0]->addr, LEN, 1);
	fill(data[1]->addr, LEN, 9);
	expose(&a, mine, 2, LEN + TABLE, RNIC_REMOTE_READ | RNIC_REMOTE_WRITE);
	parts_of(d);
	for (unsigned i = 0; i < PARTS; i++)
		srp_desc_put(table + i * SRP_DIRECT_LEN, &d[i]);
	uint64_t before = copied(b.w);
	command(&r, iu, in_iu);
	WAIT(a.received == 1 && releases == 1);
	assert_int_equal(srp_response_parse(&rsp, a.rx[0].data, a.rx[0].len, &e), 0);
	assert_int_equal(rsp.tag, 42);
	assert_int_equal(rsp.credits, 1);
	assert_false(rsp.has_code);
	assert_parts_equal();
	// Software iWARP counts a table that arrives together with its header.
	assert_in_range(copied(b.w) - before, 0, in_iu < PARTS ? PARTS * SRP_DIRECT_LEN : 0);
}

static void data_in_goes_to_many_descriptors_without_a_copy(void **state)
{
	move(false, PARTS);
}

static void data_out_comes_from_many_descriptors_without_a_copy(void **state)
{
	move(true, PARTS);
	assert_int_equal(data_res, 0);
}

static void data_in_goes_through_an_external_table_without_a_copy(void **state)
{
	move(false, 0);
}

static void data_out_comes_through_an_external_table_without_a_copy(void **state)
{
	move(true, 3);
	assert_int_equal(data_res, 0);
}

// The table lies outside of the exposed memory.
static void a_table_that_is_not_exposed_ends_the_channel(void **state)
{
	static struct req r;
	static uint8_t iu[SRP_IT_IU_MAX];
	struct sg mine = { .addr = data[0]->addr, .len = LEN };
	is_write = true;
	expose(&a, &mine, 1, LEN, RNIC_REMOTE_READ);
	command(&r, iu, 0);
	WAIT(begins == 1 && closes);
}

static void a_logout_ends_the_channel(void **state)
{
	static struct req r;
	static uint8_t iu[SRP_SHORT_LEN];
	srp_short_put(iu, SRP_I_LOGOUT, 1, 0);
	post(req_init(&r, &a, RNIC_SEND, iu, sizeof iu));
	WAIT(a.received == 1);
	assert_int_equal(a.rx[0].data[0], SRP_T_LOGOUT);
	WAIT(closes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(data_in_goes_to_many_descriptors_without_a_copy,
						setup, teardown),
		cmocka_unit_test_setup_teardown(data_out_comes_from_many_descriptors_without_a_copy,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			data_in_goes_through_an_external_table_without_a_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(
			data_out_comes_through_an_external_table_without_a_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(a_table_that_is_not_exposed_ends_the_channel, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_logout_ends_the_channel, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
