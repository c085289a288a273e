// SPDX-License-Identifier: BSD-2-Clause
// Spellings of targets' and initiators' names: what is accepted has one normal form, which fits and
// stands for itself.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/srp/name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int (*const parsers[])(const char *in, char out[SRP_NAME_MAX + 1],
			      struct err *e) = { name_srpt_target, name_srpt_initiator };

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); // of exactly its size
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	for (unsigned i = 0; i < sizeof parsers / sizeof *parsers; i++) {
		char name[SRP_NAME_MAX + 1], again[SRP_NAME_MAX + 1];
		struct err e = { 0 };
		if (parsers[i](text, name, &e)) {
			must(*e.text);
			continue;
		}
		must(strlen(name) <= SRP_NAME_MAX && !strpbrk(name, " /\n\t"));
		must(!parsers[i](name, again, &e) && !strcmp(name, again));
	}
	free(text);
	return 0;
}
