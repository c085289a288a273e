// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover in a test: on a control worker, with a scripted target behind a
// socket pair.
#pragma once

#include "core/worker_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/iscsi/digest.h"
#include "transport/iscsi/dm_tcp_initiator.h"
#include "transport/wire/be.h"

enum { IN_MAX = 4 << 20, TASKS = 4 };

// The mover on a control worker, and its peer: a socket whose PDUs go to the test's script.
struct rig {
	struct worker *w;
	struct dmi *dm;
	struct iscsi_params params;
	struct dmi_task tasks[TASKS];
	int task_count;
	int res[TASKS], done_count, controls, windows;
	bool is_closed, ends_when_done;
	struct err why;
	struct msg start;

	int peer;
	struct watch watch;
	bool is_deaf; // the peer does not read
	uint8_t *in;
	size_t in_len;
	void (*script)(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len);
	uint8_t out[65536]; // data-out put together by the script
	uint32_t out_len, pdus;
	uint32_t stat_sn;
	int step;
};

static inline void rig_end(struct rig *r)
{
	struct err e;
	err_set(&e, -ESHUTDOWN, "end of test");
	r->dm->ops->close(r->dm, &e);
}

static inline void up_done(struct dmi *dm, struct dmi_task *t, int res)
{
	struct rig *r = dm->role;
	r->res[t - r->tasks] = res;
	if (++r->done_count == r->task_count && r->ends_when_done && res != -EPIPE)
		rig_end(r);
}

static inline int up_control(struct dmi *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			     const uint8_t *data, struct err *e)
{
	((struct rig *)dm->role)->controls++;
	return 0;
}

static inline void up_window(struct dmi *dm)
{
	((struct rig *)dm->role)->windows++;
}

static inline void up_closed(struct dmi *dm, const struct err *e)
{
	struct rig *r = dm->role;
	assert_false(r->is_closed);
	r->is_closed = true;
	r->why = *e;
	dm->ops->free(dm);
	watch_remove(r->w, &r->watch);
	worker_stop(r->w);
}

static const struct dmi_up up = {
	.done = up_done, .control = up_control, .window = up_window, .closed = up_closed
};

static inline void peer_rx(struct watch *wa, uint32_t events)
{
	struct rig *r = container_of(wa, struct rig, watch);
	ssize_t n;
	if (r->is_deaf)
		return;
	while ((n = read(r->peer, r->in + r->in_len, IN_MAX - r->in_len)) > 0) {
		r->in_len += (size_t)n;
		for (;;) {
			uint32_t len = r->in_len >= 48 ? get_be24(r->in + 5) : 0;
			size_t whole = 48 + ((len + 3) & ~3u);
			if (r->in_len < 48 || r->in_len < whole)
				break;
			r->pdus++;
			r->script(r, r->in, r->in + 48, len);
			if (r->is_closed)
				return;
			memmove(r->in, r->in + whole, r->in_len - whole);
			r->in_len -= whole;
		}
	}
}

static inline void say(struct rig *r, const void *bhs, const void *data, uint32_t len)
{
	uint8_t pdu[48 + 65536 + 4] = { 0 };
	size_t whole = 48 + ((len + 3) & ~3u);
	memcpy(pdu, bhs, 48);
	put_be24(pdu + 5, len);
	if (len)
		memcpy(pdu + 48, data, len);
	assert_int_equal(write(r->peer, pdu, whole), whole);
}

static inline void rig_start(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, start);
	r->dm->sns = (struct dmi_sns){
		.cmd_sn = 1, .exp_cmd_sn = 1, .max_cmd_sn = 64, .exp_stat_sn = 1
	};
	r->dm->ops->full_feature(r->dm, &r->params);
	for (int i = 0; i < r->task_count; i++)
		r->dm->ops->command(r->dm, &r->tasks[i]);
}

static inline void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->w = make_worker(true, 0);
	r->in = malloc(IN_MAX);
	iscsi_params_init(&r->params);
	r->params.max_recv_data = 65536;
	r->params.max_send_data = 512;
	r->params.max_burst = 4096;
	r->params.first_burst = 1024;
	r->params.max_outstanding_r2t = 2;
	r->params.initial_r2t = true;
	r->params.immediate_data = true;
	r->stat_sn = 1;
	r->ends_when_done = true;
}

static inline struct dmi_task *add(struct rig *r, struct sg *sg, uint32_t nsg, uint32_t len,
				   bool is_write)
{
	struct dmi_task *t = &r->tasks[r->task_count++];
	t->sg = sg;
	t->nsg = nsg;
	t->len = len;
	t->is_write = is_write;
	t->is_read = !is_write;
	return t;
}

static inline void rig_run(struct rig *r)
{
	int fds[2];
	struct err e;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	r->peer = fds[1];
	fcntl(r->peer, F_SETFL, O_NONBLOCK);
	assert_int_equal(dm_tcp_initiator_new(&r->dm, r->w, fds[0], &up, r, &e), 0);
	r->watch.fn = peer_rx;
	r->watch.fd = -1;
	assert_int_equal(watch_add(r->w, &r->watch, r->peer, 0), 0);
	r->start.fn = rig_start;
	worker_post(r->w, &r->start);
	run_guarded(r->w);
	assert_true(r->is_closed);
	assert_int_equal(r->done_count, r->task_count);
}

static inline void rig_done(struct rig *r)
{
	close(r->peer);
	worker_free(r->w);
	free(r->in);
}

// --- what the target says ---

static inline void answer_head(struct rig *r, uint8_t *bhs, uint8_t opcode, uint8_t flags,
			       const uint8_t *cmd)
{
	memset(bhs, 0, 48);
	bhs[0] = opcode;
	bhs[1] = flags;
	memcpy(bhs + 16, cmd + 16, 4);
	put_be32(bhs + 24, r->stat_sn);
	put_be32(bhs + 28, 2);
	put_be32(bhs + 32, 65);
}

static inline void data_in(struct rig *r, const uint8_t *cmd, uint8_t flags, uint32_t sn,
			   uint32_t offset, const void *data, uint32_t len)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_DATA_IN, flags, cmd);
	put_be32(bhs + 20, ISCSI_TAG_NONE);
	put_be32(bhs + 36, sn);
	put_be32(bhs + 40, offset);
	say(r, bhs, data, len);
}

static inline void response(struct rig *r, const uint8_t *cmd, uint8_t flags, uint8_t status,
			    uint32_t residual, const void *sense, uint32_t len)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_SCSI_RSP, ISCSI_F | flags, cmd);
	bhs[3] = status;
	put_be32(bhs + 44, residual);
	say(r, bhs, sense, len);
	r->stat_sn++;
}

static inline void r2t(struct rig *r, const uint8_t *cmd, uint32_t ttt, uint32_t sn,
		       uint32_t offset, uint32_t len)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_R2T, ISCSI_F, cmd);
	put_be32(bhs + 20, ttt);
	put_be32(bhs + 36, sn);
	put_be32(bhs + 40, offset);
	put_be32(bhs + 44, len);
	say(r, bhs, NULL, 0);
}
