// SPDX-License-Identifier: BSD-2-Clause
// Address text: what parses must format, and parse again, to the same address.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/tcp/addr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tcp_addr a, b;
	struct err e;
	char text[TCP_ADDR_TEXT];
	char *copy = malloc(size + 1);

	memcpy(copy, data, size);
	copy[size] = 0;
	if (tcp_addr_parse(&a, copy, 3260, &e) == 0) {
		tcp_addr_format(&a, text);
		if (tcp_addr_parse(&b, text, 1, &e) < 0 || tcp_addr_compare(&a, &b))
			abort();
	}
	free(copy);
	return 0;
}
