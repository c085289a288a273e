// SPDX-License-Identifier: BSD-2-Clause
// Shared by commands that write. Task's worker.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lu;
struct task;

// If the initiator announced less data than the CDB requires, only the announced blocks are written
// and the rest is residual overflow (RFC 7143 11.4.5.2): reduces t->blocks to them. False: the
// announced data ends within a block, and the task has ended.
bool write_cut_to_announced(struct task *t);

// BS_FUA if the command's FUA bit or a disabled write cache (WCE 0) requires it.
uint32_t write_flags(const struct task *t);
