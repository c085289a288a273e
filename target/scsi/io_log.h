// SPDX-License-Identifier: BSD-2-Clause
// What the storage below a logical unit fails with, in the log: the first failure of an operation
// and a cause at once, more of the same as a count every IO_LOG_S seconds, and the end of it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/lu.h"

#define IO_LOG_S 10 // how often io_log_sweep() is to be called

// For io_log_note().
void io_log_result(struct lu *lu, unsigned op, uint64_t offset, uint64_t length, int res);

// Whoever gets an answer of the storage says so: res is 0 or a negative errno. While nothing has
// failed it looks at one byte beside what the command has read anyway. Worker thread; after a
// failure it takes a mutex and may write a line.
static inline void io_log_note(struct lu *lu, const struct bs_io *io, int res)
{
	uint8_t failing = __atomic_load_n(&lu->failing_ops, __ATOMIC_RELAXED);
	if (__builtin_expect(res < 0 || failing, 0))
		io_log_result(lu, io->op, io->offset, io->length, res);
}

// The same for a whole SCSI command that a pass-through device did not take.
static inline void io_log_note_scsi(struct lu *lu, int res)
{
	uint8_t failing = __atomic_load_n(&lu->failing_ops, __ATOMIC_RELAXED);
	if (__builtin_expect(res < 0 || failing, 0))
		io_log_result(lu, BS_OP_MAX, 0, 0, res);
}

// Says the counts, and what works again: what has failed, has worked since the last call and has
// not failed since. Control thread.
void io_log_sweep(struct lu *lu);

extern const struct lu_part io_log_part; // for lu_part.c
