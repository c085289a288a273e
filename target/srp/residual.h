// SPDX-License-Identifier: BSD-2-Clause
// Residuals of a response (T10 SRP 6.9): each direction has its own, from the length of the
// initiator's descriptors. Pure.
#pragma once

#include "target/scsi/task.h"
#include "transport/srp/target.h"

// Sets r's flags and residuals from t, which is done; takes_data: task_takes_data().
void residual_set(struct srp_result *r, const struct task *t, bool takes_data);
