// SPDX-License-Identifier: BSD-2-Clause
// Handlers of SPC: the commands of all device types, by file, for the rows of server/dispatch.c.
// Each runs on the task's worker after the checks of server/submit.c, must not block, and ends the
// task through task_status.h.
#pragma once

#include <stdbool.h>

struct lu;
struct task;

// inquiry.c, vpd.c (SPC-4 6.6, 7.8)
void inquiry_run(struct task *t);

// mode_sense.c, mode_select.c (SPC-4 6.9 to 6.12, 7.5)
void mode_sense6_run(struct task *t);
void mode_sense10_run(struct task *t);
void mode_select6_run(struct task *t);
void mode_select10_run(struct task *t);

// request_sense.c
void test_unit_ready_run(struct task *t); // SPC-4 6.47
void request_sense_run(struct task *t);	  // SPC-4 6.39

// prevent_allow.c, diagnostic.c
bool prevent_allow_is_available(const struct lu *lu);
void prevent_allow_run(struct task *t);	     // SPC-4 6.17
void send_diagnostic_run(struct task *t);    // SPC-4 6.42
void receive_diagnostic_run(struct task *t); // SPC-4 6.28

// report_luns.c, report_supported.c
void report_luns_run(struct task *t);	 // SPC-4 6.33
void report_opcodes_run(struct task *t); // SPC-4 6.35
void report_tmfs_run(struct task *t);	 // SPC-4 6.36
bool report_opcodes_is_available(const struct lu *lu);

// remove_nexus.c
void remove_nexus_run(struct task *t); // SPC-4 6.29
