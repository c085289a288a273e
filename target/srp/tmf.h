// SPDX-License-Identifier: BSD-2-Clause
// Task management requests.
#pragma once

#include "target/srp/session.h"

// struct srp_channel_up.task_mgmt
void srp_tmf_request(struct srp_channel *ch, const struct srp_task_mgmt *m);
// s is over: it does not wait for what its requests wait for, which other initiators may delay.
void srp_tmf_leave(struct srp_session *s);
