// SPDX-License-Identifier: BSD-2-Clause
// The table of I_T nexuses: a nexus has one session, whichever worker it is on. T10 SRP 4.7: a
// login to a single channel ends the older session, one to several joins it.
#pragma once

#include "target/srp/login.h"
#include "target/srp/session.h"

enum nexus_place {
	NEXUS_NEW,	 // s is entered
	NEXUS_JOINS,	 // *ret_old, a live session of this worker
	NEXUS_WAITS,	 // l->resume_msg will be posted when the older session has ended
	NEXUS_ELSEWHERE, // another worker has its channels
	NEXUS_BUSY,	 // another login waits for it already, or was faster
	NEXUS_NO_MEMORY,
};

// Enters the session of a login. had_waited: it does not wait again.
enum nexus_place nexuses_enter(struct srp_session *s, struct login *l, bool had_waited,
			       struct srp_session **ret_old);
// The session is over: none joins it any more.
void nexuses_ends(struct srp_session *s);
// Its nexus is freed: a new one may begin. No-op if it is not entered.
void nexuses_leave(struct srp_session *s);
