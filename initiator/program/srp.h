// SPDX-License-Identifier: BSD-2-Clause
// What farblock-initiator has of SRP: sessions from URLs, add_target strings and options. The
// program's thread; may block.
#pragma once

#include "initiator/srp/address.h"
#include "initiator/srp/initiator.h"
#include "initiator/tool/tool.h"

// tool.path for srp:// and add_target strings.
int srp_path(const struct tool *t, const char *url, bool needs_lun, struct tool_path *ret,
	     struct err *e);
// tool.opened: says on standard error if there are fewer channels than were asked for.
void srp_opened(struct tool *t);
// A session's configuration from options and the address, without portals. -EINVAL with a text.
int srp_config(const struct tool *t, const struct srps_address *a, struct srps_config *ret,
	       struct err *e);

// Fills the portals of the configuration; may ask the resolver. Negative with a text.
int srp_resolve(struct srps_config *c, const struct srps_address *a, struct err *e);

// The subcommands.
int srp_discover(struct tool *t);
int srp_ping(struct tool *t);
// Adds the portal of the first argument to the tree. TOOL_USAGE after printing the error.
struct tree;
int srp_tree(struct tool *t, struct tree *tree);
