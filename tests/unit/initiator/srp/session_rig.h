// SPDX-License-Identifier: BSD-2-Clause
// Shared by the tests of SRP sessions: a session, a scripted target for it, and commands.
#pragma once

#include "transport/srp/scripted_target.h"

#include "core/offload.h"
#include "initiator/scsi_cdb.h"
#include "initiator/srp/initiator.h"

enum { CMDS = 8 };

static struct rig {
	struct worker *w;
	struct st_target target;
	struct srps_config config;
	struct scsi_session *s;
	struct scsi_cmd cmds[CMDS];
	unsigned submitted, done, ups, downs, retries, closes, asyncs;
	unsigned commands[ST_CONNS]; // per connection
	struct err why;
	struct srps_info info;
	struct msg start;
	bool stays_when_done;
	void (*on_up)(void);
	void (*on_down)(void);
} r;

static uint8_t memory[CMDS][16384];

// --- the session's owner ---

static inline void on_up(struct scsi_session *s)
{
	r.ups++;
	srps_session_info(s, &r.info);
	if (r.on_up)
		r.on_up();
	else
		scsi_session_logout(s);
}

static inline void on_down(struct scsi_session *s, const struct err *why)
{
	r.downs++;
	if (r.on_down)
		r.on_down();
}

static inline void on_retry(struct scsi_session *s, const struct err *why, unsigned seconds)
{
	r.retries++;
}

static inline void on_async(struct scsi_session *s, const uint8_t *sense, size_t len)
{
	r.asyncs++;
}

static inline void on_closed(struct scsi_session *s, const struct err *why)
{
	r.closes++;
	r.why = *why;
	scsi_session_free(s);
}

static inline void on_freed(void *arg)
{
	st_stop(&r.target);
}

static const struct scsi_session_ops ops = { .up = on_up,
					     .down = on_down,
					     .retry = on_retry,
					     .async = on_async,
					     .closed = on_closed,
					     .freed = on_freed };

static inline void on_done(struct scsi_cmd *c)
{
	if (++r.done == r.submitted && !r.stays_when_done)
		scsi_session_logout(r.s);
}

static inline void submit_data(enum scsi_op op, uint32_t len)
{
	struct scsi_cmd *c = &r.cmds[r.submitted];
	struct scsi_args args = { .len = len / 512 };
	scsi_cmd_set(c, 3, op, &args, memory[r.submitted], len);
	c->done = on_done;
	r.submitted++;
	assert_int_equal(scsi_cmd_submit(r.s, c), 0);
}

static inline void submit(void)
{
	submit_data(SCSI_TEST_UNIT_READY, 0);
}

// --- the rig ---

static inline void count_and_answer(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (iu[0] == SRP_CMD)
		r.commands[c - r.target.conns]++;
	st_answer(c, iu);
}

static inline int setup(void **state)
{
	memset(&r, 0, sizeof r);
	r.w = make_worker(false, 0);
	st_start(&r.target, r.w);
	r.target.iu = count_and_answer;
	srps_config_init(&r.config);
	memset(r.config.initiator, 0x11, SRP_PORT_ID_LEN);
	memset(r.config.target, 0x22, SRP_PORT_ID_LEN);
	r.config.portals[0] = *rnic_listener_addr(r.target.listener);
	r.config.portal_count = 1;
	r.config.providers[0] = &rnic_iwarp;
	r.config.provider_count = 1;
	return 0;
}

static inline int teardown(void **state)
{
	offload_shutdown();
	worker_free(r.w);
	return 0;
}

static inline void start(struct msg *m)
{
	struct err e;
	if (srps_session_new(&r.s, r.w, &r.config, &ops, NULL, &e) < 0)
		fail_msg("%s", e.text);
}

static inline void run(void)
{
	r.start.fn = start;
	worker_post(r.w, &r.start);
	run_guarded(r.w);
	assert_int_equal(r.done, r.submitted);
}
