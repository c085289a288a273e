// SPDX-License-Identifier: BSD-2-Clause
// The sessions of all fabrics that ended last, with the reason. Any thread; a short mutex.
#pragma once

#include <stdint.h>

#include "target/fabric/name.h"

struct session_end {
	uint64_t id;
	uint64_t when_s, lasted_s; // wall clock; from login to end
	char initiator[FABRIC_NAME_SIZE], target[FABRIC_NAME_SIZE], peer[80];
	char reason[200];
};

void session_end_note(const struct session_end *s);
// Copies the newest ones, at most max, and returns their number.
unsigned sessions_ended(struct session_end *out, unsigned max);
