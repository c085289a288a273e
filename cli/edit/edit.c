// SPDX-License-Identifier: BSD-2-Clause
#include "cli/edit/edit.h"

#include <errno.h>
#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/shell/interrupt.h"
#include "cli/edit/menu.h"
#include "cli/shell/state.h"

struct edit {
	EditLine *el;
	History *past;
	const struct complete_source *source;
	struct look *look;
	const char *prompt;
	bool is_interrupted, has_ended, is_dumb;
	char typed[4096]; // read but not yet passed on
	size_t len, at;
	mbstate_t state;
};

static struct edit *edit_of(EditLine *el)
{
	struct edit *e;
	el_get(el, EL_CLIENTDATA, &e);
	return e;
}

static char *prompt(EditLine *el)
{
	return (char *)edit_of(el)->prompt;
}

// ---- cursor position ----

// Columns of n bytes of text.
static size_t width_of(const char *text, size_t n)
{
	mbstate_t state = { 0 };
	size_t width = 0;
	while (n) {
		wchar_t c;
		size_t used = mbrtowc(&c, text, n, &state);
		if (used == 0 || used > n)
			used = 1;
		int w = wcwidth(c);
		width += w > 0 ? (size_t)w : 0;
		text += used;
		n -= used;
	}
	return width;
}

static unsigned columns(void)
{
	return terminal_size(stdout).ws_col;
}

// The column after the prompt and n bytes of the line, counted across rows.
static size_t position(const struct edit *e, const char *line, size_t n)
{
	return width_of(e->prompt, strlen(e->prompt)) + width_of(line, n);
}

// ---- the hint ----

// The part of text that fits into this many columns; returns its bytes.
static size_t fitting(const char *text, size_t room)
{
	size_t n = strlen(text);
	while (n && (width_of(text, n) > room || ((unsigned char)text[n] & 0xc0) == 0x80))
		n--;
	return n;
}

static bool draw_hint(struct edit *e)
{
	char text[512], *line;
	const LineInfo *li = el_line(e->el);
	size_t n = (size_t)(li->lastchar - li->buffer), width = columns();
	if (e->is_dumb || li->cursor != li->lastchar || !n || !(line = strndup(li->buffer, n)))
		return false;
	size_t len = hint(e->source, line, text, sizeof text);
	size_t used = position(e, line, n) % width;
	free(line);
	// Without dimming it must not look like a part of the line: shown as a comment.
	const char *before = e->look->has_color ? "\033[2m" : "  # ";
	size_t taken = e->look->has_color ? 0 : 4;
	if (!len || used + taken + 1 >= width)
		return false;
	len = fitting(text, width - used - taken - 1);
	fprintf(stdout, "\0337%s%.*s%s\0338", before, (int)len, text,
		e->look->has_color ? "\033[0m" : "");
	fflush(stdout);
	return true;
}

static void wipe_hint(void)
{
	fputs("\033[K", stdout);
	fflush(stdout);
}

// ---- keys ----

// The terminal may have rewrapped the line; start at its beginning.
static void redraw(struct edit *e)
{
	const LineInfo *li = el_line(e->el);
	size_t n = (size_t)(li->cursor - li->buffer);
	size_t rows = position(e, li->buffer, n) / columns();
	el_resize(e->el);
	fputc('\r', stdout);
	if (rows)
		fprintf(stdout, "\033[%zuA", rows);
	fputs("\033[J", stdout);
	fflush(stdout);
	el_set(e->el, EL_REFRESH);
	look_resize(e->look);
}

// False: no more keys for this line.
static bool wait_for_key(struct edit *e)
{
	for (;;) {
		int r = interrupt_wait_key(STDIN_FILENO, 0);
		bool has_hint = !r && draw_hint(e);
		if (!r)
			r = interrupt_wait_key(STDIN_FILENO, -1);
		if (has_hint)
			wipe_hint();
		if (r == -ERESTART) {
			redraw(e);
			continue;
		}
		e->is_interrupted = r == -EINTR;
		if (r < 0)
			return false;
		ssize_t n = read(STDIN_FILENO, e->typed, sizeof e->typed);
		e->len = n > 0 ? (size_t)n : 0;
		e->at = 0;
		e->has_ended = n <= 0;
		return n > 0;
	}
}

static int next_key(EditLine *el, wchar_t *ret)
{
	struct edit *e = edit_of(el);
	for (;;) {
		if (e->at == e->len && !wait_for_key(e))
			return e->has_ended ? 0 : -1;
		size_t used = mbrtowc(ret, e->typed + e->at, 1, &e->state);
		e->at++;
		if (used == (size_t)-1) {
			e->state = (mbstate_t){ 0 };
			*ret = L'?';
		}
		if (used != (size_t)-2)
			return 1;
	}
}

char *edit_pasted(void *edit)
{
	struct edit *e = edit;
	size_t n = e->len - e->at;
	char *from = e->typed + e->at, *end = n ? memchr(from, '\r', n) : NULL;
	char *newline = n ? memchr(from, '\n', n) : NULL;
	if (!end || (newline && newline < end))
		end = newline;
	if (!end)
		return NULL;
	char *line = strndup(from, (size_t)(end - from));
	e->at += (size_t)(end + 1 - from);
	return line;
}

// ---- completion ----

static void replace(EditLine *el, size_t from, size_t to, const char *text, size_t n, char end)
{
	char *part = strndup(text, n), *quoted = part ? word_quote(part) : NULL;
	char last[2] = { end, 0 };
	if (quoted) {
		el_deletestr(el, (int)(to - from));
		el_insertstr(el, quoted);
		if (end)
			el_insertstr(el, last);
	}
	free(part);
	free(quoted);
}

static void list(struct edit *e, const struct candidates *c, const char *line, size_t cursor,
		 size_t len)
{
	size_t width = columns();
	size_t below = position(e, line, len) / width - position(e, line, cursor) / width;
	if (below)
		fprintf(stdout, "\033[%zuB", below);
	fputc('\n', stdout);
	menu_draw(e->look, c, (unsigned)width);
	fflush(stdout);
	el_set(e->el, EL_REFRESH);
}

// Lines that came at once. Keys that were typed ahead, or that a slow network brings together, are
// keys.
static bool is_pasted(const struct edit *e)
{
	const char *rest = e->typed + e->at;
	size_t n = e->len - e->at;
	return n && (memchr(rest, '\r', n) || memchr(rest, '\n', n));
}

static unsigned char complete_key(EditLine *el, int key)
{
	struct edit *e = edit_of(el);
	const LineInfo *li = el_line(el);
	size_t cursor = (size_t)(li->cursor - li->buffer);
	size_t len = (size_t)(li->lastchar - li->buffer);
	if (is_pasted(e)) // nobody asks for anything
		return el_insertstr(el, " ") < 0 ? CC_ERROR : CC_REFRESH;
	char *line = strndup(li->buffer, len), *text = strndup(li->buffer, cursor);
	unsigned char answer = CC_ERROR;
	struct candidates c = { 0 };
	if (line && text)
		complete(e->source, text, &c);
	size_t common = candidates_common(&c);
	char *meant = c.count ? strndup(c.list[0].text, common) : NULL;
	char *quoted = meant ? word_quote(meant) : NULL;
	if (quoted && (c.count == 1 || strlen(quoted) > cursor - c.start)) {
		replace(el, c.start, cursor, meant, common, c.count == 1 ? c.list[0].end : 0);
		answer = CC_REFRESH;
	} else if (c.count) {
		list(e, &c, line, cursor, len);
		answer = CC_NORM;
	}
	free(meant);
	free(quoted);
	free(line);
	free(text);
	candidates_done(&c);
	return answer;
}

// ---- lines ----

void edit_remember(struct edit *e, const char *line)
{
	HistEvent ev;
	history(e->past, &ev, H_ENTER, line);
}

static void load_past(struct edit *e)
{
	struct state_lines *l = calloc(1, sizeof *l);
	if (!l)
		return;
	state_read(HOME_STATE, "history", l);
	for (unsigned i = 0; i < l->count; i++)
		edit_remember(e, l->line[i]);
	state_done(l);
	free(l);
}

struct edit *edit_new(const struct complete_source *source, struct look *look)
{
	HistEvent ev;
	const char *term = getenv("TERM");
	struct edit *e = calloc(1, sizeof *e);
	if (!e)
		return NULL;
	*e = (struct edit){ .source = source, .look = look, .prompt = "" };
	e->is_dumb = !term || !*term || !strcmp(term, "dumb");
	e->el = el_init("farblock", stdin, stdout, stderr);
	e->past = history_init();
	if (!e->el || !e->past) {
		edit_free(e);
		return NULL;
	}
	history(e->past, &ev, H_SETSIZE, STATE_LINES_MAX);
	history(e->past, &ev, H_SETUNIQUE, 1);
	el_set(e->el, EL_CLIENTDATA, e);
	el_set(e->el, EL_PROMPT, prompt);
	el_set(e->el, EL_EDITOR, "emacs");
	el_set(e->el, EL_HIST, history, e->past);
	el_set(e->el, EL_SIGNAL, 0);
	el_set(e->el, EL_GETCFN, next_key);
	// Not el_set(): it never frees its copies of the names.
	el_wset(e->el, EL_ADDFN, L"complete", L"Complete the word", complete_key);
	el_set(e->el, EL_BIND, "^I", "complete", NULL);
	el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	load_past(e);
	return e;
}

void edit_free(struct edit *e)
{
	if (!e)
		return;
	if (e->past)
		history_end(e->past);
	if (e->el)
		el_end(e->el);
	explicit_bzero(e->typed, sizeof e->typed);
	free(e);
}

enum edit_result edit_line(struct edit *e, const char *text, const char **ret)
{
	int len = 0;
	e->prompt = text;
	e->is_interrupted = false;
	// Before the prompt: libedit would do it behind, and keys typed in between be echoed twice.
	el_set(e->el, EL_PREP_TERM, 1);
	const char *line = el_gets(e->el, &len);
	if (e->is_interrupted) {
		fputs("^C\n", stdout);
		return EDIT_INTERRUPTED;
	}
	if (!line || len <= 0)
		return EDIT_END;
	look_resize(e->look); // keys typed earlier hide the signal
	static char copy[65536];
	size_t n = strcspn(line, "\r\n");
	n = n < sizeof copy ? n : sizeof copy - 1;
	memcpy(copy, line, n);
	copy[n] = 0;
	*ret = copy;
	return EDIT_LINE;
}
