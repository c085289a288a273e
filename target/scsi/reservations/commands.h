// SPDX-License-Identifier: BSD-2-Clause
// Handlers of reservations, by file, for the rows of server/dispatch.c. Each runs on the task's
// worker after the checks of server/submit.c, must not block, and ends the task through
// task_status.h.
#pragma once

#include <stdbool.h>

struct lu;
struct task;

// persistent_in.c, persistent_out.c (SPC-4 6.15, 6.16)
void pr_read_keys_run(struct task *t);
void pr_read_reservation_run(struct task *t);
void pr_report_capabilities_run(struct task *t);
void pr_read_full_status_run(struct task *t);
void pr_out_run(struct task *t);
bool pr_is_available(const struct lu *lu); // RESERVE and RELEASE too

// reserve.c (SPC-2 7.16, 7.21)
void reserve_run(struct task *t);
void release_run(struct task *t);
