// SPDX-License-Identifier: BSD-2-Clause
// The copy manager's engine (SPC-4 5.16): moves pieces between LUNs of one nexus on behalf of
// a task, through READ(16) and WRITE(16) tasks of its own. So what another initiator's READ
// or WRITE would meet - write protection, reservations, ALUA, frozen ranges, aborts - the
// copy meets as well. Data goes through one pool buffer, which is the parent's. Everything runs
// on the worker of the parent task.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/worker.h"
#include "target/scsi/nexus.h"
#include "target/scsi/progress.h"
#include "target/scsi/task.h"

// Copies that run at the same time, as VPD page 8Fh and RECEIVE COPY OPERATING PARAMETERS tell:
// in this process, and of one nexus. Commands beyond wait for their turn.
#define COPIES_MAX	 64u
#define COPIES_NEXUS_MAX 16u

#define COPY_CHUNK (256u << 10) // bytes of the buffer of each

// Gives back the data that t has fetched, waits until t's nexus may have one more copy, gets the
// buffer, which counts as any of the nexus's, and runs next. An aborted task ends instead. BUSY
// when others have all the copies there are.
void copy_await_turn(struct task *t, void (*next)(struct task *t));
// After next: the copy has ended, or has not come to pass. copy_job_start() sees to it itself.
void copy_turn_over(struct task *t);

// Bytes to be copied, or zeroed. Offsets and length are multiples of the block sizes.
struct copy_piece {
	struct nexus_lun *from; // NULL: zeroes
	struct nexus_lun *to;
	uint64_t from_at, to_at; // bytes
	uint64_t length;
};

enum copy_end {
	COPY_DONE,
	COPY_FAILED,  // child_status, child_sense and child_reads tell why
	COPY_ABORTED, // the parent was
	COPY_INVALID, // is_valid() said no
};

struct copy_job {
	// The owner's part. It keeps pieces until done. It is the parent's turn.
	struct task *parent;
	const struct copy_piece *pieces;
	uint32_t npieces;
	// Asked after every read: false ends the job. NULL: always true.
	bool (*is_valid)(struct copy_job *j);
	// The job has ended and holds nothing any more.
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
	uint64_t at;	// bytes of the piece that are done
	uint32_t chunk; // bytes under way
	uint8_t state;
	bool is_running;
};

// Starts it; done comes at once or later. pieces may be none.
void copy_job_start(struct copy_job *j);

// True if length bytes from byte at lie on lu and are whole blocks.
bool copy_range_fits(const struct lu *lu, uint64_t at, uint64_t length);
