// SPDX-License-Identifier: BSD-2-Clause
// Splits a byte stream into lines, scanning each byte once.
#include "core/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 4096, KEPT_MAX = 4 << 20 };

static void wipe(struct frame *f)
{
	if (f->data)
		explicit_bzero(f->data, f->size);
	free(f->data);
}

static bool grow(struct frame *f)
{
	size_t size = (f->len + STEP + 1) * 2;
	char *grown = f->has_secrets ? malloc(size) : realloc(f->data, size);
	if (!grown)
		return false;
	if (f->has_secrets) {
		if (f->len)
			memcpy(grown, f->data, f->len);
		wipe(f);
	}
	f->data = grown;
	f->size = size;
	return true;
}

int frame_room(struct frame *f, char **ret, size_t *ret_room)
{
	if (f->start) {
		memmove(f->data, f->data + f->start, f->len - f->start);
		f->len -= f->start;
		f->seen -= f->start;
		f->start = 0;
	}
	if (!f->len && f->size > KEPT_MAX)
		frame_done(f);
	if (f->len > f->max)
		return -EMSGSIZE;
	if (f->size - f->len < STEP + 1 && !grow(f))
		return -ENOMEM;
	*ret = f->data + f->len;
	*ret_room = f->size - f->len - 1;
	return 0;
}

void frame_filled(struct frame *f, size_t n)
{
	f->len += n;
}

char *frame_next(struct frame *f, size_t *ret_len)
{
	if (!f->data)
		return NULL;
	char *end = memchr(f->data + f->seen, '\n', f->len - f->seen);
	if (!end) {
		f->seen = f->len;
		return NULL;
	}
	char *line = f->data + f->start;
	*end = 0;
	*ret_len = (size_t)(end - line);
	f->start = f->seen = (size_t)(end + 1 - f->data);
	return line;
}

bool frame_is_partial(const struct frame *f)
{
	return f->len > f->start;
}

char *frame_rest(struct frame *f, size_t *ret_len)
{
	if (!frame_is_partial(f))
		return NULL;
	char *line = f->data + f->start;
	f->data[f->len] = 0;
	*ret_len = f->len - f->start;
	f->start = f->seen = f->len;
	return line;
}

void frame_done(struct frame *f)
{
	wipe(f);
	*f = (struct frame){ .max = f->max, .has_secrets = f->has_secrets };
}
