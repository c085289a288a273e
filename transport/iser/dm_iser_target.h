// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover: datamover.h over an RDMA connection. Put_Data becomes
// RDMA Writes followed by a SCSI Response, Get_Data becomes RDMA Reads. RFC 7145.
#pragma once

#include "transport/iscsi/datamover.h"
#include "transport/rdma/rnic.h"

// Accepts q and makes a mover of it; q is gone afterwards, on failure too (rejected). Of wanted,
// which may be NULL, tos and pkey are taken. The request's worker, which is the connection's from
// then on.
int dm_iser_target_new(struct dm **ret, struct rnic_request *q,
		       const struct rnic_qp_options *wanted, const struct dm_up *up, void *role,
		       struct err *e);

// How many registrations of memory on the device of dm, a mover of the function above, some peer
// may read or write. Any thread; takes a lock.
unsigned dm_iser_remote_rights(const struct dm *dm);
