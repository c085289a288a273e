// SPDX-License-Identifier: BSD-2-Clause
// Tells the service manager the daemon's state (sd_notify(3)): "READY=1", "WATCHDOG=1",
// "STOPPING=1". Any thread; does nothing without NOTIFY_SOCKET.
#pragma once

void notify_manager(const char *state);
