// SPDX-License-Identifier: BSD-2-Clause
// A line of the shell, and paths: no crash, no leak; what is wrong is inside the line, words are
// UTF-8 and stand where they are said to, a word that is quoted is read as it was, and an absolute
// path without dots comes out.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/edit/cursor.h"
#include "cli/edit/history.h"
#include "cli/shell/command.h"
#include "core/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const struct line *l, size_t len)
{
	if ((!l->path && !l->command) || (l->path && !utf8_is_fine(l->path)) ||
	    (l->command && !utf8_is_fine(l->command)))
		abort();
	for (unsigned i = 0; i < l->count; i++) {
		struct script again;
		struct err e;
		size_t at;
		char *quoted = word_quote(l->values[i].text), text[64] = "x v";
		if (l->values[i].at >= len || !utf8_is_fine(l->values[i].text) ||
		    (l->values[i].name && !utf8_is_fine(l->values[i].name)))
			abort();
		char *line = malloc(strlen(quoted) + sizeof text);
		strcat(strcpy(line, "x v="), quoted);
		if (script_parse(&again, line, &at, &e) < 0 ||
		    strcmp(again.lines[0].values[0].text, l->values[i].text))
			abort();
		script_done(&again);
		free(line);
		free(quoted);
	}
}

static void check_word(char *text, size_t len)
{
	struct line l;
	struct err e;
	size_t at;
	int r = line_from_words(&l, 1, &text, &at, &e);
	if ((r < 0 && at > len) || (!r && !utf8_is_fine(text)))
		abort();
	line_done(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script s;
	struct cursor c;
	struct err e;
	size_t at;
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = 0;
	size_t len = strlen(text);
	int r = script_parse(&s, text, &at, &e);
	if (r < 0 && at > len)
		abort();
	for (unsigned i = 0; !r && i < s.count; i++)
		check_line(&s.lines[i], len);
	check_word(text, len);
	const char *word = s.count && s.lines[0].path ? s.lines[0].path : text;
	char *path = path_join("/a/b", word);
	if (*path != '/' || strstr(path, "/../") || strstr(path, "//"))
		abort();
	free(path);
	script_done(&s);
	history_may_keep(NULL, shell_commands, text);
	if (cursor_find(&c, text)) {
		if (c.word.start > len)
			abort();
		cursor_done(&c);
	}
	free(text);
	return 0;
}
