// SPDX-License-Identifier: BSD-2-Clause
// A user's file of preferences: whatever it says, each has a value that its row accepts, and what
// is wrong has a line of the file.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/preferences.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned lines_of(const char *text, size_t len)
{
	unsigned n = 0;
	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n' || i + 1 == len;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct preferences p = *preferences_default(), again = p;
	struct err e = { 0 };
	unsigned line = 0;
	char *text = malloc(size ? size : 1); // not a byte behind it may be read
	memcpy(text, data, size);
	unsigned wrong = preferences_parse(&p, text, size, &line, &e);
	unsigned lines = lines_of(text, size);
	if (wrong > lines || (wrong && (!line || line > lines || !e.code || !*e.text)))
		abort();
	for (const struct attr_row *row = preference_rows; row->name; row++) {
		char value[64];
		preference_text(row, &p, value, sizeof value);
		if (preference_set(&again, row->name, value, NULL) < 0)
			abort();
	}
	if (memcmp(&p, &again, sizeof p))
		abort();
	free(text);
	return 0;
}
