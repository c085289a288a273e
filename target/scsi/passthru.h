// SPDX-License-Identifier: BSD-2-Clause
// Whole commands to a pass-through backstore (pscsi). Task's worker.
#pragma once

struct task;

// Sends t's CDB as it is, after submit.c's checks; ends t with the device's own answer.
void passthru_run(struct task *t);
