// SPDX-License-Identifier: BSD-2-Clause
// The copy manager's engine (SPC-4 5.16): copies pieces between LUNs of one nexus on behalf of a
// task, with internal READ(16) and WRITE(16) tasks. So the rules of another initiator's READ or
// WRITE - write protection, reservations, ALUA, frozen ranges, aborts - apply to the copy as well.
// Data goes through one pool buffer, owned by the parent. Everything runs on the worker of the
// parent task.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/worker.h"
#include "target/scsi/progress.h"
#include "target/scsi/task.h"

// Bytes to copy or to zero. Offsets and length are multiples of the block sizes.
struct copy_piece {
	struct nexus_lun *from; // NULL: zeroes
	struct nexus_lun *to;
	uint64_t from_at, to_at; // bytes
	uint64_t length;
};

enum copy_end {
	COPY_DONE,
	COPY_FAILED,  // see child_status, child_sense and child_reads
	COPY_ABORTED, // the parent was aborted
	COPY_INVALID, // is_valid() returned false
};

struct copy_job {
	// The owner's part. It keeps pieces until done. The parent has its turn.
	struct task *parent;
	const struct copy_piece *pieces;
	uint32_t npieces;
	// Called after every read: false ends the job. NULL: always true.
	bool (*is_valid)(struct copy_job *j);
	// The job has ended and holds no resources.
	void (*done)(struct copy_job *j, enum copy_end end);
	// The result so far.
	uint32_t pieces_done;
	uint64_t bytes_done;
	bool child_reads; // which side failed
	uint8_t child_status, child_sense_len;
	uint8_t child_sense[SENSE_MAX];
	// private
	struct progress progress;
	struct task child;
	uint8_t cdb[16];
	struct buf *bounce;
	struct msg resume;
	uint64_t at;	// bytes of the piece already copied
	uint32_t chunk; // bytes in flight
	uint8_t state;
	bool is_running;
};

// Starts it; done is called at once or later. There may be no pieces.
void copy_job_start(struct copy_job *j);

// True if length bytes from byte at are within lu and whole blocks.
bool copy_range_fits(const struct lu *lu, uint64_t at, uint64_t length);
