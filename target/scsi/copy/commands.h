// SPDX-License-Identifier: BSD-2-Clause
// Handlers of the copy manager, by file, for the rows of server/dispatch.c. Each runs on the task's
// worker after the checks of server/submit.c, must not block, and ends the task through
// task_status.h.
#pragma once

#include <stdbool.h>

struct lu;
struct task;

// extended_copy.c, receive_results.c (SPC-4 6.4, 6.17, 6.18, 6.20)
void extended_copy_run(struct task *t);
void receive_copy_status_run(struct task *t);
void receive_copy_parameters_run(struct task *t);
void receive_copy_failure_run(struct task *t);
bool third_party_is_available(const struct lu *lu);

// odx.c, odx_info.c (SBC-3 5.7, 5.37, 5.22)
void odx_run(struct task *t);
void receive_rod_token_run(struct task *t);
