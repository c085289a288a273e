// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover between a scripted role and the fake provider.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/iser/fake_rnic.h"

#include "core/counter.h"
#include "transport/iser/dm_iser_target.h"
#include "transport/iser/iser.h"
#include "transport/wire/be.h"

enum { TASKS = 32, ROOM = 256 << 10 };

enum plan { FETCH, WAIT, ANSWER, ABORT, IGNORE };

struct one {
	struct dm_task dm;
	struct dm_result result;
	struct sg sg[8];
	uint32_t nsg;
	enum plan plan;
	uint32_t want, data_in;
	int data_res;
	unsigned arrivals, answers, releases;
	bool is_over;
};

static struct worker *worker;
static struct dm *dm;
static struct dm_sns sns;
static struct iscsi_params params;
static struct one one[TASKS];
static unsigned controls, sents, closes;
static struct err closed_why;
static uint8_t last_control[ISCSI_BHS_LEN], last_data[8192];
static uint32_t last_len;
static uint8_t memory[TASKS][ROOM];

static inline void fetch(struct one *o)
{
	dm->ops->get_data(dm, &o->dm, o->sg, o->nsg, o->want);
}

static inline void answer(struct one *o)
{
	o->result.sg = o->sg;
	o->result.nsg = o->nsg;
	o->result.data_len = o->data_in;
	dm->ops->put_data(dm, &o->dm, &o->result);
}

static inline void drop(struct one *o)
{
	dm->ops->put_data(dm, &o->dm, NULL);
}

static struct dm_task *on_command(struct dm *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
				  const uint8_t *ahs)
{
	struct one *o = &one[get_be32(bhs + 16) % TASKS];
	dm_task_init(&o->dm, bhs);
	o->arrivals++;
	o->is_over = false;
	if (o->plan == FETCH)
		fetch(o);
	else if (o->plan == ANSWER)
		answer(o);
	else if (o->plan == ABORT)
		drop(o);
	return o->plan == IGNORE ? NULL : &o->dm;
}

static int on_control(struct dm *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	controls++;
	memcpy(last_control, bhs, ISCSI_BHS_LEN);
	last_len = pdu->data_len;
	if (data)
		memcpy(last_data, data, last_len);
	return 0;
}

static void on_data(struct dm *d, struct dm_task *t, int res)
{
	struct one *o = container_of(t, struct one, dm);
	o->answers++;
	o->data_res = res;
	o->data_in = 0;
	answer(o);
}

static void on_released(struct dm *d, struct dm_task *t)
{
	struct one *o = container_of(t, struct one, dm);
	o->releases++;
	o->is_over = true;
}

static void on_sent(struct dm *d)
{
	sents++;
}

static void on_closed(struct dm *d, const struct err *e)
{
	closes++;
	closed_why = *e;
	for (unsigned i = 0; i < TASKS; i++)
		if (one[i].arrivals && !one[i].is_over && one[i].plan != IGNORE &&
		    one[i].dm.mover && !one[i].result.sg)
			drop(&one[i]);
}

static void on_ahead(struct dm *d, const uint8_t *bhs)
{
}

static const struct dm_up up = {
	.command = on_command,
	.ahead = on_ahead,
	.control = on_control,
	.data = on_data,
	.released = on_released,
	.sent = on_sent,
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
	memset(memory, 0, sizeof memory);
	for (unsigned i = 0; i < TASKS; i++) {
		one[i].sg[0] = (struct sg){ .addr = memory[i], .len = ROOM };
		one[i].nsg = 1;
	}
	for (unsigned i = 0; i < FAKE_REMOTE; i++)
		fake.remote[i] = (uint8_t)(i * 7 + i / 256);
	controls = sents = closes = 0;
	sns = (struct dm_sns){ 1, 1, 64 };
	iscsi_params_init(&params);
	params.immediate_data = params.rdma_extensions = true;
	params.max_recv_data = 8192;
	params.max_send_data = 128;
	return 0;
}

static inline void open_login(void)
{
	struct err e;
	assert_int_equal(dm_iser_target_new(&dm, &fake.request, &up, NULL, &e), 0);
	dm->sns = &sns;
}

static inline void open_full(void)
{
	open_login();
	dm->window = 16;
	dm->ops->full_feature(dm, &params);
}

// Ends what is open; nothing may be left behind.
static inline void shut(void)
{
	if (!closes)
		fake_end(-ECONNRESET);
	dm->ops->free(dm);
	assert_int_equal(fake.rx_out, 0);
	assert_int_equal(fake.reserved, 0);
	for (unsigned i = 0; i < TASKS; i++)
		assert_int_equal(one[i].releases, one[i].plan == IGNORE ? 0 : one[i].arrivals);
}

// --- the initiator ---

struct say {
	uint32_t itt, edtl, imm, ttt, offset, sn;
	uint8_t opcode, flags; // flags 0: of a read or write, by the tags
	uint64_t base;
	uint32_t stag;				     // 0: FAKE_RKEY
	bool is_read, is_write, has_no_tag, is_open; // is_open: more unsolicited data follows
};

// The data of a message is what the initiator's memory has at its place in the command, which
// begins at base - imm.
static inline void say(struct say s)
{
	uint8_t msg[ISER_HDR_LEN + ISCSI_BHS_LEN + 8192 + 4] = { 0 }, *bhs = msg + ISER_HDR_LEN;
	struct iser_tag tag = { s.stag ? s.stag : FAKE_RKEY, s.base };
	bool has_tag = !s.has_no_tag;
	iser_hdr_put(msg, s.is_write && has_tag ? &tag : NULL, s.is_read && has_tag ? &tag : NULL);
	bhs[0] = s.opcode ? s.opcode : ISCSI_OP_SCSI_CMD;
	bhs[1] = s.flags;
	if (!s.flags)
		bhs[1] = (s.is_open ? 0 : ISCSI_F) | (s.is_read ? ISCSI_CMD_R : 0) |
			 (s.is_write ? ISCSI_CMD_W : 0);
	put_be24(bhs + 5, s.imm);
	put_be32(bhs + 16, s.itt);
	put_be32(bhs + 20, bhs[0] == ISCSI_OP_SCSI_CMD ? s.edtl : ISCSI_TAG_NONE);
	if (s.opcode == ISCSI_OP_DATA_OUT) {
		put_be32(bhs + 20, s.ttt ? s.ttt : ISCSI_TAG_NONE);
		put_be32(bhs + 36, s.sn);
		put_be32(bhs + 40, s.offset);
	}
	for (uint32_t i = 0; i < s.imm; i++)
		bhs[ISCSI_BHS_LEN + i] = (uint8_t)(0x80 + s.itt + s.offset + i);
	fake_receive(msg, ISER_HDR_LEN + ISCSI_BHS_LEN + s.imm);
}

static inline void assert_unsolicited(unsigned i, uint32_t from, uint32_t to)
{
	for (uint32_t at = from; at < to; at++)
		assert_int_equal(memory[i][at], (uint8_t)(0x80 + i + at));
}

// The n-th send, taken apart.
static inline struct iser_msg heard(unsigned n)
{
	struct iser_msg m;
	struct err e;
	assert_true(n < fake.sent_count);
	assert_int_equal(iser_msg_parse(&m, fake.sent[n].data, fake.sent[n].len, &e), 0);
	assert_false(m.has_read || m.has_write);
	return m;
}

static inline uint64_t copied_bytes(void)
{
	return counter_get(&worker_counters(worker)->payload_copy_bytes);
}
