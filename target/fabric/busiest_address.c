// SPDX-License-Identifier: BSD-2-Clause
// Finds the address with the most entries of a table: see busiest_address.h.
#include "target/fabric/busiest_address.h"

#include <string.h>

uint32_t address_hash(const char *peer)
{
	const char *end = strrchr(peer, ':');
	uint32_t h = 5381;
	while (*peer && peer != end)
		h = h * 33 + (uint8_t)*peer++;
	return h;
}

uint32_t address_busiest(const uint32_t *hosts, unsigned count)
{
	uint32_t ret = 0;
	unsigned most = 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned n = 0;
		for (unsigned j = 0; j < count; j++)
			n += hosts[i] == hosts[j];
		if (n > most) {
			most = n;
			ret = hosts[i];
		}
	}
	return ret;
}
