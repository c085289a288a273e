// SPDX-License-Identifier: BSD-2-Clause
// What a logical unit says of itself. Pieces of 2 bytes of length and so many bytes, one for each
// step; the rest is a response to REPORT TARGET PORT GROUPS, and one to GET LBA STATUS.
#include <stdlib.h>
#include <string.h>

#include "initiator/disk/alua.h"
#include "initiator/disk/facts.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct disk_facts *d)
{
	if (!d->blocks || !d->transfer_max || d->transfer_max % d->block_size ||
	    d->unmap_max % d->block_size || d->zeroes_max % d->block_size ||
	    d->zeroes_max > UINT32_MAX || d->unmap_max > UINT32_MAX)
		abort();
}

static void extents(const struct disk_facts *d, const uint8_t *data, size_t size)
{
	uint64_t bytes = d->blocks < 4096 ? d->blocks * d->block_size : 4096ull * d->block_size;
	size_t room = size < DISK_EXTENTS_MIN ? DISK_EXTENTS_MIN : size;
	struct disk_extent *e = malloc(room); // its end is the sanitizer's
	uint64_t sum = 0;
	if (!e)
		abort();
	memcpy(e, data, size);
	unsigned n = facts_extents(d, e, (uint32_t)size, 0, bytes);
	for (unsigned i = 0; i < n; sum += e[i++].len)
		if (!e[i].len || e[i].len % d->block_size)
			abort();
	if (!n || n * sizeof *e > room || sum > bytes)
		abort();
	free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct facts f = { 0 };
	struct err e;
	enum alua_state s;
	bool is_preferred;
	for (unsigned i = 1; i < facts_step_count && size >= 2; i++) {
		uint32_t len = get_be16(data);
		len = len < size - 2 ? len : (uint32_t)(size - 2);
		len = len < facts_steps[i].bytes ? len : facts_steps[i].bytes;
		uint8_t *response = malloc(len ? len : 1); // its end is the sanitizer's
		if (!response)
			abort();
		memcpy(response, data + 2, len);
		facts_steps[i].take(&f, response, len);
		free(response);
		data += 2 + len;
		size -= 2 + len;
	}
	if (!facts_evaluate(&f, &e)) {
		check(&f.disk);
		extents(&f.disk, data, size);
	}
	alua_find(data, (uint32_t)size, false, f.port_group, &s, &is_preferred);
	alua_find(data, (uint32_t)size, true, f.port_group, &s, &is_preferred);
	return 0;
}
