// SPDX-License-Identifier: BSD-2-Clause
// What farblock-initiator has of SRP: sessions from URLs, add_target strings and options. The
// program's thread; may block.
#pragma once

#include "initiator/srp/address.h"
#include "initiator/srp/initiator.h"
#include "initiator/tool/tool.h"

// tool.open for srp:// and add_target strings. Says on standard error if there are fewer channels
// than were asked for; srp_login() does not.
int srp_open(struct tool *t, bool needs_lun);
int srp_login(struct tool *t, bool needs_lun);
// A session's configuration from options and the address, without portals. -EINVAL with a text.
int srp_config(const struct tool *t, const struct srps_address *a, struct srps_config *ret,
	       struct err *e);

// Fills the portals of the configuration; may ask the resolver. Negative with a text.
int srp_resolve(struct srps_config *c, const struct srps_address *a, struct err *e);

// The subcommands.
int srp_discover(struct tool *t);
int srp_ping(struct tool *t);
