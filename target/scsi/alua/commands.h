// SPDX-License-Identifier: BSD-2-Clause
// Handlers of asymmetric logical unit access, by file, for the rows of server/dispatch.c. Each runs
// on the task's worker after the checks of server/submit.c, must not block, and ends the task
// through task_status.h.
#pragma once

#include <stdbool.h>

struct lu;
struct task;

// report_groups.c, set_groups.c (SPC-4 6.37, 6.45)
void report_target_port_groups_run(struct task *t);
void set_target_port_groups_run(struct task *t);
bool alua_is_available(const struct lu *lu);
bool alua_is_settable(const struct lu *lu);
