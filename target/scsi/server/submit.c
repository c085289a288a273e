// SPDX-License-Identifier: BSD-2-Clause
// From the protocol's task_submit() to the handler: the checks, cheap ones first, in the priority
// of SAM-5 5.3 and SPC-4 4.5. Task's worker; nothing here allocates, locks or sends a message.
#include "target/scsi/alua/access.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/medium.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/passthru/passthru.h"
#include "target/scsi/reservations/reservations.h"
#include "target/scsi/sbc/lba.h"
#include "target/scsi/server/device_server.h"
#include "target/scsi/server/dispatch.h"
#include "target/scsi/task_priv.h"
#include "target/scsi/task_status.h"
#include "target/scsi/taskset.h"

static void submit_no_lu(struct task *t)
{
	if (t->row && (t->row->flags & OP_NO_LU))
		t->row->run(t);
	else
		task_check(t, SENSE_LUN_NOT_SUPPORTED, NULL);
}

static void report_ua(struct task *t)
{
	// UA_INTLCK_CTRL 10b and 11b: it stays until REQUEST SENSE.
	bool stays = lu_setting(&t->lu->attr.emulate_ua_intlck_ctrl);
	task_check(t, ua_code(stays ? ua_peek(t->nl) : ua_take(t->nl)), NULL);
}

// An opcode with another service action is valid.
static void refuse_opcode(struct task *t)
{
	if (dispatch_has_opcode(t->lu, t->cdb[0]))
		task_invalid_cdb(t, 1, -1);
	else
		task_check(t, SENSE_INVALID_OPCODE, NULL);
}

// NACA and the ACA attribute: this device server has NORMACA 0 (SAM-5 5.9.2).
static bool wants_aca(const struct task *t)
{
	return (t->cdb[t->row->cdb_len - 1] & 0x04) || t->attr == TASK_ACA;
}

static bool write_check(struct task *t)
{
	uint16_t flags = t->row->flags;
	if ((t->nl->is_write_protected && !(flags & OP_HARMLESS)) ||
	    (t->lu->is_readonly && (flags & OP_WRITES))) {
		task_check(t, SENSE_WRITE_PROTECTED, NULL);
		return false;
	}
	if (!(flags & OP_WRITES))
		return true;
	if (__atomic_load_n(&t->lu->swp, __ATOMIC_RELAXED)) {
		task_check(t, SENSE_SW_WRITE_PROTECTED, NULL);
		return false;
	}
	return true;
}

// Checks against other nexuses and target port groups.
static bool access_check(struct task *t)
{
	const struct opcode_row *row = t->row;
	if (pr_conflict(t->nl, row)) {
		task_finish(t, STATUS_RESERVATION_CONFLICT);
		return false;
	}
	uint32_t code = alua_check(t->lu, t->nl->alua_group, row);
	if (!code)
		return true;
	task_check(t, code, NULL);
	return false;
}

// Unknown commands for a pass-through device: only the holder of a reservation may send them, and
// only through an active port.
static const struct opcode_row unknown_row = {
	.pr = PR_WRITE,
	.alua = ALUA_ACTIVE,
	.name = "unknown",
};

// From here on the nexus uses the LU (nexus_lun_is_used()). Queries about the LU have neither a
// range nor writes; for unknown commands this is not known.
static void note_access(struct task *t)
{
	if (t->row->flags & (OP_RANGE | OP_WRITES) || t->row == &unknown_row)
		t->nl->has_accessed = true;
}

static void submit_passthru(struct task *t)
{
	if (!t->row)
		t->row = &unknown_row;
	if (!access_check(t))
		return;
	note_access(t);
	passthru_run(t);
}

static void submit_medium(struct task *t)
{
	const struct opcode_row *row = t->row;
	if ((row->flags & OP_MEDIUM) && !medium_check(t))
		return;
	if (!write_check(t))
		return;
	note_access(t);
	if (!(row->flags & OP_RANGE)) {
		row->run(t);
		return;
	}
	if (lba_check(t) && taskset_enter_range(t, row->run))
		row->run(t);
}

// A unit whose storage is missing identifies itself: the commands that are permitted in every
// access state and change nothing.
static bool is_answered_absent(const struct opcode_row *row)
{
	return row->alua == ALUA_ALWAYS && !(row->flags & OP_DATA_OUT);
}

static void submit_checks(struct task *t)
{
	const struct opcode_row *row = t->row;
	struct lu *lu = t->lu;
	if (t->nl->ua && !(row && (row->flags & OP_IGNORES_UA)) && !t->is_internal) {
		report_ua(t);
		return;
	}
	// Before the command is said not to exist: what the storage can do is not known.
	if (lu->is_absent && row && !is_answered_absent(row)) {
		task_check(t, SENSE_BECOMING_READY, NULL);
		return;
	}
	if (lu->type->is_passthrough && !(row && (row->flags & OP_LOCAL))) {
		submit_passthru(t);
		return;
	}
	if (!row || !opcode_is_available(row, lu)) {
		refuse_opcode(t);
		return;
	}
	if (wants_aca(t)) {
		task_invalid_cdb(t, row->cdb_len - 1u, 2);
		return;
	}
	if (!access_check(t))
		return;
	uint32_t delay = row->flags & OP_MEDIUM ? alua_delay(lu, t->nl->alua_group) : 0;
	if (delay)
		task_delay(t, delay, submit_medium);
	else
		submit_medium(t);
}

void task_submit(struct task *t)
{
	struct nexus_lun *nl = nexus_find_lun(t->nexus, t->lun);
	worker_count_request(t->nexus->worker);
	t->start_ns = worker_now(t->nexus->worker);
	t->row = dispatch_find(t->cdb, t->cdb_len);
	t->state = TASK_RUNNING;
	if (!nl) {
		submit_no_lu(t);
		return;
	}
	t->nl = nl;
	t->lu = nl->lu;
	t->is_held = true;
	nl->held++;
	if (nl->inflight++ >= lu_setting(&nl->lu->attr.queue_depth) && !t->is_internal) {
		task_finish(t, STATUS_TASK_SET_FULL);
		return;
	}
	if (taskset_enter(t, submit_checks))
		submit_checks(t);
}
