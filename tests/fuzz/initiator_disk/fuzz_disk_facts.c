// SPDX-License-Identifier: BSD-2-Clause
// What a logical unit says of itself. Pieces of 2 bytes of length and so many bytes, one for each
// step; the rest is a response to REPORT TARGET PORT GROUPS.
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
	if (!facts_evaluate(&f, &e))
		check(&f.disk);
	alua_find(data, (uint32_t)size, false, f.port_group, &s, &is_preferred);
	alua_find(data, (uint32_t)size, true, f.port_group, &s, &is_preferred);
	return 0;
}
