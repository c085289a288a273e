// SPDX-License-Identifier: BSD-2-Clause
// Entries of disks to attach: any text.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/program/entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct entry n;
	struct err e;
	int r = entry_parse(&n, (const char *)data, size, "entry", &e);
	for (int i = 0; !r && i < n.count; i++)
		if (n.words[i] < n.text ||
		    n.words[i] + strlen(n.words[i]) >= n.text + sizeof n.text)
			abort();
	return 0;
}
