// SPDX-License-Identifier: BSD-2-Clause
// The providers of RDMA that farblock-initiator was built with. Any thread.
#pragma once

#include "core/err.h"
#include "transport/rdma/rnic.h"

enum { PROVIDERS_MAX = 2 };

// Fills ret, of PROVIDERS_MAX, with those to try, in this order: name, or all (NULL). -EINVAL with
// a text.
int providers_set(const char *name, const struct rnic_provider **ret, unsigned *ret_count,
		  struct err *e);
