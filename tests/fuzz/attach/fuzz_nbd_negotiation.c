// SPDX-License-Identifier: BSD-2-Clause
// NBD's negotiation: any bytes from a client.
#include <stdlib.h>
#include <string.h>

#include "initiator/attach/socket/negotiation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct negotiation_export export = { .name = "disk",
							  .bytes = 1 << 20,
							  .block_size = 512 };
	static uint8_t out[NEGOTIATION_OUT_MAX];
	struct negotiation n;
	negotiation_begin(&n, &export, out);
	while (n.state < NEGOTIATION_DONE && n.want <= size) {
		if (!n.want || n.want > NEGOTIATION_IN_MAX)
			abort();
		uint32_t len = n.want;
		uint8_t *in = malloc(len); // its end is the sanitizer's
		if (!in)
			abort();
		memcpy(in, data, len);
		if (negotiation_take(&n, in, out) > sizeof out)
			abort();
		if (n.has_allocation && !n.is_structured)
			abort();
		free(in);
		data += len;
		size -= len;
	}
	return 0;
}
