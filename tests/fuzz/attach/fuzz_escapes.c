// SPDX-License-Identifier: BSD-2-Clause
// Paths of the kernel's lists: what is no escape stays, and nothing becomes longer.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/attach/escapes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); // its end is the sanitizer's
	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	size_t len = strlen(text);
	char *before = strdup(text);
	if (!before)
		abort();
	escapes_undo(text);
	if (strlen(text) > len || (!strchr(before, '\\') && strcmp(before, text) != 0))
		abort();
	free(before);
	free(text);
	return 0;
}
