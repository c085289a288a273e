// SPDX-License-Identifier: BSD-2-Clause
// Tables of a fixed size that any peer can write to: the address with the most entries loses one,
// so that a peer cannot displace the entries of others. Pure functions, any thread.
#pragma once

#include <stdint.h>

// Hash of the host in "host:port". Any peer can trigger this search at each of its logins, so
// hashes are compared, not texts.
uint32_t address_hash(const char *peer);
// The most frequent hash.
uint32_t address_busiest(const uint32_t *hosts, unsigned count);
