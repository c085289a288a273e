// SPDX-License-Identifier: BSD-2-Clause
// A session for the administrator: slots of struct fabric_ops. Its worker.
#pragma once

#include "target/fabric/session.h"

void srp_describe(const struct session *s, struct session_info *to);
struct buf_copies srp_copies(const struct session *s);
extern const struct attr_row srp_negotiated_rows[];
