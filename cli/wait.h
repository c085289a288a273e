// SPDX-License-Identifier: BSD-2-Clause
// Waiting for time to pass, or for a key, which Ctrl-C ends. Blocks.
#pragma once

#include "core/err.h"

// Seconds; -EINTR with text when SIGINT came.
int wait_seconds(double seconds, struct err *e);
