// SPDX-License-Identifier: BSD-2-Clause
// Answers of a copy manager, the third-party copy page and the result of a token command: whatever
// a target sends, what is taken lies within it.
#include <stdlib.h>
#include <string.h>

#include "initiator/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct token_limits l;
	struct token_info i;
	uint8_t *copy = calloc(1, size + !size); // of exactly its size
	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	if (token_limits_parse(&l, copy, (uint32_t)size) && size < 4 + 4 + 32)
		abort();
	for (uint8_t action = 0x10; action <= 0x11; action++)
		if (token_info_parse(&i, copy, (uint32_t)size, action)) {
			if (i.is_running && i.is_done)
				abort();
			if (i.sense && (i.sense < copy + 32 || i.sense + i.sense_len > copy + size))
				abort();
			if (i.has_token && size < 32 + 4 + 2 + TOKEN_LEN)
				abort();
		}
	free(copy);
	return 0;
}
