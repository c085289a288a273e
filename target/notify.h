// SPDX-License-Identifier: BSD-2-Clause
// What the service manager hears of the daemon's state (sd_notify(3)): "READY=1", "WATCHDOG=1",
// "STOPPING=1". Any thread; nothing happens without NOTIFY_SOCKET.
#pragma once

void notify_manager(const char *state);
