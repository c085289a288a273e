// SPDX-License-Identifier: BSD-2-Clause
// The status line that `systemctl status farblockd` shows.
// Sent at start, at each reload, and when it changes. Control thread; nothing blocks.
#pragma once

#include "core/worker.h"

struct config;

struct status {
	struct worker *control;
	struct config *config;
	struct timer timer;
	char told[160];
};

// Starts a check every STATUS_S seconds, if there is a service manager (NOTIFY_SOCKET).
enum { STATUS_S = 2 };
void status_init(struct status *s, struct worker *control, struct config *config);
// Sends "READY=1" together with the line.
void status_ready(struct status *s);
// Call before the configuration is freed. No-op on a zeroed one.
void status_done(struct status *s);
