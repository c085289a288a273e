// SPDX-License-Identifier: BSD-2-Clause
// Discovery: who logs in to srp_list_port (transport/srp/list.h) gets a channel without a nexus, on
// which the list of targets is all that there is. docs/srp.md has the format.
//
// Any peer may do that: a channel keeps the slot of its login (login_slots.h), lives for some
// seconds and has a limit of commands; silent ones end sooner. Private to target/srp; the
// connection's worker.
#pragma once

#include "target/srp/login.h"
#include "target/srp/worker.h"

// Accepts the login's request as a discovery channel, to which the connection then belongs. On an
// error the request was refused, unless l->request is still set.
int discovery_begin(struct login *l, struct err *e);
// A newcomer takes the slot of s, which is a discovery channel's.
void discovery_displace(struct session *s);
// Every second: closes those whose time is over. How many there are.
unsigned discoveries_check(struct srp_worker *sw, uint64_t now);
// Closes all. False: nothing is left to close.
bool discoveries_stop(struct srp_worker *sw);
