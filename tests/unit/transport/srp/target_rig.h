// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel between a role, which does with a command what its tag's plan says,
// and the fake provider, at whose other end the test is the initiator. All on the test's thread.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/counter.h"
#include "core/worker.h"
#include "transport/rdma/fake_rnic.h"
#include "transport/srp/target.h"
#include "transport/wire/be.h"

enum { TASKS = 300, ROOM = 64 << 10, CREDITS = 16, IMM_OFFSET = SRP_IMM_OFFSET };

enum plan { FETCH, WAIT, ANSWER, ABORT, IGNORE };

struct one {
	struct srp_task t;
	struct srp_result result;
	struct sg sg[8];
	enum plan plan;
	uint32_t want, data_in;
	uint32_t piece, moved; // its data moves in pieces of so many bytes; 0: at once
	int data_res;
	unsigned arrivals, answers, releases;
	bool is_held; // between command and released
};

static struct worker *worker;
static struct srp_channel *ch;
static struct rnic_drain drain;
static struct srp_channel_options options;
static struct one one[TASKS];
static uint8_t memory[TASKS][ROOM];
static struct srp_task_mgmt last_tmf;
static unsigned tmfs, logouts, closes;
static struct err closed_why;
static bool ends_on_close; // the role ends its tasks in closed

// --- the role ---

static inline struct one *one_of(struct srp_task *t)
{
	return container_of(t, struct one, t);
}

// The next piece of len bytes is what sg has; its length.
static inline uint32_t next_piece(struct one *o, uint32_t len)
{
	uint32_t n = !o->piece || len < o->piece ? len : o->piece;
	if (!o->piece)
		return n;
	o->sg[0] = (struct sg){ .addr = memory[o - one] + o->moved, .len = n };
	o->moved += n;
	return n;
}

static inline void fetch(unsigned i)
{
	uint32_t n = next_piece(&one[i], one[i].want - one[i].moved);
	srp_get_data(&one[i].t, one[i].sg, 8, n);
}

static inline void answer(unsigned i)
{
	struct one *o = &one[i];
	uint32_t n = next_piece(o, o->data_in);
	o->data_in -= n;
	if (o->data_in) {
		srp_put_part(&o->t, o->sg, 8, n);
		return;
	}
	o->result.sg = o->sg;
	o->result.nsg = 8;
	o->result.data_len = n;
	srp_put_data(&o->t, &o->result);
}

static inline void drop(unsigned i)
{
	srp_put_data(&one[i].t, NULL);
}

static struct srp_task *on_command(struct srp_channel *c, const struct srp_command *cmd)
{
	assert_true(cmd->tag < TASKS);
	struct one *o = &one[cmd->tag];
	o->arrivals++;
	if (o->plan == IGNORE)
		return NULL;
	assert_false(o->is_held);
	o->is_held = true;
	return &o->t;
}

static void on_begin(struct srp_channel *c, struct srp_task *t)
{
	struct one *o = one_of(t);
	unsigned i = (unsigned)(o - one);
	if (o->plan == FETCH)
		fetch(i);
	else if (o->plan == ANSWER)
		answer(i);
	else if (o->plan == ABORT)
		drop(i);
}

static void on_data(struct srp_channel *c, struct srp_task *t, int res)
{
	struct one *o = one_of(t);
	assert_false(t->is_fetching);
	o->answers++;
	o->data_res = res;
	o->data_in = 0;
	if (!res && o->piece && o->moved < o->want)
		fetch((unsigned)(o - one));
	else
		answer((unsigned)(o - one));
}

static void on_part(struct srp_channel *c, struct srp_task *t, int res)
{
	struct one *o = one_of(t);
	o->answers++;
	o->data_res = res;
	if (res)
		o->data_in = 0;
	answer((unsigned)(o - one));
}

static void on_released(struct srp_channel *c, struct srp_task *t)
{
	struct one *o = one_of(t);
	assert_true(o->is_held);
	o->is_held = false;
	o->releases++;
	memset(t, 0xa5, sizeof *t); // the next command's
}

static void on_task_mgmt(struct srp_channel *c, const struct srp_task_mgmt *m)
{
	last_tmf = *m;
	tmfs++;
}

static void on_logout(struct srp_channel *c)
{
	logouts++;
}

static void on_closed(struct srp_channel *c, const struct err *why)
{
	closed_why = *why;
	closes++;
	for (unsigned i = 0; ends_on_close && i < TASKS; i++)
		if (one[i].is_held)
			drop(i);
}

static const struct srp_channel_up up = {
	.command = on_command,
	.begin = on_begin,
	.data = on_data,
	.part = on_part,
	.released = on_released,
	.task_mgmt = on_task_mgmt,
	.logout = on_logout,
	.closed = on_closed,
};

// --- the rig ---

static inline int make_workers(void **state)
{
	struct worker_options o = { .name = "test", .cpu = -1, .pool_bytes = 8 << 20 };
	struct err e;
	return worker_new(&worker, &o, &e);
}

static inline int free_workers(void **state)
{
	worker_free(worker);
	return 0;
}

static inline int setup(void **state)
{
	fake_init(worker);
	memset(one, 0, sizeof one);
	for (unsigned i = 0; i < TASKS; i++)
		for (unsigned k = 0; k < 8; k++)
			one[i].sg[k] = (struct sg){ memory[i] + k * (ROOM / 8), ROOM / 8, NULL };
	for (unsigned i = 0; i < FAKE_REMOTE; i++)
		fake.remote[i] = (uint8_t)(i * 7 + i / 256);
	rnic_drain_init(&drain);
	tmfs = logouts = closes = 0;
	ends_on_close = true;
	options = (struct srp_channel_options){
		.accept = {.tag = 99,
			    .credits = CREDITS,
			    .it_iu_len = SRP_IT_IU_MAX,
			    .ti_iu_len = 256,
			    .formats = SRP_FMT_DIRECT | SRP_FMT_INDIRECT,
			    .flags = SRP_IMMED_SUPPORTED},
		.imm_offset = IMM_OFFSET,
		.drain = &drain,
	};
	return 0;
}

static inline void open_channel(void)
{
	struct err e;
	assert_int_equal(srp_channel_new(&ch, &fake.request, &options, &up, NULL, &e), 0);
}

// Ends what is open; nothing may be left behind.
static inline void shut(void)
{
	if (!closes)
		fake_end(-ECONNRESET);
	for (unsigned i = 0; i < TASKS; i++)
		assert_false(one[i].is_held);
	srp_channel_free(ch);
	assert_int_equal(fake.rx_out, 0);
	assert_int_equal(fake.reserved, 0);
	assert_int_equal(drain.draining, 0);
	assert_int_equal(drain.held_count, 0);
}

static inline uint64_t copied_bytes(void)
{
	return counter_get(&worker_counters(worker)->payload_copy_bytes);
}

static inline uint32_t credits_left(void)
{
	struct srp_channel_info i;
	srp_channel_info(ch, &i);
	return i.credits;
}

// --- the initiator ---

// One direction of a command.
struct side {
	uint8_t format;
	uint32_t len;		      // of the data; of immediate data, too
	const struct srp_desc *descs; // count of them are in the IU
	uint32_t count, entries;      // entries: of the table; 0: count
	uint64_t table;		      // its address
};

static inline uint32_t side_put(uint8_t *at, const struct side *s)
{
	if (s->format == SRP_DIRECT) {
		srp_desc_put(at, s->descs);
		return SRP_DIRECT_LEN;
	}
	if (s->format == SRP_IMMEDIATE) {
		put_be32(at, s->len);
		return SRP_IMMEDIATE_LEN;
	}
	if (s->format != SRP_INDIRECT)
		return 0;
	uint32_t entries = s->entries ? s->entries : s->count;
	const struct srp_desc table = { s->table, FAKE_RKEY, entries * SRP_DIRECT_LEN };
	srp_desc_put(at, &table);
	put_be32(at + SRP_DIRECT_LEN, s->len);
	for (uint32_t i = 0; i < s->count; i++)
		srp_desc_put(at + SRP_INDIRECT_LEN + i * SRP_DIRECT_LEN, &s->descs[i]);
	return SRP_INDIRECT_LEN + s->count * SRP_DIRECT_LEN;
}

// A CMD IU; its immediate data is 0x80 + tag + offset.
static inline void command(uint64_t tag, struct side out, struct side in)
{
	static const uint8_t lun[8], cdb[SRP_CDB_LEN];
	static uint8_t iu[SRP_IT_IU_MAX];
	memset(iu, 0, sizeof iu);
	srp_command_put(iu, tag, lun, 0, cdb);
	struct srp_cmd *c = (void *)iu;
	c->buf_fmt = (uint8_t)(out.format << 4 | in.format);
	c->out_count = (uint8_t)out.count;
	c->in_count = (uint8_t)in.count;
	uint32_t len = SRP_CMD_LEN;
	len += side_put(iu + len, &out);
	len += side_put(iu + len, &in);
	if (out.format == SRP_IMMEDIATE) {
		for (uint32_t i = 0; i < out.len; i++)
			iu[IMM_OFFSET + i] = (uint8_t)(0x80 + tag + i);
		len = IMM_OFFSET + out.len;
	}
	fake_receive(iu, len);
}

static const struct side none;

static inline void read_direct(uint64_t tag, uint64_t va, uint32_t len)
{
	const struct srp_desc d = { va, FAKE_RKEY, len };
	command(tag, none, (struct side){ .format = SRP_DIRECT, .len = len, .descs = &d });
}

static inline void write_direct(uint64_t tag, uint64_t va, uint32_t len)
{
	const struct srp_desc d = { va, FAKE_RKEY, len };
	command(tag, (struct side){ .format = SRP_DIRECT, .len = len, .descs = &d }, none);
}

// A table of entries descriptors in the initiator's memory.
static inline void table_put(uint64_t at, const struct srp_desc *descs, uint32_t entries)
{
	for (uint32_t i = 0; i < entries; i++)
		srp_desc_put(fake.remote + at + i * SRP_DIRECT_LEN, &descs[i]);
}

static inline void task_mgmt(uint64_t tag, uint64_t task_tag)
{
	static const uint8_t lun[8];
	uint8_t iu[SRP_TSK_MGMT_LEN];
	srp_task_mgmt_put(iu, &(struct srp_task_mgmt){ .tag = tag,
						       .task_tag = task_tag,
						       .lun = lun,
						       .function = SRP_TMF_ABORT_TASK });
	fake_receive(iu, sizeof iu);
}

static inline void say_short(enum srp_opcode opcode, uint64_t tag)
{
	uint8_t iu[SRP_SHORT_LEN];
	srp_short_put(iu, opcode, tag, 0);
	fake_receive(iu, sizeof iu);
}

// The n-th send, which is a RSP.
static inline struct srp_response heard(unsigned n)
{
	struct srp_response r;
	struct err e;
	assert_true(n < fake.sent_count);
	assert_int_equal(srp_response_parse(&r, fake.sent[n].data, fake.sent[n].len, &e), 0);
	return r;
}

// The n-th send is of this opcode; its value.
static inline uint32_t heard_short(unsigned n, enum srp_opcode opcode, uint64_t *ret_tag)
{
	uint64_t tag;
	uint32_t value;
	struct err e;
	assert_true(n < fake.sent_count);
	assert_int_equal(fake.sent[n].data[0], opcode);
	assert_int_equal(srp_short_parse(&tag, &value, fake.sent[n].data, fake.sent[n].len, &e), 0);
	if (ret_tag)
		*ret_tag = tag;
	return value;
}
