// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover: datamover.h over an RDMA connection. Put_Data becomes
// RDMA Writes followed by a SCSI Response, Get_Data becomes RDMA Reads. RFC 7145.
#pragma once

#include "transport/iscsi/datamover.h"
#include "transport/rdma/rnic.h"

// Accepts q and creates its mover; q is freed, on failure too (rejected). Uses tos and pkey of
// wanted, which may be NULL. On the request's worker, which then owns the connection.
int dm_iser_new(struct dm **ret, struct rnic_request *q, const struct rnic_qp_options *wanted,
		const struct dm_up *up, void *role, struct err *e);

// How many memory registrations on the device of dm (from the function above) a peer may read or
// write. Any thread; takes a lock.
unsigned dm_iser_remote_rights(const struct dm *dm);
