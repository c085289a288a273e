// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover between a hostile initiator and a role that does everything a role may:
// messages, completions in between, aborts, closes. Records of one byte that says what happens and
// what that needs. In the end every task was released once, and no buffer is left anywhere.
#include <stdlib.h>

#define assert_true(x)                                                                             \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)
#define assert_int_equal(a, b) assert_true((a) == (b))

#include "transport/iscsi/dm_task.h"
#include "transport/iscsi/dm_up.h"
#include "transport/iser/dm_iser.h"
#include "transport/iser/iser.h"
#include "transport/rdma/fake_rnic.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 16, WANT_MAX = 20000, MSG_MAX = RNIC_RX_SIZE };
enum plan { FETCH, WAIT, ANSWER, ABORT, IGNORE, PLANS };
enum action {
	RAW,
	MESSAGE,
	COMPLETE,
	FULL_FEATURE,
	DO_FETCH,
	DO_ANSWER,
	DO_DROP,
	SEND,
	END,
	ACTIONS
};

struct one {
	struct dm_task dm;
	_Alignas(8) uint8_t room[512]; // the mover's
	struct dm_result result;
	struct sg sg[2];
	uint8_t *memory; // of exactly want bytes
	bool is_live, is_fetching, is_sending, is_ended;
	bool has_piece; // the first piece of its data is moved
};

struct input {
	const uint8_t *at;
	size_t left;
};

static struct worker *worker;
static struct dm *dm;
static struct dm_sns sns;
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

static void make_memory(struct one *o)
{
	free(o->memory);
	o->memory = calloc(1, want ? want : 1);
	o->sg[0] = (struct sg){ .addr = o->memory, .len = want / 3 };
	o->sg[1] = (struct sg){ .addr = o->memory + want / 3, .len = want - want / 3 };
}

static void fetch(struct one *o)
{
	if (!o->is_live || o->is_fetching || o->is_ended || !want)
		return;
	make_memory(o);
	o->is_fetching = true;
	dm->ops->get_data(dm, &o->dm, o->sg, 2, want);
}

static void answer(struct one *o)
{
	static const uint8_t sense[252] = { 0x72 };
	if (!o->is_live || o->is_ended || o->is_fetching || o->is_sending)
		return;
	make_memory(o);
	if (want % 5 == 4 && !o->has_piece) {
		o->is_sending = o->has_piece = true;
		dm->ops->put_part(dm, &o->dm, o->sg, 2, want);
		return;
	}
	o->is_ended = true;
	o->result = (struct dm_result){ .sg = o->sg, .nsg = 2, .data_len = want };
	o->result.sense = sense;
	o->result.sense_len = want & 1 ? sizeof sense : 0;
	dm->ops->put_data(dm, &o->dm, &o->result);
}

static void drop(struct one *o)
{
	// A submitted status can be cancelled only while it waits for data.
	if (!o->is_live || (o->is_ended && !o->dm.is_finished))
		return;
	o->is_ended = true;
	dm->ops->put_data(dm, &o->dm, NULL);
}

static struct dm_task *on_command(struct dm *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
				  const uint8_t *ahs)
{
	struct one *o = &one[bhs[19] % TASKS];
	uint8_t touched = 0;
	for (uint32_t i = 0; i < pdu->ahs_len; i++)
		touched ^= ahs[i];
	if (o->is_live || (plan == IGNORE && touched != 1))
		return NULL;
	dm_task_init(&o->dm, bhs);
	o->is_live = true;
	o->is_fetching = o->is_sending = o->is_ended = o->has_piece = false;
	return &o->dm;
}

static void on_begin(struct dm *d, struct dm_task *t)
{
	struct one *o = container_of(t, struct one, dm);
	if (plan == FETCH)
		fetch(o);
	else if (plan == ANSWER)
		answer(o);
	else if (plan == ABORT)
		drop(o);
}

static int on_control(struct dm *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	uint8_t rsp[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_IN, ISCSI_F };
	d->ops->send(d, rsp, data, pdu->data_len, DM_ADVANCES);
	return pdu->data_len == 7 ? err_set(e, -EPROTO, "seven") : 0;
}

static void on_data(struct dm *d, struct dm_task *t, int res)
{
	struct one *o = container_of(t, struct one, dm);
	assert_true(o->is_live && o->is_fetching && !o->is_ended);
	assert_true(res || dm_out(t)->received >= dm_out(t)->want);
	o->is_fetching = false;
	if (res || want % 5 != 3 || o->has_piece) {
		answer(o);
		return;
	}
	o->has_piece = true;
	fetch(o);
}

static void on_part(struct dm *d, struct dm_task *t, int res)
{
	struct one *o = container_of(t, struct one, dm);
	assert_true(o->is_live && o->is_sending && !o->is_ended);
	o->is_sending = false;
	if (res)
		drop(o);
	else
		answer(o);
}

static void on_released(struct dm *d, struct dm_task *t)
{
	struct one *o = container_of(t, struct one, dm);
	assert_true(o->is_live && o->is_ended);
	o->is_live = false;
}

static void on_sent(struct dm *d)
{
	struct err why = { .code = -ESHUTDOWN };
	d->ops->close(d, true, &why);
}

static void on_closed(struct dm *d, const struct err *e)
{
	is_gone = true;
	for (unsigned i = 0; i < TASKS; i++)
		drop(&one[i]);
}

// --- what happens ---

static void full_feature(uint8_t how)
{
	struct iscsi_params p;
	iscsi_params_init(&p);
	p.initial_r2t = how & 1;
	p.immediate_data = !(how & 2);
	p.is_discovery = how & 4;
	p.tagged_solicited_only = how & 8;
	p.first_burst = 4096;
	p.max_recv_data = 8192;
	dm->window = 4;
	dm->ops->full_feature(dm, &p);
}

// A message whose lengths fit: a template of 9 bytes, a length, and zeros.
static void message(struct input *in)
{
	static const uint8_t opcodes[] = { ISCSI_OP_SCSI_CMD, ISCSI_OP_SCSI_CMD, ISCSI_OP_DATA_OUT,
					   ISCSI_OP_NOP_OUT,  ISCSI_OP_TMF_REQ,	 ISCSI_OP_TEXT_REQ,
					   ISCSI_OP_LOGIN_REQ };
	static uint8_t msg[ISER_HDR_LEN + ISCSI_BHS_LEN + 16384];
	uint8_t *bhs = msg + ISER_HDR_LEN, kind = take(in), tags = take(in);
	uint32_t len = (uint32_t)take(in) * 64;
	struct iser_tag tag = { tags & 4 ? take(in) : FAKE_RKEY, (uint64_t)take(in) << 8 };
	memset(msg, 0, sizeof msg);
	iser_hdr_put(msg, tags & 1 ? &tag : NULL, tags & 2 ? &tag : NULL);
	bhs[0] = opcodes[kind % sizeof opcodes] | (kind & 0x40);
	bhs[1] = take(in);
	bhs[19] = take(in);
	put_be24(bhs + 5, len);
	put_be32(bhs + 20, bhs[0] & 0x3f ? ISCSI_TAG_NONE : 0);
	if (bhs[0] == ISCSI_OP_SCSI_CMD)
		put_be32(bhs + 20, (uint32_t)take(in) * 128);
	if (bhs[0] == ISCSI_OP_DATA_OUT) {
		bhs[39] = take(in);
		put_be32(bhs + 40, (uint32_t)take(in) * 64);
	}
	fake_receive(msg, ISER_HDR_LEN + ISCSI_BHS_LEN + len);
}

static void raw(struct input *in)
{
	uint32_t len = (uint32_t)take(in) << 4 | (take(in) & 15);
	len = len < in->left ? len : (uint32_t)in->left;
	len = len < MSG_MAX ? len : MSG_MAX;
	const uint8_t *at = in->at;
	in->at += len;
	in->left -= len;
	fake_receive(at, len);
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

static void send_one(uint8_t how)
{
	static const uint8_t opcodes[] = { ISCSI_OP_TMF_RSP, ISCSI_OP_NOP_IN, ISCSI_OP_TEXT_RSP,
					   ISCSI_OP_LOGOUT_RSP };
	static const uint8_t text[9000];
	uint8_t bhs[ISCSI_BHS_LEN] = { opcodes[how & 3], ISCSI_F };
	unsigned flags = how & 0x10 ? DM_WANTS_SENT : 0;
	dm->ops->send(dm, bhs, text, how & 0x20 ? 8192 : how, flags | DM_ADVANCES);
}

static void act(struct input *in)
{
	uint8_t what = take(in), arg = take(in);
	struct one *o = &one[arg % TASKS];
	plan = arg % PLANS;
	want = (uint32_t)arg * 80 % WANT_MAX;
	switch (what % ACTIONS) {
	case RAW:
		raw(in);
		break;
	case MESSAGE:
		message(in);
		break;
	case COMPLETE:
		complete();
		break;
	case FULL_FEATURE:
		full_feature(arg);
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
	case SEND:
		send_one(arg);
		break;
	case END:
		fake_end(-ECONNRESET);
		break;
	}
}

static void begin(uint8_t how)
{
	struct worker_options o = { .name = "fuzz", .cpu = -1 };
	struct err e;
	if (!worker)
		assert_int_equal(worker_new(&worker, &o, &e), 0);
	fake_init(worker);
	fake.private_data[0] = how & 1 ? 0x80 : 0xc0;
	fake.rnic.limits.max_message = how & 2 ? 1000 : 1 << 20;
	fake.rnic.limits.max_sge = how & 4 ? 1 : 4;
	fake.remote_len = 20000;
	is_gone = false;
	sns = (struct dm_sns){ 1, 1, 64 };
	assert_int_equal(dm_iser_new(&dm, &fake.request, NULL, &up, NULL, &e), 0);
	dm->sns = &sns;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	begin(take(&in));
	// One step may post what waited for it, as many as the send queue holds.
	while (in.left && !is_gone &&
	       fake.posted_count + 64 + fake.rnic.limits.max_send_wr < FAKE_POSTED)
		act(&in);
	if (!is_gone)
		fake_end(-ECONNRESET);
	for (unsigned i = 0; i < TASKS; i++) {
		assert_true(!one[i].is_live);
		free(one[i].memory);
		one[i].memory = NULL;
	}
	dm->ops->free(dm);
	assert_int_equal(fake.rx_out, 0);
	assert_int_equal(fake.reserved, 0);
	return 0;
}
