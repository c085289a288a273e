// SPDX-License-Identifier: BSD-2-Clause
// Lines in a stream of bytes, such as the documents of the control socket. Pure data.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Bytes of the longest request on the control socket.
enum { FRAME_REQUEST_MAX = 128 << 20 };

// Received bytes that are not consumed yet.
struct frame {
	char *data;
	size_t len, size, start; // start of the first unconsumed line
	size_t seen;		 // no newline up to here
	size_t max;		 // bytes of a line
	bool has_secrets;	 // it is wiped when it grows, too
};

// Makes room for at least 4 KiB more at data + len; -EMSGSIZE: the first line is longer than
// f->max; -ENOMEM.
int frame_room(struct frame *f, char **ret, size_t *ret_room);
void frame_filled(struct frame *f, size_t n);

// The next complete line without its newline, NUL-terminated, in place; valid until the next
// frame_room(). NULL: none yet.
char *frame_next(struct frame *f, size_t *ret_len);
bool frame_is_partial(const struct frame *f); // a line has begun
// What is left at the end of the stream, as a line; NULL: nothing.
char *frame_rest(struct frame *f, size_t *ret_len);
void frame_done(struct frame *f); // wipes what was received
