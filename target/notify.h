// SPDX-License-Identifier: BSD-2-Clause
// Readiness to the service manager (sd_notify(3)): "READY=1", "STOPPING=1". Any thread;
// nothing happens without NOTIFY_SOCKET.
#pragma once

void notify_manager(const char *state);
