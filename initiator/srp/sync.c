// SPDX-License-Identifier: BSD-2-Clause
// See sync.h.
#include "initiator/srp/sync.h"

struct call {
	struct scsi_session *session;
	struct srps_info *info;
};

static void info_run(void *arg)
{
	struct call *c = arg;
	srps_session_info(c->session, c->info);
}

void srps_sync_info(struct scsi_sync *y, struct srps_info *ret)
{
	struct call c = { .session = scsi_sync_session(y), .info = ret };
	worker_call(scsi_sync_worker(y), info_run, &c);
}
