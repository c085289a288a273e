// SPDX-License-Identifier: BSD-2-Clause
// One line on what the daemon serves, for who asks the service manager: systemctl status farblockd.
// Told at the start, at each reload, and when it has changed. Control thread; nothing blocks.
#pragma once

#include "core/worker.h"

struct config;

struct status {
	struct worker *control;
	struct config *config;
	struct timer timer;
	char told[160];
};

// Looks every STATUS_S seconds from then on, if there is a manager (NOTIFY_SOCKET).
enum { STATUS_S = 2 };
void status_init(struct status *s, struct worker *control, struct config *config);
// Says "READY=1" together with the line.
void status_ready(struct status *s);
// Before the configuration goes. No-op on one that is zeroed.
void status_done(struct status *s);
