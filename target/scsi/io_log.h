// SPDX-License-Identifier: BSD-2-Clause
// Logs failures of the storage below a logical unit: the first failure of an operation with a cause
// at once, more of the same as a count every IO_LOG_S seconds, and the end of it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/lu_state.h"

#define IO_LOG_S 10 // interval of io_log_sweep()

// For io_log_note().
void io_log_result(struct lu *lu, unsigned op, uint64_t offset, uint64_t length, int res);

// Notes a result of the storage: res is 0 or a negative errno. Without failures it reads one byte,
// next to fields that the command has read already. Worker thread; on a failure it takes a mutex
// and may write a line.
static inline void io_log_note(struct lu *lu, const struct bs_io *io, int res)
{
	uint8_t failing = __atomic_load_n(&lu->failing_ops, __ATOMIC_RELAXED);
	if (__builtin_expect(res < 0 || failing, 0))
		io_log_result(lu, io->op, io->offset, io->length, res);
}

// The same for a SCSI command that a pass-through device did not accept.
static inline void io_log_note_scsi(struct lu *lu, int res)
{
	uint8_t failing = __atomic_load_n(&lu->failing_ops, __ATOMIC_RELAXED);
	if (__builtin_expect(res < 0 || failing, 0))
		io_log_result(lu, BS_OP_MAX, 0, 0, res);
}

// Logs the counts, and the operations that work again: those that failed earlier, and since the
// last call have succeeded and not failed. Control thread.
void io_log_sweep(struct lu *lu);

extern const struct lu_part io_log_part;
