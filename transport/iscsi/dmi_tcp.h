// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover; it implements datamover_initiator.h.
#pragma once

#include "core/worker.h"
#include "transport/iscsi/datamover_initiator.h"

// Takes ownership of fd, a connected socket, on failure too; the connection is in the login phase.
// On w's thread; does not block. -ENOMEM, or an errno of epoll_ctl().
int dmi_tcp_new(struct dmi **ret, struct worker *w, int fd, const struct dmi_up *up, void *role,
		struct err *e);
