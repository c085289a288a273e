// SPDX-License-Identifier: BSD-2-Clause
// Limits of time of a worker's logins and sessions.
//
// What waits for the initiator (RDMA Reads, RDMA Writes and responses) ends its channel after
// SRP_STUCK_S seconds in which none of it moves, and after SRP_WAIT_S in all: a slow initiator goes
// on, one that takes a byte now and then does not. While another session has no buffer memory, one
// that has some gets less: 5 s, and the time in which what it has would move at 64 KiB a second.
//
// CRED_REQ asks a channel that has been silent for SRP_IDLE_S; its answer has the same limits, and
// without one the session ends. A channel that has not sent an IU yet must not be asked (ib_srp
// keeps queues without I/O as long as its host runs): it stays while another of its session is
// heard from, which being asked guarantees, and ends with it.
#pragma once

#include <stdint.h>

#include "core/worker.h"
#include "target/srp/session.h"

enum {
	SRP_STUCK_S = 30,
	SRP_WAIT_S = 300,
	SRP_IDLE_S = 60,
	// Without a word on any channel, where one that has sent no IU is left: those that can be
	// asked have been.
	SRP_MUTE_S = SRP_IDLE_S + 2 * SRP_STUCK_S,
	SRP_FIRST_S = 600, // for the first IU of a session
};

void srp_timeouts_tick(struct timer *t); // srp_worker.tick
// A session's part, by a clock of the caller.
void srp_timeouts_check(struct srp_session *s, uint64_t now);
