// SPDX-License-Identifier: BSD-2-Clause
// The device server (SAM-5 4.5.19): what lu_new() gets for the logical units of farblock.
#pragma once

struct device_server;
struct task;

// Passes the task to the device server (SAM-5 Send SCSI Command). Nexus's worker.
void task_submit(struct task *t);

extern const struct device_server device_server;
