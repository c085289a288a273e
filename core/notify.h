// SPDX-License-Identifier: BSD-2-Clause
// Reports the daemon's state to the service manager (sd_notify(3)): "READY=1", "WATCHDOG=1",
// "STOPPING=1". Any thread; no-op without NOTIFY_SOCKET.
#pragma once

void notify_manager(const char *state);
