// SPDX-License-Identifier: BSD-2-Clause
// Sessions that use an object to be deleted or changed. Control thread; visits the workers.
#pragma once

#include "target/config/tree/tree.h"

struct session_use;

// The last parameter of each command concerned.
#define PARAM_FORCE                                                                                \
	{                                                                                          \
		"force", PARAM_BOOL, false, "false", "true: delete it even if in use", NULL        \
	}
// Where a session is logged in, and the LUNs that it uses or sees.
struct session_place {
	const struct session_use *use;
	const struct node *target, *tpg;
	const struct node *acl; // NULL: by demo mode
};
bool place_uses(const struct session_place *p, uint32_t lun); // a number of those
// -EBUSY with the session if a session uses n, unless a has force. A session uses the LUNs that it
// has read, written or reserved, their storage, and, if it uses any LUN, the target, portal group,
// ACL and portal that it logged in through. Seeing a LUN is not use.
int in_use_refuse(struct config *c, const struct node *n, const struct args *a, struct err *e);
// The same of storage that a session sees, as it may have cached what it read in an earlier
// session.
int seen_refuse(struct config *c, const struct node *n, const struct args *a, struct err *e);
// Whether n itself is the target, portal group or ACL of the session: a class's is_used.
bool place_is(const struct node *n, const struct session_place *p);
// Removes n unless it is in use.
int delete_unused(struct config *c, struct node *n, const struct args *a, struct err *e);
// A command that does so with the child of n that its arguments name, by the row of n's class.
command_fn delete_child;
