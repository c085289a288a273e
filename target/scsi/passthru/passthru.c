// SPDX-License-Identifier: BSD-2-Clause
// Pass-through: the device's own device server responds; only commands about nexuses and LUNs are
// handled here (OP_LOCAL rows). Task's worker.
#include "target/scsi/passthru/passthru.h"

#include <string.h>

#include "target/scsi/handler.h"
#include "target/scsi/io_log.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/opcode.h"
#include "target/scsi/task_priv.h"

struct passthru {
	struct task *task;
	struct bs_scsi io;
};

// The device's sense data, which may be longer than ours.
static void copy_sense(struct task *t, const struct bs_scsi *io)
{
	t->sense_len = io->sense_len < SENSE_MAX ? (uint8_t)io->sense_len : SENSE_MAX;
	memcpy(t->sense, io->sense, t->sense_len);
}

// A tape at a filemark, a block of another length or the end of its data, and a disk that has
// corrected an error, return data together with CHECK CONDITION. With other sense keys the length
// is unknown, since drivers leave the residual 0.
static bool fails_with_data(const struct bs_scsi *io)
{
	uint8_t format = io->sense[0] & 0x7f; // deferred errors are not this command's
	if (io->status != STATUS_CHECK_CONDITION || io->sense_len < 8 ||
	    (format != 0x70 && format != 0x72))
		return false;
	uint8_t key = io->sense[format == 0x70 ? 2 : 1] & 0x0f;
	return key == SK_NO_SENSE || key == SK_RECOVERED || key == SK_BLANK_CHECK;
}

static void passthru_done(struct bs_scsi *io, int res)
{
	struct task *t = container_of(io, struct passthru, io)->task;
	task_storage_ends(t);
	io_log_note_scsi(t->lu, res);
	if (res < 0) {
		task_fail_io(t, res, 0);
		return;
	}
	uint32_t moved = io->residual < io->data_len ? io->data_len - io->residual : 0;
	t->wanted = moved;
	if (io->direction == BS_SCSI_IN)
		t->data_in = moved;
	t->fails_with_data = fails_with_data(io);
	copy_sense(t, io);
	task_finish(t, io->status);
}

static void passthru_submit(struct task *t)
{
	struct passthru *p = t->scratch;
	p->io.sg = t->sg;
	p->io.nsg = t->nsg;
	p->io.copied = &t->nexus->copied;
	t->state = TASK_RUNNING;
	task_storage_begins(t);
	backstore_scsi(lu_bs(t->lu), &p->io);
}

static bool is_refused(const struct task *t)
{
	bool is_protected = t->nl->is_write_protected || t->lu->is_readonly;
	return is_protected && !passthru_is_harmless(lu_bs(t->lu)->limits.device_type, t->cdb);
}

// The row's length, or that of the opcode's group (SPC-4 4.2.5.1); for vendor-specific groups all
// bytes.
static uint32_t cdb_length(const struct task *t)
{
	static const uint8_t of_group[8] = { 6, 10, 10, 0, 16, 12, 0, 0 };
	uint32_t len = t->row->cdb_len ? t->row->cdb_len : of_group[t->cdb[0] >> 5];
	return len && len <= t->cdb_len ? len : t->cdb_len;
}

void passthru_run(struct task *t)
{
	if (is_refused(t)) {
		task_check(t, SENSE_WRITE_PROTECTED, NULL);
		return;
	}
	struct passthru *p = task_scratch(t, sizeof *p);
	if (!p)
		return;
	p->task = t;
	p->io.cdb = t->cdb;
	p->io.cdb_len = cdb_length(t);
	p->io.done = passthru_done;
	if (t->expected_out) {
		p->io.direction = BS_SCSI_OUT;
		p->io.data_len = t->expected_out;
		task_fetch(t, t->expected_out, passthru_submit);
	} else if (t->expected_in) {
		p->io.direction = BS_SCSI_IN;
		p->io.data_len = t->expected_in;
		task_buffers(t, t->expected_in, passthru_submit);
	} else {
		p->io.direction = BS_SCSI_NONE;
		passthru_submit(t);
	}
}
