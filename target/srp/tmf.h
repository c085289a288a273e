// SPDX-License-Identifier: BSD-2-Clause
// Task management requests.
#pragma once

#include "target/srp/session.h"

// struct srp_channel_up.task_mgmt
void srp_tmf_request(struct srp_channel *ch, const struct srp_task_mgmt *m);
