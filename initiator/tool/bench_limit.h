// SPDX-License-Identifier: BSD-2-Clause
// Measures what limit.h decides from. The program's thread; blocks.
#pragma once

#include "initiator/bench/limit.h"
#include "initiator/bench/load.h"
#include "initiator/tool/tool.h"

// After a run on d with the same cmds, whose buffers have bytes each: the figures. Two bursts of
// commands that use no disk, of TOOL_BURST_MS each; they change nothing on d. None if the run
// failed or was interrupted. ret->was_interrupted is the caller's.
enum { TOOL_BURST_MS = 200 };
void tool_limit(struct limit_figures *ret, const struct tool_disk *d, const struct load *run,
		uint32_t bytes, bool is_write);
