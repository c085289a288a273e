// SPDX-License-Identifier: BSD-2-Clause
// The published configuration, from the tree. Private to target/config; control thread.
#pragma once

#include "target/config/targets/targets.h"

int view_build(struct config *c, const struct published *p, struct view_target **ret,
	       struct err *e);
// Publishes the current targets (t->view of each).
int config_publish(struct config *c, struct err *e);
