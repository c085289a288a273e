// SPDX-License-Identifier: BSD-2-Clause
// What a client sends, in pieces and as requests, from one who may only look, so that no
// input makes files. Every answer is one line of JSON.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../empty_tree.h"
#include "core/json/json.h"
#include "core/frame.h"
#include "target/rpc/method.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rpc_context context;

static void answer(const char *line, size_t len)
{
	size_t n;
	char *text = rpc_answer(&context, line, len, false, &n);
	if (!text)
		return;
	struct json_object *o = json_tokener_parse(text);
	if (!o || !n || memchr(text, '\n', n) != text + n - 1)
		abort();
	json_object_put(o);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame f = { 0 };
	char *at, *line;
	size_t room, len;
	if (!context.config)
		context.config = empty_tree();
	while (size && !frame_room(&f, &at, &room)) {
		// Pieces of any length.
		size_t n = 1 + data[0] % 61;
		n = n > size ? size : n;
		memcpy(at, data, n);
		frame_filled(&f, n);
		data += n;
		size -= n;
		while ((line = frame_next(&f, &len)))
			answer(line, len);
	}
	frame_done(&f);
	return 0;
}
