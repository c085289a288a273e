// SPDX-License-Identifier: BSD-2-Clause
// Waits for a time or a key; Ctrl-C ends the wait. Blocks.
#pragma once

#include "core/err.h"

// Seconds; -EINTR with text: SIGINT.
int wait_seconds(double seconds, struct err *e);
