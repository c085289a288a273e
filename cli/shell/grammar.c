// SPDX-License-Identifier: BSD-2-Clause
// Splits and parses a line.
#include "cli/shell/grammar.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

// ---- words ----

// Not isspace(): in a single-byte locale it matches bytes of UTF-8 characters.
static bool is_blank(char c)
{
	return c && strchr(" \t\r\n\v\f", c);
}

// Whether a ; at p ends a command; else it would be part of a word.
static bool is_end(const char *p)
{
	return !p[1] || is_blank(p[1]) || p[1] == ';' || p[1] == '#';
}

static void wipe(char *text)
{
	if (text) // it may be a password
		explicit_bzero(text, strlen(text));
	free(text);
}

// Parses the bytes of a word; returns their number.
static int take_word(const char *text, struct word *w, struct err *e)
{
	const char *p = text;
	size_t n = 0;
	for (; *p && (w->quote || !is_blank(*p)); p++) {
		if (w->quote && *p == w->quote) {
			w->quote = 0;
		} else if (!w->quote && (*p == '\'' || *p == '"')) {
			w->quote = *p;
			w->is_quoted = true;
		} else if (*p == '\\' && p[1] &&
			   (!w->quote || (w->quote == '"' && (p[1] == '"' || p[1] == '\\')))) {
			w->text[n++] = *++p;
		} else if (*p == ';' && !w->quote) {
			if (is_end(p))
				break;
			w->text[n] = 0;
			w->end = w->start + (size_t)(p - text);
			return err_set(e, -EINVAL,
				       "; within a word (quote it, or add a blank after it)");
		} else {
			if (*p == '=' && !w->quote && w->equals == SIZE_MAX)
				w->equals = n;
			w->is_open |= *p == '\\' && !w->quote;
			w->text[n++] = *p;
		}
	}
	w->text[n] = 0;
	w->end = w->start + (size_t)(p - text);
	return 0;
}

int token_next(const char *text, size_t *at, struct word *ret, struct err *e)
{
	*at += strspn(text + *at, " \t\r\n\v\f");
	*ret = (struct word){ .start = *at, .end = *at, .equals = SIZE_MAX };
	if (!text[*at] || text[*at] == '#')
		return TOKEN_END;
	if (text[*at] == ';' && is_end(text + *at)) {
		++*at;
		return TOKEN_SEMICOLON;
	}
	ret->text = malloc(strlen(text + *at) + 1);
	if (!ret->text)
		return err_set(e, -ENOMEM, "out of memory");
	int r = take_word(text + *at, ret, e);
	*at = ret->end;
	if (r < 0) {
		wipe(ret->text);
		ret->text = NULL;
	}
	return r < 0 ? r : TOKEN_WORD;
}

// A word with a slash, ".", "..", "*" or "@bookmark", all unquoted.
static bool is_path_word(const struct word *w)
{
	const char *t = w->text;
	return !w->is_quoted && w->equals == SIZE_MAX &&
	       (strchr(t, '/') || !strcmp(t, ".") || !strcmp(t, "..") || !strcmp(t, "*") ||
		(*t == '@' && t[1]));
}

// ---- lines ----

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.')
			return false;
	return len > 0;
}

// Adds w to the line and takes ownership of it.
static int add_word(struct line *l, struct word *w, struct err *e)
{
	bool is_named = w->equals != SIZE_MAX && is_name(w->text, w->equals);
	if (!l->path && !l->command && is_path_word(w)) {
		l->path = w->text;
		l->path_at = w->start;
		return 0;
	}
	if (!l->command && !is_named) {
		l->command = w->text;
		l->command_at = w->start;
		return 0;
	}
	int r = 0;
	if (!l->command)
		r = err_set(e, -EINVAL, "%.*s=: expected a command first",
			    (int)(w->equals < 60 ? w->equals : 60), w->text);
	else if (l->count == LINE_WORDS_MAX)
		r = err_set(e, -EINVAL, "more than %d values", LINE_WORDS_MAX);
	if (r < 0) {
		wipe(w->text);
		return r;
	}
	struct line_value *v = &l->values[l->count++];
	v->text = w->text;
	v->at = w->start;
	if (is_named) {
		v->name = strndup(w->text, w->equals);
		memmove(w->text, w->text + w->equals + 1, strlen(w->text + w->equals));
		if (!v->name)
			return err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

// The daemon accepts only UTF-8, and would report a column of the request. ret_at: the first
// invalid byte of the word.
static int refuse_malformed(const char *word, size_t len, size_t *ret_at, struct err *e)
{
	size_t n;
	for (size_t i = 0; i < len; i += n) {
		n = utf8_len((const uint8_t *)word + i, len - i);
		if (n)
			continue;
		*ret_at = i;
		return err_set(e, -EINVAL,
			       "not UTF-8 (check the terminal's locale, or convert the "
			       "file with iconv)");
	}
	return 0;
}

static int refuse_unfinished(const struct word *w, struct err *e)
{
	if (w->quote)
		return err_set(e, -EINVAL, "missing closing %c", w->quote);
	if (w->is_open)
		return err_set(
			e, -EINVAL,
			"\\ at the end of the line (a command is one line; write \\\\ for a \\)");
	return 0;
}

// The line of the next word; is_new: a command ended before it.
static struct line *line_for(struct script *s, bool is_new, struct err *e)
{
	if (s->count && !is_new)
		return &s->lines[s->count - 1];
	if (s->count == LINE_COMMANDS_MAX) {
		err_set(e, -EINVAL, "more than %d commands", LINE_COMMANDS_MAX);
		return NULL;
	}
	struct line *grown = realloc(s->lines, (s->count + 1) * sizeof *grown);
	if (!grown) {
		err_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	s->lines = grown;
	grown[s->count] = (struct line){ 0 };
	return &grown[s->count++];
}

// Adds w to its line and takes ownership of it; r: an earlier error.
static int take_in(struct script *s, struct word *w, bool is_new, int r, struct err *e)
{
	if (!r)
		r = refuse_unfinished(w, e);
	struct line *l = r < 0 ? NULL : line_for(s, is_new, e);
	if (l)
		return add_word(l, w, e);
	wipe(w->text);
	return -EINVAL;
}

int script_parse(struct script *ret, const char *text, size_t *ret_at, struct err *e)
{
	bool is_new = true;
	size_t at = 0;
	*ret = (struct script){ 0 };
	for (;;) {
		struct word w;
		int r = token_next(text, &at, &w, e);
		*ret_at = r < 0 ? at : w.start;
		if (r <= TOKEN_END)
			return r;
		if (r == TOKEN_WORD) {
			size_t wrong = 0;
			r = refuse_malformed(text + w.start, w.end - w.start, &wrong, e);
			*ret_at += wrong;
			r = take_in(ret, &w, is_new, r, e);
			is_new = false;
			if (r < 0)
				return r;
		} else {
			is_new = true;
		}
	}
}

void script_done(struct script *s)
{
	for (unsigned i = 0; i < s->count; i++)
		line_done(&s->lines[i]);
	free(s->lines);
	*s = (struct script){ 0 };
}

int line_from_words(struct line *ret, int count, char **words, size_t *ret_at, struct err *e)
{
	*ret = (struct line){ 0 };
	*ret_at = 0;
	for (int i = 0; i < count; i++) {
		size_t wrong;
		int r = refuse_malformed(words[i], strlen(words[i]), &wrong, e);
		if (r < 0) {
			*ret_at += wrong;
			return r;
		}
		struct word w = { .text = strdup(words[i]), .start = *ret_at, .equals = SIZE_MAX };
		if (!w.text)
			return err_set(e, -ENOMEM, "out of memory");
		const char *equals = strchr(w.text, '=');
		if (equals)
			w.equals = (size_t)(equals - w.text);
		r = add_word(ret, &w, e);
		if (r < 0)
			return r;
		*ret_at += strlen(words[i]) + 1;
	}
	return 0;
}

void line_done(struct line *l)
{
	free(l->path);
	free(l->command);
	for (unsigned i = 0; i < l->count; i++) {
		free(l->values[i].name);
		wipe(l->values[i].text);
	}
	*l = (struct line){ 0 };
}

// A duplicate name would silently override the first.
int line_refuse_twice(const struct line *l, struct err *e)
{
	for (unsigned i = 0; i < l->count; i++)
		for (unsigned j = 0; j < i; j++)
			if (l->values[i].name && l->values[j].name &&
			    !strcmp(l->values[i].name, l->values[j].name))
				return err_set(e, -EBADRQC, "Duplicate parameter %.60s.",
					       l->values[i].name);
	return 0;
}

const char *line_positional(const struct line *l, unsigned n)
{
	for (unsigned i = 0; i < l->count; i++)
		if (!l->values[i].name && !n--)
			return l->values[i].text;
	return NULL;
}

const char *line_named(const struct line *l, const char *name)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->values[i].name && !strcmp(l->values[i].name, name))
			return l->values[i].text;
	return NULL;
}

const char *line_value(const struct line *l, const char *name, unsigned position)
{
	const char *text = line_named(l, name);
	return text ? text : line_positional(l, position);
}

void line_place(const struct line *l, const char *name, unsigned position, struct err *e)
{
	if (e->part == ERR_PART_NAME && !strcmp(e->name, name) && !line_named(l, name))
		err_at(e, ERR_PART_POSITION, position, NULL);
}

// The length of a path without its last component.
static size_t drop_last(const char *path, size_t len)
{
	while (len && path[--len] != '/')
		;
	return len;
}

char *path_join(const char *base, const char *path)
{
	size_t n = *path != '/' && strcmp(base, "/") ? strlen(base) : 0;
	char *out = malloc(n + strlen(path) + 3);
	if (!out)
		return NULL;
	memcpy(out, base, n);
	while (*path) {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		if (len == 2 && !strncmp(path, "..", 2)) {
			n = drop_last(out, n);
		} else if (len && !(len == 1 && *path == '.')) {
			out[n++] = '/';
			memcpy(out + n, path, len);
			n += len;
		}
		path += len;
	}
	if (!n)
		out[n++] = '/';
	out[n] = 0;
	return out;
}

char *path_of_word(const char *base, const char *word,
		   char *(*bookmark)(void *arg, const char *name), void *arg)
{
	if (*word != '@')
		return path_join(base, word);
	size_t n = strcspn(word, "/");
	char *name = strndup(word + 1, n - 1), *to = NULL, *path = NULL;
	if (name && bookmark)
		to = bookmark(arg, name);
	if (to)
		path = path_join(to, word[n] ? word + n + 1 : ".");
	free(name);
	free(to);
	return path;
}
