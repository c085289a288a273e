// SPDX-License-Identifier: BSD-2-Clause
#include "core/options.h"

#include <string.h>

#include "core/wrap.h"

enum { HELP_LEAST = 30, INDENT = 10 }; // columns

bool option_is_of(const struct option_row *row, unsigned verb)
{
	return !verb || !row->verbs || row->verbs & verb;
}

static const struct option_row *by_letter(const struct option_program *p, char letter)
{
	for (const struct option_row *r = p->rows; r->name; r++)
		if (r->letter == letter && option_is_of(r, p->verb))
			return r;
	return NULL;
}

// The row of a name of len bytes; with takes_short_names also the only one that begins so.
static const struct option_row *by_name(const struct option_program *p, const char *name,
					size_t len)
{
	const struct option_row *found = NULL;
	unsigned count = 0;
	for (const struct option_row *r = p->rows; r->name; r++) {
		if (!option_is_of(r, p->verb) || strncmp(r->name, name, len))
			continue;
		if (!r->name[len])
			return r;
		found = r;
		count++;
	}
	return p->takes_short_names && count == 1 ? found : NULL;
}

static int store(const struct option_program *p, const struct option_row *r, const char *text,
		 struct err *e)
{
	void *field = (char *)p->to + r->at;
	if (r->on)
		return r->on(p->to, r, text, e);
	if (r->argument)
		*(const char **)field = text;
	else
		*(bool *)field = true;
	return 0;
}

// "--name" or "--name=value"; returns the number of words used.
static int read_long(const struct option_program *p, int count, char **words, struct err *e)
{
	const char *name = words[0] + 2, *value = strchr(name, '=');
	const struct option_row *r =
		by_name(p, name, value ? (size_t)(value - name) : strlen(name));
	if (!r)
		return p->refuse(OPTION_UNKNOWN, NULL, words[0], e);
	if (value && !r->argument)
		return p->refuse(OPTION_TAKES_NONE, r, words[0], e);
	bool is_next = r->argument && !value;
	if (is_next && count < 2)
		return p->refuse(OPTION_NEEDS_VALUE, r, words[0], e);
	int rc = store(p, r, value ? value + 1 : is_next ? words[1] : NULL, e);
	return rc < 0 ? rc : 1 + is_next;
}

// "-x", "-xy" or "-xvalue".
static int read_short(const struct option_program *p, int count, char **words, struct err *e)
{
	for (const char *at = words[0] + 1; *at; at++) {
		const struct option_row *r = by_letter(p, *at);
		if (!r)
			return p->refuse(OPTION_UNKNOWN, NULL, words[0], e);
		bool is_next = r->argument && !at[1];
		if (is_next && count < 2)
			return p->refuse(OPTION_NEEDS_VALUE, r, words[0], e);
		int rc = store(p, r, !r->argument ? NULL : is_next ? words[1] : at + 1, e);
		if (rc < 0)
			return rc;
		if (r->argument)
			return 1 + is_next;
	}
	return 1;
}

int options_read(const struct option_program *p, int count, char **words, struct err *e)
{
	bool has_ended = false;
	for (int i = 0, n; i < count; i += n) {
		const char *word = words[i];
		n = 1;
		if (has_ended || *word != '-' || !word[1]) {
			if (!p->argument)
				return i;
			int rc = p->argument(p->to, word, e);
			if (rc < 0)
				return rc;
			continue;
		}
		has_ended = !strcmp(word, "--");
		if (!has_ended)
			n = (word[1] == '-' ? read_long : read_short)(p, count - i, words + i, e);
		if (n < 0)
			return n;
	}
	return count;
}

void options_help(const struct option_row *rows, unsigned verb, int columns, bool has_letters,
		  FILE *out)
{
	int width = wrap_width(out);
	for (const struct option_row *r = rows; r->name; r++) {
		char left[64], letter[8] = "";
		if (!option_is_of(r, verb))
			continue;
		if (r->letter)
			snprintf(letter, sizeof letter, "-%c, ", r->letter);
		snprintf(left, sizeof left, "%*s--%s%s%s", has_letters ? 4 : 0, letter, r->name,
			 r->argument ? " " : "", r->argument ? r->argument : "");
		bool is_narrow = width && width < columns + HELP_LEAST;
		fprintf(out, "  %-*s ", is_narrow ? 0 : columns, left);
		if (is_narrow)
			fprintf(out, "\n%*s", INDENT, "");
		wrap_print(out, r->help, is_narrow ? INDENT : columns + 3, width);
	}
}
