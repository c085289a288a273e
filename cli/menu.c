// SPDX-License-Identifier: BSD-2-Clause
#include "cli/menu.h"

#include <string.h>

enum { WITH_NOTES_MAX = 24, SHOWN_MAX = 100 };

// What tells it from the others: the last step of a path, the value of a name.
static const char *label(const struct candidate *c, size_t common)
{
	const char *from = c->text;
	for (size_t i = 0; i < common; i++)
		if ((c->text[i] == '/' || c->text[i] == '=') && c->text[i + 1])
			from = c->text + i + 1;
	return from;
}

// What a row of that width has room for behind used columns; notes are cut between characters.
static int room_for(const char *note, unsigned width, size_t used)
{
	size_t n = used + 1 < width ? width - used - 1 : 0;
	n = strnlen(note, n);
	while (n && ((unsigned char)note[n] & 0xc0) == 0x80)
		n--;
	return (int)n;
}

static void draw_rows(FILE *out, const struct candidates *c, size_t widest, size_t common,
		      unsigned width, bool has_color)
{
	for (unsigned i = 0; i < c->count; i++) {
		const char *note = c->list[i].note ? c->list[i].note : "";
		fprintf(out, "%-*s", *note ? (int)widest + 2 : 0, label(&c->list[i], common));
		int n = room_for(note, width, widest + 2);
		fprintf(out, "%s%.*s%s\n", has_color && n ? "\033[2m" : "", n, note,
			has_color && n ? "\033[0m" : "");
	}
}

void menu_draw(FILE *out, const struct candidates *c, unsigned width, bool has_color)
{
	size_t common = candidates_common(c), widest = 1;
	for (unsigned i = 0; i < c->count; i++) {
		size_t n = strlen(label(&c->list[i], common));
		widest = n > widest ? n : widest;
	}
	if (c->count <= WITH_NOTES_MAX) {
		draw_rows(out, c, widest, common, width, has_color);
		return;
	}
	unsigned shown = c->count < SHOWN_MAX ? c->count : SHOWN_MAX;
	unsigned across = width / (unsigned)(widest + 2) ? width / (unsigned)(widest + 2) : 1;
	for (unsigned i = 0; i < shown; i++)
		fprintf(out, "%-*s%s", (int)widest + 2, label(&c->list[i], common),
			i % across == across - 1 || i == shown - 1 ? "\n" : "");
	if (c->count > shown)
		fprintf(out, "... and %u more\n", c->count - shown);
}
