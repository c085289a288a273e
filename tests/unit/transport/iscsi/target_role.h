// SPDX-License-Identifier: BSD-2-Clause
// A role above a mover of the target in a test: the command's tag selects its action, and calls of
// the mover are counted. Below is a carrier, which transport/iscsi/dm_tcp_rig.h and
// transport/iser/dm_iser_rig.h have.
#pragma once

#include "transport/iscsi/wire_util.h"

#include "transport/iscsi/dm_up.h"

enum { TASKS = 128, ROOM = 256 << 10 };

enum plan { FETCH, WAIT, ANSWER, ABORT, IGNORE };

struct one {
	struct dm_task dm;
	_Alignas(8) uint8_t room[512]; // the mover's
	struct dm_result result;
	struct sg sg[8];
	uint32_t nsg;
	enum plan plan;
	uint32_t want, data_in;
	uint32_t piece, moved; // its data moves in pieces of so many bytes; 0: at once
	int data_res;
	unsigned arrivals, answers, releases;
	bool has_begun, is_over;
	struct one *wakes;	    // another task that asks for its data when this one begins
	struct one *wakes_released; // ... when it is released
};

// An initiator at the other end.
struct carrier {
	int (*make_worker)(void **state);
	int (*setup)(void **state);
	void (*open)(void); // into full feature phase
	// Sends a PDU; data is padded, and its length filled in.
	void (*send)(uint8_t *bhs, const void *data, uint32_t len);
	void (*recv)(uint8_t *bhs, void *data); // the next PDU
	void (*close)(void);			// ends what is open; nothing may be left behind
};

static struct dm *dm;
static struct dm_sns sns;
static struct iscsi_params params;
static struct one one[TASKS];
static unsigned controls, sents, closes;
static bool echoes; // control PDUs are answered
static void (*when_closed)(void);
static struct err closed_why;
static uint8_t last_control[ISCSI_BHS_LEN], last_data[8192];
static uint32_t last_len;
static uint8_t memory[TASKS][ROOM];

// The next piece of len bytes is what sg has; its length.
static inline uint32_t next_piece(struct one *o, uint32_t len)
{
	uint32_t n = !o->piece || len < o->piece ? len : o->piece;
	if (!o->piece)
		return n;
	o->sg[0] = (struct sg){ .addr = memory[o - one] + o->moved, .len = n };
	o->nsg = 1;
	o->moved += n;
	return n;
}

static inline void fetch(struct one *o)
{
	uint32_t n = next_piece(o, o->want - o->moved);
	dm->ops->get_data(dm, &o->dm, o->sg, o->nsg, n);
}

static inline void answer(struct one *o)
{
	uint32_t n = next_piece(o, o->data_in);
	o->data_in -= n;
	if (o->data_in) {
		dm->ops->put_part(dm, &o->dm, o->sg, o->nsg, n);
		return;
	}
	o->result.sg = o->sg;
	o->result.nsg = o->nsg;
	o->result.data_len = n;
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
	assert_true(d->task_size <= sizeof o->room);
	dm_task_init(&o->dm, bhs);
	o->arrivals++;
	o->is_over = o->has_begun = false;
	return o->plan == IGNORE ? NULL : &o->dm;
}

static void on_begin(struct dm *d, struct dm_task *t)
{
	struct one *o = container_of(t, struct one, dm);
	o->has_begun = true;
	if (o->wakes)
		fetch(o->wakes);
	if (o->plan == FETCH)
		fetch(o);
	else if (o->plan == ANSWER)
		answer(o);
	else if (o->plan == ABORT)
		drop(o);
}

static int on_control(struct dm *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	uint8_t rsp[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_IN, ISCSI_F };
	controls++;
	memcpy(last_control, bhs, ISCSI_BHS_LEN);
	last_len = pdu->data_len;
	if (data)
		memcpy(last_data, data, last_len);
	if (echoes)
		d->ops->send(d, rsp, data, last_len, DM_ADVANCES);
	return 0;
}

static void on_data(struct dm *d, struct dm_task *t, int res)
{
	struct one *o = container_of(t, struct one, dm);
	o->answers++;
	o->data_res = res;
	o->data_in = 0;
	if (!res && o->piece && o->moved < o->want)
		fetch(o);
	else
		answer(o);
}

static void on_part(struct dm *d, struct dm_task *t, int res)
{
	struct one *o = container_of(t, struct one, dm);
	o->answers++;
	o->data_res = res;
	if (!res)
		answer(o);
	else
		drop(o);
}

static void on_released(struct dm *d, struct dm_task *t)
{
	struct one *o = container_of(t, struct one, dm);
	o->releases++;
	o->is_over = true;
	memset(t, 0xa5, sizeof *t + d->task_size); // the next task's
	if (o->wakes_released)
		fetch(o->wakes_released);
}

static void on_sent(struct dm *d)
{
	sents++;
}

// The mover releases commands with a response, unless it waits for data.
static void on_closed(struct dm *d, const struct err *e)
{
	closed_why = *e;
	for (unsigned i = 0; i < TASKS; i++) {
		struct one *o = &one[i];
		if (o->arrivals && !o->is_over && o->has_begun &&
		    (!o->result.sg || o->dm.is_finished))
			drop(o);
	}
	if (when_closed)
		when_closed();
	else
		closes++;
}

static inline void role_reset(void)
{
	memset(one, 0, sizeof one);
	memset(memory, 0, sizeof memory);
	for (unsigned i = 0; i < TASKS; i++) {
		one[i].sg[0] = (struct sg){ .addr = memory[i], .len = ROOM };
		one[i].nsg = 1;
	}
	controls = sents = closes = 0;
	echoes = false;
	when_closed = NULL;
	sns = (struct dm_sns){ 1, 1, 64 };
	iscsi_params_init(&params);
}

// Each task's memory in two pieces, and pings are answered.
static inline void role_splits(void)
{
	for (unsigned i = 0; i < TASKS; i++) {
		one[i].sg[0] = (struct sg){ .addr = memory[i], .len = 1000 };
		one[i].sg[1] = (struct sg){ .addr = memory[i] + 1000, .len = ROOM - 1000 };
		one[i].nsg = 2;
	}
	echoes = true;
}

static inline void assert_all_released(void)
{
	for (unsigned i = 0; i < TASKS; i++)
		assert_int_equal(one[i].releases, one[i].plan == IGNORE ? 0 : one[i].arrivals);
}
