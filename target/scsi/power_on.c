// SPDX-License-Identifier: BSD-2-Clause
// See power_on.h. A set-associative table of hashes, 128 KiB: in a full set a new entry replaces
// another.
#include "target/scsi/power_on.h"

#include <stdint.h>

#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"

enum { SETS = 4096, WAYS = 4 };

static uint64_t table[SETS][WAYS]; // 0: free; relaxed atomics

// FNV-1a, the terminating NUL included.
static uint64_t hash_text(uint64_t h, const char *text)
{
	do
		h = (h ^ (uint8_t)*text) * 0x100000001b3u;
	while (*text++);
	return h;
}

// Of the initiator port, the target port and the unit; never 0. Creating a collision requires
// access to the unit.
static uint64_t hash_of_path(const struct nexus_lun *nl)
{
	uint64_t h = (0xcbf29ce484222325u ^ nl->lu->id) * 0x100000001b3u;
	h = hash_text(hash_text(h, nl->nexus->info.initiator_port), nl->nexus->info.target_port);
	return h ? h : 1;
}

static uint64_t *set_of(uint64_t k)
{
	return table[(k ^ k >> 32) % SETS];
}

bool power_on_was_reported(const struct nexus_lun *nl)
{
	uint64_t k = hash_of_path(nl);
	const uint64_t *set = set_of(k);
	for (unsigned i = 0; i < WAYS; i++)
		if (__atomic_load_n(&set[i], __ATOMIC_RELAXED) == k)
			return true;
	return false;
}

void power_on_reported(const struct nexus_lun *nl)
{
	uint64_t k = hash_of_path(nl), *set = set_of(k);
	unsigned at = (unsigned)(k >> 60) % WAYS;
	if (power_on_was_reported(nl))
		return;
	for (unsigned i = 0; i < WAYS; i++)
		if (!__atomic_load_n(&set[i], __ATOMIC_RELAXED))
			at = i;
	__atomic_store_n(&set[at], k, __ATOMIC_RELAXED);
}
