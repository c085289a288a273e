// SPDX-License-Identifier: BSD-2-Clause
// The initiator's end of a channel in a test, before a scripted target. The test's thread.
#pragma once

#include "transport/srp/scripted_target.h"

#include "transport/srp/initiator.h"

enum { RIG_TASKS = 160, RIG_ROOM = 64 << 10 };

struct rig {
	struct worker *w;
	struct st_target target;
	struct srpi_options options;
	struct srpi_channel *ch; // NULL: closed
	struct srpi_task tasks[RIG_TASKS];
	struct sg sg[RIG_TASKS][4];
	int res[RIG_TASKS];
	unsigned sent, done, ups, events, rooms, closes, tmfs;
	int tmf_code;
	uint8_t event_lun[8];
	struct err why;
	uint32_t reject;
	struct msg start;
	// Set by the test.
	void (*on_up)(struct rig *r);
	void (*on_done)(struct rig *r);
	void (*on_tmf)(struct rig *r);
	void (*on_event)(struct rig *r);
};

static uint8_t rig_memory[RIG_TASKS][RIG_ROOM];

static inline void rig_close(struct rig *r)
{
	struct err none = { 0 };
	srpi_close(r->ch, true, &none);
}

static inline void rig_on_up(struct srpi_channel *ch, const struct srp_accept *a)
{
	struct rig *r = srpi_role(ch);
	r->ups++;
	if (r->on_up)
		r->on_up(r);
	else
		rig_close(r);
}

static inline void rig_on_done(struct srpi_channel *ch, struct srpi_task *t, int res)
{
	struct rig *r = srpi_role(ch);
	r->res[t - r->tasks] = res;
	r->done++;
	if (r->on_done)
		r->on_done(r);
	else if (r->done == r->sent)
		rig_close(r);
}

static inline void rig_on_tmf(struct srpi_channel *ch, int code)
{
	struct rig *r = srpi_role(ch);
	r->tmfs++;
	r->tmf_code = code;
	if (r->on_tmf)
		r->on_tmf(r);
}

static inline void rig_on_event(struct srpi_channel *ch, const uint8_t lun[8], const uint8_t *sense,
				uint32_t len)
{
	struct rig *r = srpi_role(ch);
	r->events++;
	memcpy(r->event_lun, lun, 8);
	if (r->on_event)
		r->on_event(r);
}

static inline void rig_on_room(struct srpi_channel *ch)
{
	((struct rig *)srpi_role(ch))->rooms++;
}

static inline void rig_on_closed(struct srpi_channel *ch, const struct err *why)
{
	struct rig *r = srpi_role(ch);
	struct srpi_info info;
	srpi_info(ch, &info);
	r->reject = info.reject;
	r->why = *why;
	r->closes++;
	srpi_free(ch);
	r->ch = NULL;
	st_stop(&r->target);
}

static const struct srpi_up rig_up = {
	.up = rig_on_up,
	.done = rig_on_done,
	.tmf_done = rig_on_tmf,
	.event = rig_on_event,
	.room = rig_on_room,
	.closed = rig_on_closed,
};

static inline void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->w = make_worker(false, 0);
	st_start(&r->target, r->w);
	r->target.arg = r;
	r->options = (struct srpi_options){ .provider = &rnic_iwarp };
	memset(r->options.initiator, 0x11, SRP_PORT_ID_LEN);
	memset(r->options.target, 0x22, SRP_PORT_ID_LEN);
	r->tmf_code = -1;
}

static inline void rig_start(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, start);
	struct err e;
	if (!r->options.peer)
		r->options.peer = rnic_listener_addr(r->target.listener);
	if (srpi_new(&r->ch, r->w, &r->options, &rig_up, r, &e) < 0)
		fail_msg("%s", e.text);
}

// Runs until the channel and the target are closed; every task must have ended once.
static inline void rig_run(struct rig *r)
{
	r->start.fn = rig_start;
	worker_post(r->w, &r->start);
	run_guarded(r->w);
	assert_int_equal(r->closes, 1);
	assert_int_equal(r->done, r->sent);
}

static inline void rig_done(struct rig *r)
{
	worker_free(r->w);
}

// A command of len bytes, in up to 4 pieces.
static inline struct srpi_task *rig_send(struct rig *r, uint32_t len, bool is_write,
					 unsigned pieces)
{
	struct srpi_task *t = &r->tasks[r->sent];
	struct sg *sg = r->sg[r->sent];
	for (unsigned i = 0; i < pieces; i++)
		sg[i] = (struct sg){ rig_memory[r->sent] + i * (RIG_ROOM / 4),
				     i + 1 < pieces ? len / pieces
						    : len - (pieces - 1) * (len / pieces) };
	*t = (struct srpi_task){ .is_read = len && !is_write,
				 .is_write = is_write,
				 .sg = sg,
				 .nsg = pieces,
				 .len = len };
	t->lun[1] = 3;
	t->cdb[0] = 0xab;
	r->sent++;
	srpi_send(r->ch, t);
	return t;
}
