// SPDX-License-Identifier: BSD-2-Clause
// Blocking calls for programs: what SRP has beyond initiator/sync.h. The program's thread.
#pragma once

#include "initiator/srp/initiator.h"
#include "initiator/sync.h"

// The session of y was opened by srps_session_new().
void srps_sync_info(struct scsi_sync *y, struct srps_info *ret);
