// SPDX-License-Identifier: BSD-2-Clause
// Splitting and sorting out a line.
#include "cli/grammar.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct word {
	char *text;
	size_t equals;	// index of the first unquoted '=', or SIZE_MAX
	bool is_quoted; // some of it: then it is no path
};

// Takes one word off *at. Its text is for free().
static int next_word(const char **at, struct word *ret, struct err *e)
{
	const char *p = *at;
	char quote = 0, *out = malloc(strlen(p) + 1);
	size_t n = 0;
	*ret = (struct word){ .text = out, .equals = SIZE_MAX };
	if (!out)
		return err_set(e, -ENOMEM, "out of memory");
	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (quote && *p == quote) {
			quote = 0;
		} else if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
			ret->is_quoted = true;
		} else if (*p == '\\' && p[1] &&
			   (!quote || (quote == '"' && (p[1] == '"' || p[1] == '\\')))) {
			out[n++] = *++p;
		} else {
			if (*p == '=' && !quote && ret->equals == SIZE_MAX)
				ret->equals = n;
			out[n++] = *p;
		}
	}
	out[n] = 0;
	*at = p;
	return quote ? err_set(e, -EINVAL, "a %c is never closed", quote) : 0;
}

static bool is_path(const struct word *w)
{
	return !w->is_quoted &&
	       (strchr(w->text, '/') || !strcmp(w->text, ".") || !strcmp(w->text, "..")) &&
	       w->equals == SIZE_MAX;
}

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.')
			return false;
	return len > 0;
}

// Puts w, which is used up, where it belongs.
static int add_word(struct line *l, struct word *w, struct err *e)
{
	bool is_named = w->equals != SIZE_MAX && is_name(w->text, w->equals);
	if (!l->path && !l->command && is_path(w)) {
		l->path = w->text;
		return 0;
	}
	if (!l->command && !is_named) {
		l->command = w->text;
		return 0;
	}
	int r = 0;
	if (!l->command)
		r = err_set(e, -EINVAL, "'%.60s': expected a command before it", w->text);
	else if (l->count == LINE_WORDS_MAX)
		r = err_set(e, -EINVAL, "more than %d values", LINE_WORDS_MAX);
	if (r < 0) {
		free(w->text);
		return r;
	}
	struct line_value *v = &l->values[l->count++];
	v->text = w->text;
	if (is_named) {
		v->name = strndup(w->text, w->equals);
		memmove(w->text, w->text + w->equals + 1, strlen(w->text + w->equals));
		if (!v->name)
			return err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

int line_parse(struct line *ret, const char *text, struct err *e)
{
	*ret = (struct line){ 0 };
	text += strspn(text, " \t\r\n\v\f");
	if (*text == '#')
		return 0;
	while (*text) {
		struct word w;
		int r = next_word(&text, &w, e);
		if (r < 0) {
			free(w.text);
			return r;
		}
		r = add_word(ret, &w, e);
		if (r < 0)
			return r;
		text += strspn(text, " \t\r\n\v\f");
	}
	return 0;
}

int line_from_words(struct line *ret, int count, char **words, struct err *e)
{
	*ret = (struct line){ 0 };
	for (int i = 0; i < count; i++) {
		struct word w = { .text = strdup(words[i]), .equals = SIZE_MAX };
		if (!w.text)
			return err_set(e, -ENOMEM, "out of memory");
		const char *equals = strchr(w.text, '=');
		if (equals)
			w.equals = (size_t)(equals - w.text);
		int r = add_word(ret, &w, e);
		if (r < 0)
			return r;
	}
	return 0;
}

void line_done(struct line *l)
{
	free(l->path);
	free(l->command);
	for (unsigned i = 0; i < l->count; i++) {
		free(l->values[i].name);
		if (l->values[i].text) // it may be a password
			explicit_bzero(l->values[i].text, strlen(l->values[i].text));
		free(l->values[i].text);
	}
	*l = (struct line){ 0 };
}

const char *line_positional(const struct line *l, unsigned n)
{
	for (unsigned i = 0; i < l->count; i++)
		if (!l->values[i].name && !n--)
			return l->values[i].text;
	return NULL;
}

const char *line_value(const struct line *l, const char *name, unsigned position)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->values[i].name && !strcmp(l->values[i].name, name))
			return l->values[i].text;
	return line_positional(l, position);
}

// The length of a path without its last step.
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
