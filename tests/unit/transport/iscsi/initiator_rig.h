// SPDX-License-Identifier: BSD-2-Clause
// A mover of the initiator in a test: the role above it, and a scripted target behind whatever
// carries its PDUs, which dmi_tcp_rig.h and transport/iser/dmi_iser_rig.h have.
// On a control worker, which the test's thread runs.
#pragma once

#include "core/worker_util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iscsi/datamover_initiator.h"
#include "transport/wire/be.h"

enum { TASKS = 160 };

struct rig_task {
	uint8_t lun[8], cdb[ISCSI_CDB_LEN], sense[DMI_SENSE_MAX];
	struct dmi_task dm;
	_Alignas(8) uint8_t room[64]; // the mover's
};

struct rig;
typedef void script_fn(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len);

struct carrier {
	const char *name;
	void (*init)(struct rig *r);
	// Connects; rig_begin() when established.
	void (*connect)(struct rig *r);
	// The target sends these bytes as one PDU.
	void (*say)(struct rig *r, const void *pdu, uint32_t len);
	void (*hang_up)(struct rig *r); // the target closes
	void (*closed)(struct rig *r);	// the mover has closed; worker_stop() when that is all
	void (*done)(struct rig *r);
};

struct rig {
	const struct carrier *carrier;
	void *below; // the carrier's
	struct worker *w;
	struct dmi *dm;
	struct iscsi_params params;
	struct rig_task tasks[TASKS];
	int task_count;
	int res[TASKS], done_count, controls, windows;
	bool is_closed, ends_when_done, stays_in_login;
	struct err why;
	struct msg start;
	uint32_t last_data_len; // of a control PDU
	bool has_nul;
	struct dmi_sns sns; // at the end
	unsigned tasks_max;

	// The target's script, called with each PDU; without commands once, with none.
	script_fn *script;
	void (*on_done)(struct rig *r); // the first command has ended; may call the mover
	const uint8_t *hdr;		// iSER: the header of the present message
	uint32_t pdus, stat_sn, max_cmd_sn;
	int step;
	uint8_t out[65536]; // data-out put together by the script
	uint32_t out_len;
};

static inline void rig_end(struct rig *r)
{
	struct err e;
	err_set(&e, -ESHUTDOWN, "end of test");
	r->dm->ops->close(r->dm, &e);
}

// --- what the target says ---

static inline void say(struct rig *r, const uint8_t *bhs, const void *data, uint32_t len)
{
	uint8_t pdu[48 + 65536 + 4] = { 0 };
	memcpy(pdu, bhs, 48);
	put_be24(pdu + 5, len);
	if (len)
		memcpy(pdu + 48, data, len);
	r->carrier->say(r, pdu, 48 + ((len + 3) & ~3u));
}

static inline void answer_head(struct rig *r, uint8_t *bhs, uint8_t opcode, uint8_t flags,
			       const uint8_t *cmd)
{
	memset(bhs, 0, 48);
	bhs[0] = opcode;
	bhs[1] = flags;
	memcpy(bhs + 16, cmd + 16, 4);
	put_be32(bhs + 24, r->stat_sn);
	put_be32(bhs + 28, 2);
	put_be32(bhs + 32, r->max_cmd_sn);
}

static inline void response_head(struct rig *r, uint8_t *bhs, const uint8_t *cmd, uint8_t flags,
				 uint8_t status, uint32_t residual)
{
	answer_head(r, bhs, ISCSI_OP_SCSI_RSP, ISCSI_F | flags, cmd);
	bhs[3] = status;
	put_be32(bhs + 44, residual);
	r->stat_sn++;
}

static inline void response(struct rig *r, const uint8_t *cmd, uint8_t flags, uint8_t status,
			    uint32_t residual, const void *sense, uint32_t len)
{
	uint8_t bhs[48];
	response_head(r, bhs, cmd, flags, status, residual);
	say(r, bhs, sense, len);
}

static inline void rig_heard(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	r->pdus++;
	r->script(r, bhs, data, len);
}

// --- the role ---

static inline void up_done(struct dmi *dm, struct dmi_task *t, int res)
{
	struct rig *r = dm->role;
	struct rig_task *one = container_of(t, struct rig_task, dm);
	r->res[one - r->tasks] = res;
	assert_true(dm->task_size <= sizeof one->room);
	memset(one->room, 0xa5, sizeof one->room); // the next command's
	void (*on_done)(struct rig * r) = r->on_done;
	r->on_done = NULL;
	if (on_done)
		on_done(r);
	if (++r->done_count == r->task_count && r->ends_when_done && res != -EPIPE)
		rig_end(r);
}

static inline int up_control(struct dmi *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			     const uint8_t *data, struct err *e)
{
	struct rig *r = dm->role;
	r->controls++;
	r->last_data_len = pdu->data_len;
	r->has_nul = data && !data[pdu->data_len];
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
	r->sns = dm->sns;
	r->tasks_max = dm->tasks_max;
	dm->ops->free(dm);
	r->carrier->closed(r);
}

static const struct dmi_up up = {
	.done = up_done, .control = up_control, .window = up_window, .closed = up_closed
};

static inline void rig_begin(struct rig *r)
{
	struct dmi *dm = r->dm;
	dm->sns = (struct dmi_sns){
		.cmd_sn = 1, .exp_cmd_sn = 1, .max_cmd_sn = 64, .exp_stat_sn = 1
	};
	if (!r->stays_in_login)
		dm->ops->full_feature(dm, &r->params);
	for (int i = 0; i < r->task_count; i++)
		dm->ops->command(dm, &r->tasks[i].dm);
	if (!r->task_count)
		r->script(r, NULL, NULL, 0);
}

static inline struct dmi_task *add(struct rig *r, struct sg *sg, uint32_t nsg, uint32_t len,
				   bool is_write)
{
	struct rig_task *one = &r->tasks[r->task_count++];
	struct dmi_task *t = &one->dm;
	t->lun = one->lun;
	t->cdb = one->cdb;
	t->sense = one->sense;
	t->sg = sg;
	t->nsg = nsg;
	t->len = len;
	t->is_write = is_write;
	t->is_read = !is_write;
	return t;
}

// --- begin and end ---

static inline void rig_init(struct rig *r, const struct carrier *carrier)
{
	memset(r, 0, sizeof *r);
	r->carrier = carrier;
	r->w = make_worker(true, 0);
	iscsi_params_init(&r->params);
	r->params.initial_r2t = true;
	r->params.immediate_data = true;
	r->stat_sn = 1;
	r->max_cmd_sn = 65;
	r->ends_when_done = true;
	carrier->init(r);
}

static inline void rig_go(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, start);
	r->carrier->connect(r);
}

// Runs until the connection is closed.
static inline void rig_run(struct rig *r)
{
	r->start.fn = rig_go;
	worker_post(r->w, &r->start);
	run_guarded(r->w);
	assert_true(r->is_closed);
	assert_int_equal(r->done_count, r->task_count);
}

// One read of 64 bytes, which the script answers.
static inline struct dmi_task *read_one(struct rig *r, script_fn *script)
{
	static uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r->script = script;
	add(r, &sg, 1, sizeof mem, false);
	rig_run(r);
	return &r->tasks[0].dm;
}

// How the first command has ended, and words of the reason for the end of the connection.
static inline void assert_ended(const struct rig *r, const char *what, int res, const char *words)
{
	if (r->res[0] != res || !strstr(r->why.text, words))
		fail_msg("%s: res %d, closed with: %s", what, r->res[0], r->why.text);
}

static inline void rig_done(struct rig *r)
{
	r->carrier->done(r);
	worker_free(r->w);
}
