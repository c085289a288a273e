// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes the parser of MODE SELECT parameter lists: the first byte chooses the header, the
// rest is the list.
#include <stdlib.h>

#include "target/scsi/lu_state.h"
#include "target/scsi/spc/mode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct backstore bs = {
		.limits = {.block_size = 512, .has_write_cache = true}
	};
	static struct lu lu = { .bs = &bs, .block_size = 512, .block_shift = 9, .blocks = 2048 };
	if (!size)
		return 0;
	struct mode_values before = mode_current(&lu), v = before;
	unsigned byte = 0;
	uint32_t code = mode_select_parse(&lu, data + 1, size - 1, data[0] & 1, &v, &byte);
	if (code && byte > size)
		abort();
	return 0;
}
