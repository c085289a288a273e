// SPDX-License-Identifier: BSD-2-Clause
// A line of the shell, and paths: no crash, no leak, an absolute path without dots comes out.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grammar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line l;
	struct err e;
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = 0;
	line_parse(&l, text, &e);
	char *path = path_join("/a/b", l.path ? l.path : text);
	if (*path != '/' || strstr(path, "/../") || strstr(path, "//"))
		abort();
	free(path);
	line_done(&l);
	free(text);
	return 0;
}
