// SPDX-License-Identifier: BSD-2-Clause
// See wrap.h.
#include "core/wrap.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST = 20 };

int wrap_width(FILE *out)
{
	struct winsize w = { 0 };
	if (!isatty(fileno(out)))
		return 0;
	if (ioctl(fileno(out), TIOCGWINSZ, &w) < 0 || !w.ws_col)
		return 80;
	return w.ws_col < LEAST ? LEAST : w.ws_col;
}

// The bytes of the next line, at most room unless a word is longer.
static size_t line_of(const char *text, size_t room)
{
	size_t n = strlen(text), end = 0;
	if (n <= room)
		return n;
	for (size_t i = 0; i < n && (i <= room || !end); i++)
		if (text[i] == ' ')
			end = i;
	return end ? end : n;
}

void wrap_print(FILE *out, const char *text, int at, int width)
{
	size_t room = width > at + LEAST / 2 ? (size_t)(width - at - 1) : 0;
	if (!room) {
		fprintf(out, "%s\n", text);
		return;
	}
	for (;;) {
		size_t n = line_of(text, room);
		fprintf(out, "%.*s\n", (int)n, text);
		text += n + strspn(text + n, " ");
		if (!*text)
			return;
		fprintf(out, "%*s", at, "");
	}
}
