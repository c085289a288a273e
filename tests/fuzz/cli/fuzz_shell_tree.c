// SPDX-License-Identifier: BSD-2-Clause
// An answer of tree.ls of any shape: its rows, if it has any, can be drawn.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tree.h"
#include "cli/tree_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e;
	char *text = malloc(size + 1), *rows = NULL, *drawn = NULL;
	size_t len = 0;
	memcpy(text, data, size);
	text[size] = 0;
	const char *result = json_text_member(text, "result");
	if (tree_rows_of(result ? result : text, &rows, &e) == 0) {
		struct look l = { open_memstream(&drawn, &len), 40, false };
		if (tree_draw(&l, rows, NULL, &e) < 0)
			abort(); // what we write we can read
		fclose(l.out);
		free(drawn);
	}
	free(rows);
	free(text);
	return 0;
}
