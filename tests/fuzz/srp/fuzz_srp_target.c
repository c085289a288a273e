// SPDX-License-Identifier: BSD-2-Clause
// The target's end of an SRP channel between a hostile initiator and a role that does everything a
// role may: IUs, completions in between, aborts, task management, closes. Records of one byte that
// says what happens and what that needs. Nothing is moved outside of the role's memory, the
// credits never exceed the limit, in the end every task was released once, and no buffer is left.
#include <stdlib.h>

#define assert_true(x)                                                                             \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)
#define assert_int_equal(a, b) assert_true((a) == (b))

#include "transport/rdma/fake_rnic.h"
#include "transport/srp/target.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 16, CREDITS = 12, WANT_MAX = 20000, REMOTE = 20000 };
enum plan { FETCH, WAIT, ANSWER, ABORT, IGNORE, PLANS };
enum action {
	RAW,
	COMMAND,
	COMPLETE,
	DO_FETCH,
	DO_ANSWER,
	DO_DROP,
	TMF,
	SHORT,
	ASK,
	CLOSE,
	END,
	ACTIONS
};

struct one {
	struct srp_task t;
	struct srp_result result;
	struct sg sg[2];
	uint8_t *memory; // of exactly want bytes
	bool is_live, is_fetching, has_fetched, is_sending, is_ended;
	bool has_piece; // the first piece of its data is moved
};

struct input {
	const uint8_t *at;
	size_t left;
};

static struct worker *worker;
static struct srp_channel *ch;
static struct rnic_drain drain;
static struct one one[TASKS];
static enum plan plan;
static uint32_t want;
static bool is_gone;

static uint8_t take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

// --- the role ---

static void make_memory(struct one *o)
{
	free(o->memory);
	o->memory = calloc(1, want ? want : 1);
	o->sg[0] = (struct sg){ .addr = o->memory, .len = want / 3 };
	o->sg[1] = (struct sg){ .addr = o->memory + want / 3, .len = want - want / 3 };
}

static void fetch(struct one *o)
{
	if (!o->is_live || o->has_fetched || o->is_ended || !want)
		return;
	make_memory(o);
	o->is_fetching = o->has_fetched = true;
	srp_get_data(&o->t, o->sg, 2, want);
}

static void answer(struct one *o)
{
	static const uint8_t sense[252] = { 0x72 };
	if (!o->is_live || o->is_ended || o->is_fetching || o->is_sending)
		return;
	make_memory(o);
	if (want % 5 == 4 && !o->has_piece && o->t.in.len > want) {
		o->is_sending = o->has_piece = true;
		srp_put_part(&o->t, o->sg, 2, want);
		return;
	}
	o->is_ended = true;
	o->result = (struct srp_result){ .sg = o->sg, .nsg = 2, .data_len = want };
	o->result.sense = sense;
	o->result.sense_len = want & 1 ? sizeof sense : 0;
	srp_put_data(&o->t, &o->result);
}

static void drop(struct one *o)
{
	if (!o->is_live || o->is_ended)
		return;
	o->is_ended = true;
	srp_put_data(&o->t, NULL);
}

static struct srp_task *on_command(struct srp_channel *c, const struct srp_command *cmd)
{
	uint8_t tag[8], touched = 0;
	memcpy(tag, &cmd->tag, sizeof tag);
	struct one *o = &one[tag[0] % TASKS];
	for (uint32_t i = 0; i < cmd->cdb_len; i++)
		touched ^= cmd->cdb[i];
	if (o->is_live || (plan == IGNORE && touched != 1))
		return NULL;
	o->is_live = true;
	o->is_fetching = o->has_fetched = o->is_sending = o->is_ended = o->has_piece = false;
	return &o->t;
}

static void on_begin(struct srp_channel *c, struct srp_task *t)
{
	struct one *o = container_of(t, struct one, t);
	if (plan == FETCH)
		fetch(o);
	else if (plan == ANSWER)
		answer(o);
	else if (plan == ABORT)
		drop(o);
}

static void on_data(struct srp_channel *c, struct srp_task *t, int res)
{
	struct one *o = container_of(t, struct one, t);
	assert_true(o->is_live && o->is_fetching && !o->is_ended && !t->is_fetching);
	o->is_fetching = false;
	if (res || want % 5 != 3 || o->has_piece) {
		answer(o);
		return;
	}
	o->has_piece = true;
	o->has_fetched = false;
	fetch(o);
}

static void on_part(struct srp_channel *c, struct srp_task *t, int res)
{
	struct one *o = container_of(t, struct one, t);
	assert_true(o->is_live && o->is_sending && !o->is_ended);
	o->is_sending = false;
	answer(o);
}

static void on_released(struct srp_channel *c, struct srp_task *t)
{
	struct one *o = container_of(t, struct one, t);
	assert_true(o->is_live && o->is_ended);
	o->is_live = false;
	memset(t, 0xa5, sizeof *t);
}

static void on_task_mgmt(struct srp_channel *c, const struct srp_task_mgmt *m)
{
	uint8_t tag[8];
	memcpy(tag, &m->task_tag, sizeof tag);
	drop(&one[tag[0] % TASKS]);
	srp_answer_tmf(c, m->tag, (enum srp_rsp_code)m->lun[0]);
}

static void close_channel(uint8_t how)
{
	struct err why = { .code = -ESHUTDOWN };
	srp_channel_close(ch, how & 1, SRP_LOGOUT_NO_REASON, &why);
}

static void on_logout(struct srp_channel *c)
{
	close_channel(1);
}

static void on_closed(struct srp_channel *c, const struct err *e)
{
	is_gone = true;
	for (unsigned i = 0; i < TASKS; i++)
		drop(&one[i]);
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

// --- what happens ---

// One direction whose lengths mostly fit.
static uint32_t side_put(struct input *in, uint8_t *at, uint8_t format, uint8_t count)
{
	uint32_t n = 0, sum = 0, entries = count + take(in) % 4;
	struct srp_desc d = { 0, FAKE_RKEY, 0 };
	if (format == SRP_IMMEDIATE) {
		put_be32(at, (uint32_t)take(in) * 32);
		return SRP_IMMEDIATE_LEN;
	}
	uint8_t *descs = format == SRP_DIRECT ? at : at + SRP_INDIRECT_LEN;
	for (uint32_t i = 0; i < (format == SRP_DIRECT ? 1 : count); i++) {
		d.va = (uint64_t)take(in) << 7;
		d.len = (uint32_t)take(in) << 4;
		sum += d.len;
		srp_desc_put(descs + n, &d);
		n += SRP_DIRECT_LEN;
	}
	if (format == SRP_DIRECT)
		return n;
	d.va = (uint64_t)take(in) << 4;
	d.len = entries * SRP_DIRECT_LEN;
	srp_desc_put(at, &d);
	// What an external table adds up to is that of the initiator's memory.
	put_be32(at + SRP_DIRECT_LEN, entries > count ? (uint32_t)take(in) << 4 : sum);
	return SRP_INDIRECT_LEN + n;
}

static void command(struct input *in)
{
	static uint8_t iu[SRP_IT_IU_MAX + 64];
	uint8_t formats = take(in), counts = take(in) & 0x33;
	memset(iu, 0, sizeof iu);
	struct srp_cmd *c = (void *)iu;
	c->opcode = SRP_CMD;
	c->buf_fmt = formats & 0x33;
	c->out_count = counts >> 4;
	c->in_count = counts & 3;
	c->tag[0] = take(in);
	uint32_t len = SRP_CMD_LEN;
	uint8_t out = c->buf_fmt >> 4, to = c->buf_fmt & 3;
	if (out)
		len += side_put(in, iu + len, out, c->out_count);
	if (to)
		len += side_put(in, iu + len, to, c->in_count);
	len += (uint32_t)take(in) * 33;
	fake_receive(iu, len < sizeof iu ? len : sizeof iu);
}

static void raw(struct input *in)
{
	uint32_t len = (uint32_t)take(in) << 4 | (take(in) & 15);
	len = len < in->left ? len : (uint32_t)in->left;
	const uint8_t *at = in->at;
	in->at += len;
	in->left -= len;
	fake_receive(at, len);
}

static void task_mgmt(struct input *in)
{
	uint8_t iu[SRP_TSK_MGMT_LEN] = { SRP_TSK_MGMT };
	iu[32] = take(in);
	fake_receive(iu, sizeof iu);
}

// The answers have the tags that were asked with, 1, 2, ...
static void short_iu(struct input *in, uint8_t how)
{
	static const uint8_t opcodes[] = { SRP_CRED_RSP, SRP_AER_RSP, SRP_I_LOGOUT, SRP_CRED_RSP };
	uint8_t iu[SRP_SHORT_LEN];
	srp_short_put(iu, opcodes[how & 3], take(in), 0);
	fake_receive(iu, sizeof iu);
}

// A request beyond what the initiator has registered ends the connection, as its device would.
static void complete(void)
{
	if (fake.done_count == fake.posted_count)
		return;
	const struct rnic_wr *wr = fake.posted[fake.done_count];
	bool is_rdma = wr->opcode == RNIC_READ || wr->opcode == RNIC_WRITE;
	if (is_rdma && !fake_may_move(wr))
		fake_end(-EACCES);
	else if (fake.sent_count < FAKE_SENT - 1)
		fake_step();
	else
		fake_end(-ECONNRESET);
}

static void ask(uint8_t how)
{
	static const uint8_t lun[8], sense[252];
	if (how & 1)
		srp_ping(ch);
	else
		srp_send_event(ch, lun, sense, how);
}

static void act(struct input *in)
{
	uint8_t what = take(in), arg = take(in);
	struct one *o = &one[arg % TASKS];
	plan = arg % PLANS;
	want = (uint32_t)arg * 80 % WANT_MAX;
	fake.is_scarce = arg & 0x20;
	switch (what % ACTIONS) {
	case RAW:
		raw(in);
		break;
	case COMMAND:
		command(in);
		break;
	case COMPLETE:
		complete();
		break;
	case DO_FETCH:
		fetch(o);
		break;
	case DO_ANSWER:
		answer(o);
		break;
	case DO_DROP:
		drop(o);
		break;
	case TMF:
		task_mgmt(in);
		break;
	case SHORT:
		short_iu(in, arg);
		break;
	case ASK:
		ask(arg);
		break;
	case CLOSE:
		close_channel(arg);
		break;
	case END:
		fake_end(-ECONNRESET);
		break;
	}
}

static void check(void)
{
	struct srp_channel_info i;
	srp_channel_info(ch, &i);
	assert_true(i.credits <= CREDITS);
}

static void begin(uint8_t how)
{
	struct worker_options o = { .name = "fuzz", .cpu = -1 };
	const struct srp_channel_options options = {
		.accept = {.credits = CREDITS,
			    .it_iu_len = SRP_IT_IU_MAX,
			    .ti_iu_len = how & 8 ? 256 : 292,
			    .flags = how & 1 ? SRP_IMMED_SUPPORTED : 0},
		.imm_offset = SRP_IMM_OFFSET,
		.drain = &drain,
	};
	struct err e;
	if (!worker)
		assert_int_equal(worker_new(&worker, &o, &e), 0);
	fake_init(worker);
	fake.rnic.limits.max_message = how & 2 ? 1000 : 1 << 20;
	fake.rnic.limits.max_sge = how & 4 ? 1 : 4;
	fake.remote_len = REMOTE;
	// Tables, too: descriptors of 16 bytes at small addresses.
	for (uint32_t at = 0; at < REMOTE; at += SRP_DIRECT_LEN)
		srp_desc_put(fake.remote + at, &(struct srp_desc){ at, FAKE_RKEY, 16 });
	rnic_drain_init(&drain);
	is_gone = false;
	assert_int_equal(srp_channel_new(&ch, &fake.request, &options, &up, NULL, &e), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	begin(take(&in));
	// One step may post what waited for it, as many as the send queue holds.
	while (in.left && !is_gone &&
	       fake.posted_count + 512 + fake.rnic.limits.max_send_wr < FAKE_POSTED) {
		act(&in);
		check();
	}
	if (!is_gone)
		fake_end(-ECONNRESET);
	for (unsigned i = 0; i < TASKS; i++) {
		assert_true(!one[i].is_live);
		free(one[i].memory);
		one[i].memory = NULL;
	}
	srp_channel_free(ch);
	assert_int_equal(fake.rx_out, 0);
	assert_int_equal(fake.reserved, 0);
	assert_int_equal(drain.draining, 0);
	assert_int_equal(drain.held_count, 0);
	return 0;
}
