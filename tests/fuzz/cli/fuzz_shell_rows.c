// SPDX-License-Identifier: BSD-2-Clause
// What ls draws of an answer of any shape, with dots and plain.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Drawn with dots, every row that is no deeper than 63 is a line of at least the terminal's width.
static void check(const char *rows, const char *text)
{
	struct tree_row row;
	while (tree_row_next(&rows, &row) > 0) {
		if (row.depth > 63)
			continue;
		const char *end = strchr(text, '\n');
		if (!end || end - text < 40)
			abort();
		text = end + 1;
	}
	if (*text)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e;
	char *rows = malloc(size + 1), *text = NULL;
	size_t len = 0;
	memcpy(rows, data, size);
	rows[size] = 0;
	struct look l = { open_memstream(&text, &len), 40, false };
	tree_draw(&l, rows, NULL, &e);
	fclose(l.out);
	check(rows, text);
	free(text);
	l = (struct look){ open_memstream(&text, &len), 40, true };
	tree_draw(&l, rows, size & 1 ? "/" : "/a/b", &e);
	fclose(l.out);
	free(text);
	free(rows);
	return 0;
}
