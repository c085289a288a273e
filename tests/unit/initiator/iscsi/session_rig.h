// SPDX-License-Identifier: BSD-2-Clause
// Shared by the session tests: a session, a fake target for it, and commands with their results.
#pragma once

#include "initiator/iscsi/fake_target.h"

#include "core/offload.h"
#include "initiator/scsi_cdb.h"

enum { CMDS = 8 };

struct rig {
	struct worker *w;
	struct fake fake;
	struct ini_config config;
	struct scsi_session *s;
	int ups, downs, closes;
	struct err why;
	struct scsi_cmd cmds[CMDS];
	int submitted, done_count, order[CMDS];
	struct scsi_tmf tmf;
	struct ini_ping ping;
	int tmf_done, ping_done, asyncs;
	uint8_t mem[CMDS][512];
	bool logs_out_when_done, frees_when_done;
	bool is_settled;	      // when it closed
	void (*on_up)(struct rig *r); // every time
	struct msg start;
};

static inline void on_up(struct scsi_session *s)
{
	struct rig *r = scsi_session_arg(s);
	r->ups++;
	if (r->on_up)
		r->on_up(r);
}

static inline void on_down(struct scsi_session *s, const struct err *why)
{
	struct rig *r = scsi_session_arg(s);
	r->downs++;
	r->why = *why;
}

static inline void on_async(struct scsi_session *s, const uint8_t *sense, size_t len)
{
	((struct rig *)scsi_session_arg(s))->asyncs++;
}

static inline void on_closed(struct scsi_session *s, const struct err *why)
{
	struct rig *r = scsi_session_arg(s);
	r->closes++;
	r->is_settled = scsi_session_is_settled(s);
	r->why = *why;
	scsi_session_free(s);
}

static inline void on_freed(void *arg)
{
	worker_stop(((struct rig *)arg)->w);
}

static const struct scsi_session_ops rig_ops = {
	.up = on_up, .down = on_down, .async = on_async, .closed = on_closed, .freed = on_freed
};

static inline void on_cmd_done(struct scsi_cmd *c)
{
	struct rig *r = c->arg;
	r->order[r->done_count++] = (int)(c - r->cmds);
	if (r->done_count < r->submitted)
		return;
	if (r->frees_when_done)
		scsi_session_free(r->s);
	else if (r->logs_out_when_done)
		scsi_session_logout(r->s);
}

// Default answers: status GOOD to every command, and the end of the session.
static inline void fake_pdu(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			    uint32_t len)
{
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD)
		fake_status(c, bhs, SCSI_GOOD, NULL, 0);
	else if ((bhs[0] & 0x3f) == ISCSI_OP_LOGOUT_REQ)
		fake_logout(c, bhs);
}

static inline void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->w = make_worker(true, 0);
	fake_init(&r->fake, r->w);
	r->fake.pdu = fake_pdu;
	fake_config(&r->fake, &r->config);
	r->logs_out_when_done = true;
}

static inline void rig_start(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, start);
	struct err e;
	if (ini_session_new(&r->s, r->w, &r->config, &rig_ops, r, &e) < 0)
		fail_msg("%s", e.text);
}

static inline void rig_run(struct rig *r)
{
	r->start.fn = rig_start;
	worker_post(r->w, &r->start);
	run_guarded(r->w);
}

static inline void rig_done(struct rig *r)
{
	fake_done(&r->fake);
	offload_shutdown();
	worker_free(r->w);
}

static inline void submit(struct rig *r, uint16_t lun)
{
	struct scsi_cmd *c = &r->cmds[r->submitted];
	scsi_cmd_set(c, lun, SCSI_TEST_UNIT_READY, NULL, NULL, 0);
	c->done = on_cmd_done;
	c->arg = r;
	r->submitted++;
	assert_int_equal(scsi_cmd_submit(r->s, c), 0);
}

static inline void up_logout(struct rig *r)
{
	scsi_session_logout(r->s);
}

static inline void up_three_commands(struct rig *r)
{
	if (r->ups > 1)
		return;
	for (int i = 0; i < 3; i++)
		submit(r, 0);
}

static inline void up_one_command(struct rig *r)
{
	if (r->ups == 1)
		submit(r, 0);
}
