// SPDX-License-Identifier: BSD-2-Clause
// Blocking calls for programs: what SRP has beyond initiator/sync.h. The program's thread.
#pragma once

#include "initiator/srp/initiator.h"
#include "initiator/sync.h"
#include "transport/srp/list.h"

// The session of y was opened by srps_session_new().
void srps_sync_info(struct scsi_sync *y, struct srps_info *ret);

// discover.c: asks the portals of c for their targets, the first that answers. found is called for
// each target at each of its portals, in the target's order, after the whole list was checked; the
// identifier of the target and the number of channels in c have no effect. *ret_is_cut: the target
// has more than it can list. Negative with a text.
int srps_sync_discover(const struct srps_config *c,
		       void (*found)(void *arg, const struct srp_listed *one), void *arg,
		       bool *ret_is_cut, struct err *e);
