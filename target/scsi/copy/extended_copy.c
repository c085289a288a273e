// SPDX-License-Identifier: BSD-2-Clause
// EXTENDED COPY(LID1) (SPC-4 6.4): block to block segments between LUNs of the session, one
// after the other, in the foreground. Task's worker.
#include "target/scsi/copy/extended_copy.h"

#include <string.h>

#include "target/scsi/copy/commands.h"
#include "target/scsi/copy/job.h"
#include "target/scsi/copy/results.h"
#include "target/scsi/copy/turn.h"
#include "target/scsi/handler.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "transport/wire/be.h"

enum {
	SENSE_COPY_DEVICE_FAILED = SENSE(SK_COPY_ABORTED, 0x0d, 0x01),
	SENSE_COPY_UNREACHABLE = SENSE(SK_COPY_ABORTED, 0x0d, 0x02),
};

struct xcopy { // the task's scratch
	struct xcopy_request request;
	struct copy_job job;
	struct copy_piece pieces[XCOPY_SEGMENT_MAX];
	uint8_t cscds[XCOPY_CSCD_MAX * XCOPY_CSCD_LEN];
	bool has_bad_segment; // the segment after pieces cannot be executed
};

static void keep_result(struct task *t, bool is_running)
{
	const struct xcopy *x = t->scratch;
	struct copy_result r = { .nexus_id = t->nexus->id,
				 .list_id = x->request.list_id,
				 .kind = COPY_EXTENDED,
				 .is_running = is_running,
				 .status = t->status,
				 .segments = x->job.pieces_done,
				 .bytes = x->job.bytes_done };
	if (x->request.usage != XCOPY_HOLD)
		return;
	// The underlying failure is more specific than the resulting COPY ABORTED.
	if (x->job.child_status == STATUS_CHECK_CONDITION) {
		r.sense_len = x->job.child_sense_len;
		memcpy(r.sense, x->job.child_sense, r.sense_len);
	}
	copy_result_keep(t->lu, &r);
}

static void fail(struct task *t, enum scsi_status status, uint32_t sense)
{
	t->status = status; // for the result
	keep_result(t, false);
	if (status == STATUS_CHECK_CONDITION)
		task_check(t, sense, NULL);
	else
		task_finish(t, status);
}

static void copied(struct copy_job *j, enum copy_end end)
{
	struct task *t = j->parent;
	const struct xcopy *x = t->scratch;
	if (end == COPY_FAILED && j->child_status == STATUS_RESERVATION_CONFLICT) {
		fail(t, STATUS_RESERVATION_CONFLICT, 0);
	} else if (end != COPY_DONE) {
		fail(t, STATUS_CHECK_CONDITION, SENSE_COPY_DEVICE_FAILED);
	} else if (x->has_bad_segment) {
		fail(t, STATUS_CHECK_CONDITION, SENSE_COPY_UNREACHABLE);
	} else {
		keep_result(t, false);
		task_good(t);
	}
}

// False: an invalid index, LU or range.
static bool make_piece(struct copy_piece *p, const struct task *t, const struct xcopy_segment *s)
{
	const struct xcopy_request *r = &((const struct xcopy *)t->scratch)->request;
	if (s->from >= r->ncscds || s->to >= r->ncscds)
		return false;
	p->from = xcopy_find_lun(t->nexus, r->cscds + s->from * XCOPY_CSCD_LEN);
	p->to = xcopy_find_lun(t->nexus, r->cscds + s->to * XCOPY_CSCD_LEN);
	if (!p->from || !p->to)
		return false;
	const struct lu *from = p->from->lu, *to = p->to->lu;
	uint64_t from_limit = UINT64_MAX >> from->block_shift;
	uint64_t to_limit = UINT64_MAX >> to->block_shift;
	if (s->from_lba > from_limit || s->to_lba > to_limit)
		return false;
	p->from_at = s->from_lba << from->block_shift;
	p->to_at = s->to_lba << to->block_shift;
	p->length = (uint64_t)s->blocks << (s->counts_target ? to : from)->block_shift;
	return copy_range_fits(from, p->from_at, p->length) &&
	       copy_range_fits(to, p->to_at, p->length);
}

static void copy_begin(struct task *t)
{
	struct xcopy *x = t->scratch;
	uint32_t n = 0;
	while (n < x->request.nsegments && make_piece(&x->pieces[n], t, &x->request.segments[n]))
		n++;
	x->has_bad_segment = n < x->request.nsegments;
	keep_result(t, true);
	x->job.parent = t;
	x->job.pieces = x->pieces;
	x->job.npieces = n;
	x->job.done = copied;
	copy_job_start(&x->job);
}

static void fetched(struct task *t)
{
	struct xcopy *x = task_scratch(t, sizeof *x);
	int field;
	if (!x)
		return;
	uint32_t sense = xcopy_parse(&x->request, task_params(t), get_be32(t->cdb + 10), &field);
	if (sense) {
		task_check_param(t, sense, field);
		return;
	}
	// Frees the list.
	memcpy(x->cscds, x->request.cscds, (size_t)x->request.ncscds * XCOPY_CSCD_LEN);
	x->request.cscds = x->cscds;
	copy_await_turn(t, copy_begin);
}

void extended_copy_run(struct task *t)
{
	uint32_t len = get_be32(t->cdb + 10);
	if (!len)
		task_good(t);
	else
		task_fetch_params(t, len, fetched);
}

bool third_party_is_available(const struct lu *lu)
{
	return lu_setting(&lu->attr.emulate_3pc);
}
