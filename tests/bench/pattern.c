// SPDX-License-Identifier: BSD-2-Clause
// Content that can be checked without remembering it: every 8 bytes are a hash
// of the logical unit and the byte address they lie at.
#include "load.h"

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x7fb5d329728ea185u;
	x ^= x >> 27;
	x *= 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

void pattern_fill(uint8_t *data, unsigned lun, uint64_t offset, uint32_t len)
{
	uint64_t seed = mix(lun + 1);

	for (uint32_t i = 0; i + 8 <= len; i += 8) {
		uint64_t word = mix(seed ^ (offset + i));

		memcpy(data + i, &word, 8);
	}
}

bool pattern_matches(const uint8_t *data, unsigned lun, uint64_t offset, uint32_t len)
{
	uint64_t seed = mix(lun + 1);

	for (uint32_t i = 0; i + 8 <= len; i += 8) {
		uint64_t word = mix(seed ^ (offset + i));

		if (memcmp(data + i, &word, 8))
			return false;
	}
	return true;
}
