// SPDX-License-Identifier: BSD-2-Clause
// The latest refused logins of all fabrics, with the reason. Any thread; a short mutex.
#pragma once

#include <stdint.h>

#include "target/fabric/name.h"

enum refusal_cause {
	REFUSED_AUTH,	 // authentication failed
	REFUSED_ACL,	 // no ACL admits the initiator
	REFUSED_TARGET,	 // no such target at this portal
	REFUSED_TIMEOUT, // the login was not finished in time
	REFUSED_OTHER,
	REFUSAL_CAUSES
};

struct login_refusal {
	uint64_t first_s, last_s; // wall clock, seconds
	uint64_t count;
	char initiator[FABRIC_NAME_SIZE], target[FABRIC_NAME_SIZE], peer[80];
	enum refusal_cause cause;
	uint32_t status; // of the protocol: of iSCSI class << 8 | detail, of SRP the reason code
	char reason[200];
};

// Records a refusal. initiator, target: "" if unknown. peer: address:port. reason: the cause and
// its cure in words.
void refusal_note(const char *initiator, const char *target, const char *peer,
		  enum refusal_cause cause, uint32_t status, const char *reason);
// Copies the newest ones, at most max, and returns their number. Repeats are folded.
unsigned login_refusals(struct login_refusal *out, unsigned max);
