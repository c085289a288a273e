// SPDX-License-Identifier: BSD-2-Clause
// SANITIZE as the rest of the device server sees it (SBC-4 4.11): lu->sanitize is 0, or tells
// why commands are refused.
#pragma once

#include <stdint.h>

#include "target/scsi/sense.h"

struct lu;

// Values of lu->sanitize: 1 .. 65536 is the progress (of 65536) plus 1.
#define SANITIZE_IDLE	0u
#define SANITIZE_FAILED UINT32_MAX // the last one failed and nobody has left the failure mode

// lu->sanitize as it is now; any thread.
uint32_t sanitize_state(const struct lu *lu);
// How far a running one is, of 100.
unsigned sanitize_percent(uint32_t state);

// The sense code for a command refused in this state (not 0), and what goes with it: NOT
// READY, SANITIZE IN PROGRESS with the progress, or MEDIUM ERROR, SANITIZE COMMAND FAILED.
uint32_t sanitize_sense(uint32_t state, struct sense_extra *ret_extra);

// A sanitize operation keeps the unit open until it is through. For who must close it or stop
// the program earlier: makes it fail at the next slice (the unit is then in failure mode
// until it is gone, and again when it is opened). Any thread.
void sanitize_stop(struct lu *lu);
