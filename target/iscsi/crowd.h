// SPDX-License-Identifier: BSD-2-Clause
// Tables of a fixed size that any peer can write to: the address with the most entries is the one
// that makes room, so that no peer displaces another one's. Pure functions, any thread.
#pragma once

#include <stdint.h>

// Of the host in "host:port". Any peer can have us look for a crowd at each of its logins: hashes
// are compared, not texts.
uint32_t crowd_hash(const char *peer);
// The hash that is there most often.
uint32_t crowd_most(const uint32_t *hosts, unsigned count);
