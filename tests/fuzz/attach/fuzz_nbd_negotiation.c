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
	static uint8_t in[NEGOTIATION_IN_MAX], out[NEGOTIATION_OUT_MAX];
	struct negotiation n;
	negotiation_begin(&n, &export, out);
	while (n.state < NEGOTIATION_DONE && n.want <= size) {
		if (!n.want || n.want > sizeof in)
			abort();
		memcpy(in, data, n.want);
		data += n.want;
		size -= n.want;
		if (negotiation_take(&n, in, out) > sizeof out)
			abort();
	}
	return 0;
}
