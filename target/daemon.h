// SPDX-License-Identifier: BSD-2-Clause
// The daemon from start to end, on the main thread, which is the control thread.
#pragma once

#include "target/options.h"

// Runs until SIGTERM, SIGINT or daemon.stop. 0, or a negative errno with text: it could not start.
int daemon_run(const struct daemon_options *o, struct err *e);
