// SPDX-License-Identifier: BSD-2-Clause
#include "cli/edit/menu.h"

#include <string.h>

enum { WITH_NOTES_MAX = 24, SHOWN_MAX = 100 };

// Its distinctive part: the last component of a path, the value of a name.
static const char *label(const struct candidate *c, size_t common)
{
	const char *from = c->text;
	for (size_t i = 0; i < common; i++)
		if ((c->text[i] == '/' || c->text[i] == '=') && c->text[i + 1])
			from = c->text + i + 1;
	return from;
}

// The part of a note that fits into a row of this width after used columns; truncated between
// characters.
static int room_for(const char *note, unsigned width, size_t used)
{
	size_t n = used + 1 < width ? width - used - 1 : 0;
	n = strnlen(note, n);
	while (n && ((unsigned char)note[n] & 0xc0) == 0x80)
		n--;
	return (int)n;
}

// The color of a kind.
static const char *kind_color(const struct preferences *p, enum candidate_kind kind)
{
	const uint32_t colors[] = {
		[KIND_OTHER] = p->color_default,   [KIND_PATH] = p->color_path,
		[KIND_COMMAND] = p->color_command, [KIND_VALUE] = p->color_parameter,
		[KIND_KEYWORD] = p->color_keyword,
	};
	return preference_color(colors[kind]);
}

// Prints its label and blanks up to this many columns; returns the columns used.
static void draw_label(const struct look *l, const struct candidate *c, size_t common,
		       size_t widest)
{
	const char *text = label(c, common);
	const char *color = l->has_color ? kind_color(look_prefs(l), c->kind) : NULL;
	size_t n = strlen(text);
	if (color)
		fprintf(l->out, "\033[%sm%s\033[0m", color, text);
	else
		fputs(text, l->out);
	fprintf(l->out, "%*s", n < widest ? (int)(widest - n) : 0, "");
}

static void draw_rows(const struct look *l, const struct candidates *c, unsigned count,
		      size_t widest, unsigned width)
{
	const char *color = preference_color(look_prefs(l)->color_default);
	size_t common = candidates_common(c);
	for (unsigned i = 0; i < count; i++) {
		const char *note = c->list[i].note ? c->list[i].note : "";
		int n = room_for(note, width, widest);
		bool is_colored = l->has_color && n;
		draw_label(l, &c->list[i], common, *note ? widest : 0);
		if (is_colored)
			fprintf(l->out, "\033[2%s%sm", color ? ";" : "", color ? color : "");
		fprintf(l->out, "%.*s%s\n", n, note, is_colored ? "\033[0m" : "");
	}
}

static void draw_columns(const struct look *l, const struct candidates *c, unsigned count,
			 size_t widest, unsigned width)
{
	unsigned across = width / (unsigned)widest ? width / (unsigned)widest : 1;
	size_t common = candidates_common(c);
	for (unsigned i = 0; i < count; i++) {
		draw_label(l, &c->list[i], common, widest);
		if (i % across == across - 1 || i == count - 1)
			fputc('\n', l->out);
	}
}

void menu_draw(const struct look *l, const struct candidates *c, unsigned width)
{
	size_t common = candidates_common(c), widest = 1;
	unsigned shown = c->count < SHOWN_MAX ? c->count : SHOWN_MAX;
	for (unsigned i = 0; i < c->count; i++) {
		size_t n = strlen(label(&c->list[i], common));
		widest = n > widest ? n : widest;
	}
	if (c->count <= WITH_NOTES_MAX || !look_prefs(l)->completions_in_columns)
		draw_rows(l, c, shown, widest + 2, width);
	else
		draw_columns(l, c, shown, widest + 2, width);
	if (c->count > shown)
		fprintf(l->out, "... and %u more\n", c->count - shown);
}
