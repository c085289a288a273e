// SPDX-License-Identifier: BSD-2-Clause
// The published configuration, from the tree. Private to target/config; control thread.
#pragma once

#include "target/config/targets/targets.h"

int view_build(struct config *c, const struct published *p, struct view_target **ret,
	       struct err *e);

// A target that a change concerns, and its new view.
struct built {
	struct published *target;
	struct view_target *view;
};
// -EBUSY with text if the open transaction, of which list has the views, takes from a session a LUN
// that it uses, exchanges the disk of one, or removes the target, ACL or portal that it came by:
// what `delete` refuses, by whatever command. A disabled portal group does not count. fix: what the
// user can do. -ENOMEM. Visits the workers.
int used_refuse(struct config *c, const struct built *list, size_t count, const char *fix,
		struct err *e);
// Publishes the current targets (t->view of each).
int config_publish(struct config *c, struct err *e);
