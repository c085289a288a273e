// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover; it implements transport/iscsi/datamover_initiator.h.
// RFC 7145.
#pragma once

#include "core/worker.h"
#include "transport/iscsi/datamover_initiator.h"
#include "transport/rdma/rnic.h"

struct dm_iseri_options {
	const struct rnic_provider *provider;
	struct tcp_addr peer;
	uint64_t timeout_usec; // of the connect; 0: 10 s
	bool wants_crc;	       // software iWARP: check sums over what is sent
	// The connection stands: the role may send the first Login Request. Before it no other op
	// than close may be called.
	void (*connected)(struct dmi *dm);
};

// Begins to connect; connected or up->closed follows, never from inside. Commands' memory needs
// no registration, but where the device asks for one (-EOPNOTSUPP of rnic_expose()) and there is
// none, each command registers its own, which takes a system call. On w's thread; does not block.
// An error means that no callback comes: -ENODEV no device reaches the peer; -ENOMEM.
int dm_iser_initiator_connect(struct dmi **ret, struct worker *w, const struct dm_iseri_options *o,
			      const struct dmi_up *up, void *role, struct err *e);
