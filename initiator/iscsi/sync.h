// SPDX-License-Identifier: BSD-2-Clause
// Blocking calls for programs: what iSCSI has beyond initiator/sync.h. The program's thread.
#pragma once

#include "initiator/iscsi/initiator.h"
#include "initiator/sync.h"

// The session of y was opened by ini_session_new().
void ini_sync_info(struct scsi_sync *y, struct ini_session_info *ret);

// One NOP-Out and its response, on a session opened by ini_session_new().
int ini_sync_ping(struct scsi_sync *y, uint64_t *ret_rtt_ns);

// Discovery: found is called for every record, on the worker's thread, before this returns.
int ini_sync_discover(const struct ini_config *config,
		      void (*found)(void *arg, const struct sendtargets_record *r), void *arg,
		      struct err *e);
