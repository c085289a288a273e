// SPDX-License-Identifier: BSD-2-Clause
// See entry.h.
#include "initiator/program/entry.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lockfile.h"
#include "core/whole_file.h"
#include "initiator/holder/holder.h"
#include "initiator/tool/tool.h"

static int add_word(struct entry *n, const char *prefix, const char *word, size_t len,
		    struct err *e)
{
	size_t need = strlen(prefix) + len + 1;
	if (n->count == ENTRY_WORDS_MAX || need > sizeof n->text - n->len)
		return err_set(e, -E2BIG, "too many values");
	char *to = n->text + n->len;
	snprintf(to, need, "%s%.*s", prefix, (int)len, word);
	n->words[n->count++] = to;
	n->len += need;
	return 0;
}

static bool is(const char *a, size_t len, const char *b)
{
	return strlen(b) == len && !memcmp(a, b, len);
}

static int take_startup(struct entry *n, const char *value, size_t len, struct err *e)
{
	if (n->has_startup)
		return err_set(e, -EINVAL, "startup: given twice");
	n->has_startup = true;
	n->is_manual = is(value, len, "manual");
	if (n->is_manual || is(value, len, "automatic"))
		return 0;
	return err_set(e, -EINVAL, "startup '%.*s': must be automatic or manual", (int)len, value);
}

// The option of attach that a key names; NULL: entries have no such key.
static const struct option_row *row_of(const char *key, size_t len)
{
	static const char *const refused[] = { "name",	    "all",  "foreground", "keep-trying",
					       "entry-dir", "help", "json",	  "run-dir" };
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (is(key, len, refused[i]))
			return NULL;
	for (const struct option_row *r = tool_option_rows; r->name; r++)
		if ((!r->verbs || r->verbs & TOOL_ATTACH) && is(key, len, r->name))
			return r;
	return NULL;
}

// Whether the words have this option; that of a URL is no option.
static bool has_option(const struct entry *n, const char *name)
{
	size_t len = strlen(name);
	for (int i = 0; i < n->count; i++) {
		const char *w = n->words[i];
		if (!strncmp(w, "--", 2) && !strncmp(w + 2, name, len) &&
		    (!w[2 + len] || w[2 + len] == '='))
			return true;
	}
	return false;
}

// An option and its value are one word, so that neither is taken for another one.
static int take_option(struct entry *n, const char *key, size_t key_len, const char *value,
		       size_t len, struct err *e)
{
	const struct option_row *r = row_of(key, key_len);
	char option[64];
	if (!r)
		return err_set(e, -EINVAL, "unknown key '%.*s'", (int)(key_len < 40 ? key_len : 40),
			       key);
	if (has_option(n, r->name) && strcmp(r->name, "set"))
		return err_set(e, -EINVAL, "%s: given twice", r->name);
	snprintf(option, sizeof option, r->argument ? "--%s=" : "--%s", r->name);
	if (r->argument)
		return add_word(n, option, value, len, e);
	if (is(value, len, "yes"))
		return add_word(n, option, "", 0, e);
	return is(value, len, "no") ? 0 : err_set(e, -EINVAL, "%s: must be yes or no", r->name);
}

static const char *skip(const char *p, const char *end)
{
	while (p < end && strchr(" \t\r", *p))
		p++;
	return p;
}

static const char *trim(const char *from, const char *end)
{
	while (end > from && strchr(" \t\r", end[-1]))
		end--;
	return end;
}

static int take_line(struct entry *n, const char *p, const char *end, struct err *e)
{
	p = skip(p, end);
	end = trim(p, end);
	if (p == end || *p == '#')
		return 0;
	const char *eq = memchr(p, '=', (size_t)(end - p));
	if (!eq || eq == p)
		return err_set(e, -EINVAL, "must be 'key = value'");
	const char *value = skip(eq + 1, end);
	size_t key_len = (size_t)(trim(p, eq) - p), len = (size_t)(end - value);
	if (!len)
		return err_set(e, -EINVAL, "%.*s: no value", (int)(key_len < 40 ? key_len : 40), p);
	if (is(p, key_len, "url"))
		return *value == '-' ? err_set(e, -EINVAL, "url: invalid")
				     : add_word(n, "", value, len, e);
	if (is(p, key_len, "startup"))
		return take_startup(n, value, len, e);
	return take_option(n, p, key_len, value, len, e);
}

int entry_parse(struct entry *ret, const char *text, size_t len, const char *what, struct err *e)
{
	const char *p = text, *end = text + len;
	unsigned line = 1;
	*ret = (struct entry){ 0 };
	if (len > ENTRY_BYTES_MAX || memchr(text, 0, len))
		return err_set(e, -EINVAL, "%s: not an entry (longer than %d bytes, or binary)",
			       what, ENTRY_BYTES_MAX);
	for (; p < end; line++) {
		const char *next = memchr(p, '\n', (size_t)(end - p));
		int words = ret->count, r = take_line(ret, p, next ? next : end, e);
		for (; words < ret->count; words++)
			ret->lines[words] = line;
		if (r)
			return err_prefix(e, "%s: line %u", what, line), r;
		p = next ? next + 1 : end;
	}
	return 0;
}

int entry_read(struct entry *ret, const char *dir, const char *name, struct err *e)
{
	char path[PATH_MAX], *text;
	size_t len;
	if (!holder_name_is_valid(name))
		return err_set(e, -EINVAL, "'%.80s': neither a URL nor the name of an entry", name);
	snprintf(path, sizeof path, "%s/%s.conf", dir, name);
	// It says what is attached, and where as root.
	int r = path_check_owners(path, e);
	if (!r || r == -ENOENT)
		r = whole_file_read(path, &text, &len, e);
	if (r)
		return r;
	r = entry_parse(ret, text, len, path, e);
	snprintf(ret->path, sizeof ret->path, "%s", path);
	free(text);
	return r;
}

// ---- errors ----

// "--depth 7: must be ...", "--set: ...".
static bool begins_with_option(const char *text, const char *name, size_t len)
{
	return !strncmp(text, "--", 2) && !strncmp(text + 2, name, len) && text[2 + len] != '-' &&
	       !isalnum((unsigned char)text[2 + len]);
}

static bool is_about(const struct err *e, const char *word)
{
	if (strncmp(word, "--", 2))
		return strstr(e->text, word);
	return begins_with_option(e->text, word + 2, strcspn(word + 2, "="));
}

// 0: not known, or one of several.
static unsigned line_of(const struct entry *n, const struct err *e)
{
	unsigned line = 0;
	for (int i = 0; i < n->count; i++)
		if (is_about(e, n->words[i])) {
			if (line)
				return 0;
			line = n->lines[i];
		}
	return line;
}

bool entry_blame(const struct entry *n, struct err *e)
{
	unsigned line = n ? line_of(n, e) : 0;
	for (unsigned i = 0; n && i < n->over_count; i++)
		if (begins_with_option(e->text, n->over[i], strlen(n->over[i])))
			return false;
	if (line)
		err_prefix(e, "%s: line %u", n->path, line);
	else if (n)
		err_prefix(e, "%s", n->path);
	return n;
}

// ---- options ----

static void note_option(void *arg, const char *name, const char *value)
{
	struct entry *n = arg;
	if (n->over_count < ENTRY_OPTIONS_MAX)
		n->over[n->over_count++] = name;
}

int entry_options(struct entry *n, const char *dir, const char *name, unsigned verb,
		  struct tool_options *o, struct err *e)
{
	static struct tool_options own; // large
	int r = entry_read(n, dir, name, e);
	if (r)
		return r == -ENOENT ? TOOL_NOT_FOUND : TOOL_RECORD;
	r = tool_options_parse(&own, verb, n->count, n->words, e);
	if (!r && !own.arg_count)
		r = err_set(e, -EINVAL, "no url");
	if (r)
		return entry_blame(n, e), TOOL_RECORD;
	tool_options_each(o, verb, note_option, n);
	if (tool_options_overlay(&own, o, e))
		return TOOL_USAGE;
	*o = own;
	return TOOL_OK;
}

static int is_entry(const struct dirent *d)
{
	size_t n = strlen(d->d_name);
	return n > 5 && !strcmp(d->d_name + n - 5, ".conf");
}

int entry_each(const char *dir, void (*found)(void *arg, const char *name), void *arg,
	       struct err *e)
{
	struct dirent **list;
	int n = scandir(dir, &list, is_entry, alphasort);
	if (n < 0)
		return errno == ENOENT ? 0 : err_errno(e, -errno, "%s", dir);
	for (int i = 0; i < n; i++) {
		list[i]->d_name[strlen(list[i]->d_name) - 5] = 0;
		if (holder_name_is_valid(list[i]->d_name))
			found(arg, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return 0;
}
