// SPDX-License-Identifier: BSD-2-Clause
// POPULATE TOKEN and WRITE USING TOKEN (SBC-3 5.7, 5.37). Task's worker.
//
// Both work in the foreground. With IMMED the status only means that the request was well formed,
// and RECEIVE ROD TOKEN INFORMATION reports the result; without it the status reports both.
#include "target/scsi/copy/odx.h"

#include <string.h>

#include "target/scsi/copy/commands.h"
#include "target/scsi/copy/job.h"
#include "target/scsi/copy/results.h"
#include "target/scsi/copy/turn.h"
#include "target/scsi/handler.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/opcode.h"
#include "target/scsi/taskset.h"
#include "transport/wire/be.h"

enum {
	PARAM_MAX = 536 + ROD_RANGES_MAX * 16,
	SENSE_COPY_DEVICE_FAILED = SENSE(SK_COPY_ABORTED, 0x0d, 0x01),
	SENSE_TOKEN_UNKNOWN = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x04),
	SENSE_TOKEN_REVOKED = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x06),
};

struct odx { // the task's scratch
	struct odx_request request;
	struct rod_token *token; // created or used; a reference, released before the task ends
	struct lu_round drain;	 // POPULATE TOKEN: of writes that began before the token
	struct copy_job job;
	struct copy_piece pieces[2 * ROD_RANGES_MAX];
};

static uint32_t list_id_of(const struct task *t)
{
	return get_be32(t->cdb + 6);
}

static void keep_result(struct task *t, bool is_running, enum scsi_status status, uint32_t sense)
{
	const struct odx *o = t->scratch;
	struct copy_result r = { .nexus_id = t->nexus->id,
				 .list_id = list_id_of(t),
				 .kind = t->cdb[1] & 0x1f,
				 .is_running = is_running,
				 .status = status };
	if (r.kind == COPY_POPULATE_TOKEN) {
		r.has_token = status == STATUS_GOOD;
		r.blocks = r.has_token ? o->request.blocks : 0;
		if (r.has_token)
			memcpy(r.token, o->token->bytes, ROD_TOKEN_LEN);
	} else {
		r.blocks = o->job.bytes_done >> t->lu->block_shift;
	}
	r.bytes = r.blocks << t->lu->block_shift;
	if (sense)
		r.sense_len = (uint8_t)sense_encode(
			r.sense, sense, NULL, __atomic_load_n(&t->lu->d_sense, __ATOMIC_RELAXED));
	copy_result_keep(t->lu, &r);
}

static void odx_end(struct task *t, enum scsi_status status, uint32_t sense)
{
	struct odx *o = t->scratch;
	keep_result(t, false, status, sense);
	if (o->token && o->request.deletes)
		rod_token_delete(o->token);
	rod_token_put(o->token);
	o->token = NULL;
	if (o->request.is_immediate || status == STATUS_GOOD)
		task_good(t);
	else if (status == STATUS_CHECK_CONDITION)
		task_check(t, sense, NULL);
	else
		task_finish(t, status);
}

// --- POPULATE TOKEN -----------------------------------------------------------------------

// Counts writes to the token's blocks in flight. Later ones, and those not started yet, revoke the
// token.
static bool drain_awaits(const struct lu_round *r, const struct task *t)
{
	const struct odx *o = container_of(r, const struct odx, drain);
	return t->row && (t->row->flags & OP_WRITES) && !task_has_yet_to_begin(t) &&
	       rod_token_is_good(o->token) && rod_token_covers(o->token, t->lba, t->blocks);
}

static void drained(struct lu_round *r)
{
	struct odx *o = container_of(r, struct odx, drain);
	struct task *t = o->job.parent;
	if (t->is_aborted)
		rod_token_delete(o->token);
	odx_end(t, t->is_aborted ? STATUS_TASK_ABORTED : STATUS_GOOD, 0);
}

static const struct lu_round_ops drain_round = {
	.awaits = drain_awaits,
	.done = drained,
};

static void populate(struct task *t)
{
	struct odx *o = t->scratch;
	const struct odx_request *r = &o->request;
	uint32_t type = r->has_type ? r->rod_type : ROD_TYPE_POINT_IN_TIME;
	o->token = rod_token_new(t->lu, type, r->ranges, r->nranges, r->timeout);
	if (!o->token) {
		odx_end(t, STATUS_BUSY, 0);
		return;
	}
	// Writes revoke the token from here on; earlier ones must end first. Writes need not wait
	// for that.
	o->job.parent = t;
	lu_round_start(&o->drain, t->lu, &drain_round);
}

// --- WRITE USING TOKEN --------------------------------------------------------------------

static bool is_zero_token(const uint8_t *token)
{
	return get_be32(token) == ROD_TYPE_ZERO && get_be16(token + 6) == ROD_TOKEN_LEN - 8;
}

static bool token_is_good(struct copy_job *j)
{
	const struct odx *o = j->parent->scratch;
	return rod_token_is_good(o->token);
}

static void written(struct copy_job *j, enum copy_end why)
{
	struct task *t = j->parent;
	if (why == COPY_DONE)
		odx_end(t, STATUS_GOOD, 0);
	else if (why == COPY_INVALID)
		odx_end(t, STATUS_CHECK_CONDITION, SENSE_TOKEN_REVOKED);
	else if (why == COPY_FAILED && j->child_status == STATUS_RESERVATION_CONFLICT)
		odx_end(t, STATUS_RESERVATION_CONFLICT, 0);
	else
		odx_end(t, STATUS_CHECK_CONDITION, SENSE_COPY_DEVICE_FAILED);
}

// The session's own path to the token's source.
static struct nexus_lun *find_source(const struct task *t, const struct rod_token *token)
{
	for (uint32_t i = 0; i < t->nexus->lun_limit; i++) {
		struct nexus_lun *nl = t->nexus->luns[i];
		if (nl && nl->lu->id == token->lu_id)
			return nl;
	}
	return NULL;
}

// Pieces that zero the ranges.
static void plan_zeroes(struct task *t)
{
	struct odx *o = t->scratch;
	uint32_t shift = t->lu->block_shift;
	for (uint32_t i = 0; i < o->request.nranges; i++)
		o->pieces[i] = (struct copy_piece){
			.to = t->nl,
			.to_at = o->request.ranges[i].lba << shift,
			.length = o->request.ranges[i].blocks << shift,
		};
	o->job.npieces = o->request.nranges;
}

// Splits the token's ranges, from offset on, to match the ranges to write. The lengths were
// compared: the source is long enough.
static void plan_copy(struct task *t, struct nexus_lun *from)
{
	struct odx *o = t->scratch;
	const struct rod_range *in = o->token->ranges;
	uint64_t skip = o->request.offset, used = 0;
	uint32_t shift = t->lu->block_shift, n = 0;
	while (skip >= in->blocks) {
		skip -= in->blocks;
		in++;
	}
	for (uint32_t i = 0; i < o->request.nranges;) {
		const struct rod_range *out = &o->request.ranges[i];
		uint64_t left_in = in->blocks - skip, left_out = out->blocks - used;
		uint64_t blocks = left_in < left_out ? left_in : left_out;
		o->pieces[n++] = (struct copy_piece){
			.from = from,
			.to = t->nl,
			.from_at = (in->lba + skip) << shift,
			.to_at = (out->lba + used) << shift,
			.length = blocks << shift,
		};
		skip += blocks;
		used += blocks;
		if (skip == in->blocks) {
			in++;
			skip = 0;
		}
		if (used == out->blocks) {
			i++;
			used = 0;
		}
	}
	o->job.npieces = n;
}

// 0, or the sense code for a token that cannot be used here.
static uint32_t plan(struct task *t)
{
	struct odx *o = t->scratch;
	const struct odx_request *r = &o->request;
	if (is_zero_token(r->token)) {
		plan_zeroes(t);
		return 0;
	}
	uint32_t sense = rod_token_find(&o->token, r->token);
	if (sense)
		return sense;
	struct nexus_lun *from = find_source(t, o->token);
	if (!from)
		return SENSE_TOKEN_UNKNOWN;
	if (from->lu->block_size != t->lu->block_size || r->offset > o->token->blocks ||
	    r->blocks > o->token->blocks - r->offset)
		return SENSE_INVALID_FIELD_PARAM;
	o->job.is_valid = token_is_good;
	if (r->blocks)
		plan_copy(t, from);
	return 0;
}

static void write_using(struct task *t)
{
	struct odx *o = t->scratch;
	uint32_t sense = plan(t);
	if (sense) {
		rod_token_put(o->token);
		o->token = NULL;
		copy_turn_over(t);
		task_check(t, sense, NULL);
		return;
	}
	keep_result(t, true, STATUS_GOOD, 0);
	o->job.parent = t;
	o->job.pieces = o->pieces;
	o->job.done = written;
	copy_job_start(&o->job);
}

// --- Both -----------------------------------------------------------------------------------

static void fetched(struct task *t)
{
	struct odx *o = task_scratch(t, sizeof *o);
	bool populates = (t->cdb[1] & 0x1f) == COPY_POPULATE_TOKEN;
	int field;
	if (!o)
		return;
	uint32_t sense = (populates ? odx_parse_populate : odx_parse_write)(
		&o->request, task_params(t), get_be32(t->cdb + 10), lu_capacity(t->lu),
		t->lu->block_size, &field);
	if (sense)
		task_check_param(t, sense, field);
	else if (populates)
		populate(t);
	else
		copy_await_turn(t, write_using);
}

void odx_run(struct task *t)
{
	uint32_t len = get_be32(t->cdb + 10);
	if (!len)
		task_good(t);
	else if (len > PARAM_MAX)
		task_check(t, SENSE_PARAM_LIST_LENGTH, NULL);
	else
		task_fetch_params(t, len, fetched);
}
