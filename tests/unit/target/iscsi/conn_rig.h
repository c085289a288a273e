// SPDX-License-Identifier: BSD-2-Clause
// Sessions in full feature phase on a worker, without login: the test is the initiator, at the
// other end of a socket pair. Time is what the test gives to timeouts_check().
#pragma once

#include "transport/iscsi/wire_util.h"

#include "target/iscsi/cmd.h"
#include "target/iscsi/conn_life.h"
#include "target/iscsi/discovery.h"
#include "target/iscsi/full_feature.h"
#include "target/iscsi/settings.h"
#include "target/iscsi/text.h"
#include "target/iscsi/timeouts.h"
#include "target/iscsi/window.h"
#include "target/iscsi/worker.h"
#include "target/iscsi_fabric.h"
#include "target/scsi/nexus.h"

#define SECOND 1000000000ull

enum { WINDOW = 128 };

struct rig {
	struct conn *c;
	int fds[2];
	struct dm_up up; // conn_dm_up, but closed, and what the test replaces
	struct err why;
	bool is_closed;
};

static struct tpg_settings rig_settings;
static const struct view_tpg rig_tpg = { .own = &rig_settings };

static void rig_closed(struct dm *dm, const struct err *e)
{
	struct rig *r = container_of(dm->up, struct rig, up);
	r->why = *e;
	r->is_closed = true;
	conn_dm_up.closed(dm, e);
}

static void rig_open_run(void *arg)
{
	struct rig *r = arg;
	struct conn *c = r->c = calloc(1, sizeof *c);
	struct err e;
	session_init(&c->session, &iscsi_fabric, worker);
	c->session.state = SESSION_LIVE;
	c->session.tpg = &rig_tpg;
	c->run_held = full_feature_held;
	c->next_ttt = 1;
	c->window = WINDOW;
	c->sns = (struct dm_sns){ 1, 1, WINDOW };
	list_init(&c->cmds);
	list_init(&c->held);
	conn_hold(c);
	struct dm *dm;
	assert_int_equal(dm_tcp_new(&dm, worker, r->fds[0], &r->up, c, &e), 0);
	conn_set_mover(c, dm);
	c->dm->window = WINDOW;
	iscsi_params_init(&c->params);
	c->params.max_recv_data = 262144;
	c->dm->ops->full_feature(c->dm, &c->params);
}

static inline void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->up = conn_dm_up;
	r->up.closed = rig_closed;
	wire_pair(r->fds);
}

static inline void rig_open(struct rig *r)
{
	rig_init(r);
	worker_call(worker, rig_open_run, r);
}

static void rig_close_run(void *arg)
{
	struct rig *r = arg;
	r->c->session.nexus = NULL;
	conn_close(r->c, false, "the test ends");
}

// Later, as messages to the connection may be on their way.
static void rig_free_run(void *arg)
{
	struct rig *r = arg;
	r->c->dm->ops->free(r->c->dm);
	free(r->c);
}

static inline void rig_close(struct rig *r)
{
	worker_call(worker, rig_close_run, r);
	worker_call(worker, rig_free_run, r);
	close(r->fds[1]);
}

static struct worker *control; // what is posted to it is not run

static inline int rig_begin(void **state)
{
	struct worker_options o = { .name = "control", .cpu = -1, .is_control = true };
	struct err e;
	if (wire_setup(state) || worker_new(&control, &o, &e) < 0)
		return -1;
	use_iscsi();
	return fabrics_start(control, &e);
}

static inline int rig_end(void **state)
{
	fabrics_stop();
	worker_free(control);
	return wire_teardown(state);
}

static inline void rig_send(struct rig *r, const uint8_t *bhs, const void *data, uint32_t len)
{
	uint8_t *raw = malloc(ISCSI_BHS_LEN + len + 8);
	wire_send(r->fds[1], raw, wire_pdu(raw, bhs, NULL, 0, data, len, false, false));
	free(raw);
}

// A request with this CmdSN, which is its tag as well.
static inline uint8_t *request(uint8_t opcode, uint8_t flags, uint32_t sn, uint32_t ttt)
{
	static uint8_t bhs[ISCSI_BHS_LEN];
	memset(bhs, 0, sizeof bhs);
	bhs[0] = opcode;
	bhs[1] = flags;
	put_be32(bhs + 16, sn);
	put_be32(bhs + 20, ttt);
	put_be32(bhs + 24, sn);
	return bhs;
}

// The opcode of the next PDU; what it brings is dropped.
static inline uint8_t rig_recv(struct rig *r, uint8_t bhs[ISCSI_BHS_LEN])
{
	static uint8_t data[65536];
	assert_int_equal(wire_recv(r->fds[1], bhs, ISCSI_BHS_LEN), ISCSI_BHS_LEN);
	uint32_t len = (get_be24(bhs + 5) + 3) & ~3u;
	assert_int_equal(wire_recv(r->fds[1], data, len), len);
	return bhs[0];
}

struct look {
	struct rig *r;
	uint64_t at; // for timeouts_check(); 0: it is not called
	struct dm_counters n;
	uint64_t now;
	unsigned held;
	bool is_closed, has_text;
};

static void look_run(void *arg)
{
	struct look *l = arg;
	struct conn *c = l->r->c;
	if (l->at)
		timeouts_check(c, l->at);
	l->now = worker_now(worker);
	l->is_closed = l->r->is_closed;
	l->held = c->held_count;
	l->has_text = c->text != NULL;
	c->dm->ops->counters(c->dm, &l->n);
}

// What there is to see, after the worker's tick at that time if it is not 0.
static inline struct look look(struct rig *r, uint64_t at)
{
	struct look l = { .r = r, .at = at };
	worker_call(worker, look_run, &l);
	return l;
}

// Looks again and again until cond, in which l is the last look.
#define WAIT(r, l, cond)                                                                           \
	do {                                                                                       \
		l = look(r, 0);                                                                    \
		sched_yield();                                                                     \
	} while (!(cond))
