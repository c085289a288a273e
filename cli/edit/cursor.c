// SPDX-License-Identifier: BSD-2-Clause
#include "cli/edit/cursor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The last token: the word at the end of the text, or an empty one after a blank. *ret_start is the
// start of its command.
static bool find_word(struct word *ret, const char *text, size_t *ret_start)
{
	size_t at = 0, len = strlen(text);
	*ret_start = 0;
	for (;;) {
		struct err e;
		int token = token_next(text, &at, ret, &e);
		if (token < 0 || (token == TOKEN_END && text[at]))
			return false;
		if (token == TOKEN_END)
			return (ret->text = strdup("")) != NULL;
		if (token == TOKEN_SEMICOLON)
			*ret_start = at;
		else if (ret->end == len)
			return true;
		free(ret->text);
	}
}

static bool parse_before(struct cursor *c, const char *text, size_t start)
{
	struct script s;
	struct err e;
	size_t at;
	char *before = strndup(text + start, c->word.start - start);
	int r = before ? script_parse(&s, before, &at, &e) : -1;
	free(before);
	if (before && !r && s.count == 1) {
		c->line = s.lines[0];
		s.count = 0; // we own its texts
	} else if (before && s.count) {
		r = -1;
	}
	if (before)
		script_done(&s);
	return !r;
}

bool cursor_find(struct cursor *ret, const char *text)
{
	size_t start;
	*ret = (struct cursor){ 0 };
	if (!find_word(&ret->word, text, &start))
		return false;
	ret->value = ret->word.text;
	if (!parse_before(ret, text, start)) {
		cursor_done(ret);
		return false;
	}
	if (ret->word.equals != SIZE_MAX) {
		ret->name = ret->name_text = strndup(ret->word.text, ret->word.equals);
		ret->value = ret->word.text + ret->word.equals + 1;
	}
	for (unsigned i = 0; i < ret->line.count; i++)
		ret->position += !ret->line.values[i].name;
	return true;
}

void cursor_done(struct cursor *c)
{
	line_done(&c->line);
	free(c->word.text);
	free(c->name_text);
	*c = (struct cursor){ 0 };
}

char *word_quote(const char *text)
{
	char *out = malloc(strlen(text) * 2 + 3), *p = out;
	if (!out)
		return NULL;
	for (const char *t = text; *t; t++) {
		if (strchr(" \t\r\n\v\f'\"\\;", *t) || (*t == '#' && t == text))
			*p++ = '\\';
		*p++ = *t;
	}
	*p = 0;
	return out;
}
