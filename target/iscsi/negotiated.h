// SPDX-License-Identifier: BSD-2-Clause
// The negotiated values of a session as reports have them.
#pragma once

#include "target/fabric/session.h"
#include "transport/iscsi/keys.h"

// Adds all of them to `negotiated`. Pure function.
void negotiated_describe(const struct iscsi_params *p, struct session_info *to);
