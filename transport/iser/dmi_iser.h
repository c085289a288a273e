// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover; it implements transport/iscsi/datamover_initiator.h.
// RFC 7145.
#pragma once

#include "core/worker.h"
#include "transport/iscsi/datamover_initiator.h"
#include "transport/rdma/rnic.h"

struct dmi_iser_options {
	const struct rnic_provider *provider;
	struct tcp_addr peer;
	uint64_t timeout_usec; // of the connect; 0: 10 s
	bool wants_crc;	       // software iWARP: request CRCs
	// The connection is established: the role may send the first Login Request. Until then only
	// close may be called.
	void (*connected)(struct dmi *dm);
};

// Starts to connect; connected or up->closed follows, never from inside. The memory of commands
// need not be registered; if the device requires it (-EOPNOTSUPP of rnic_expose()), each command
// registers its memory with a system call. On w's thread; does not block. After an error no
// callback follows: -ENODEV no device reaches the peer; -ENOMEM.
int dmi_iser_connect(struct dmi **ret, struct worker *w, const struct dmi_iser_options *o,
		     const struct dmi_up *up, void *role, struct err *e);
