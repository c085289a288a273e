// SPDX-License-Identifier: BSD-2-Clause
// The interactive loop.
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/edit/edit.h"
#include "cli/failure.h"
#include "cli/edit/history.h"
#include "cli/shell/interrupt.h"
#include "cli/edit/prompt.h"
#include "cli/edit/source.h"
#include "cli/shell/state.h"

// For free(). The star: a transaction is open, so changes are not saved. It ends with the
// connection.
static char *make_prompt(const struct shell *s)
{
	const char *star = s->has_transaction && s->client.fd >= 0 ? "*" : "";
	char *path = prompt_path(s->cwd, s->prefs.prompt_length), *prompt = NULL;
	if (path && asprintf(&prompt, "%s%s> ", path, star) < 0)
		prompt = NULL;
	free(path);
	return prompt ? prompt : strdup("> ");
}

static void run_text(struct shell *s, const char *text, unsigned indent)
{
	struct origin o = { .text = text, .is_on_screen = true, .indent = indent };
	struct script script;
	struct err e = { 0 };
	size_t at;
	enum status status = STATUS_OK;
	if (script_parse(&script, text, &at, &e) < 0) {
		failure_tell(s, &o, NULL, at, STATUS_USAGE, &e);
		script_done(&script);
		return;
	}
	for (unsigned i = 0; i < script.count && status == STATUS_OK && !s->wants_exit; i++) {
		struct err why = { 0 };
		status = shell_run(s, &script.lines[i], &why);
		if (status != STATUS_OK)
			failure_tell(s, &o, &script.lines[i], 0, status, &why);
	}
	script_done(&script);
}

static void keep(struct source *source, struct edit *edit, const char *text)
{
	if (!text[strspn(text, " \t")] ||
	    !history_may_keep(source->schema, source->shell->commands, text))
		return;
	edit_remember(edit, text);
	history_save(text, NULL); // without a home directory it is not saved
}

// Goes to a path, or to its nearest existing parent.
static void go_near(struct shell *s, const char *path)
{
	char *to = strdup(path);
	while (to && shell_go(s, to, false, NULL) == -ENOENT && strcmp(to, "/")) {
		char *above = path_join(to, "..");
		free(to);
		to = above;
	}
	free(to);
}

// The path of the last shell.
static void begin_where_we_were(struct shell *s)
{
	struct state_lines *l = calloc(1, sizeof *l);
	if (!l)
		return;
	state_read(HOME_STATE, "places", l);
	s->places = l;
	s->place = l->count ? l->count - 1 : 0;
	if (l->count)
		go_near(s, l->line[l->count - 1]);
}

// Runs one line; false: end of input.
static bool converse(struct shell *s, struct source *source, struct edit *edit, const char *prompt)
{
	const char *text;
	source_begin(source);
	enum edit_result r = edit_line(edit, prompt, &text);
	if (r == EDIT_END)
		fputc('\n', stdout);
	if (r == EDIT_LINE) {
		keep(source, edit, text);
		run_text(s, text, (unsigned)strlen(prompt));
	}
	return r != EDIT_END && !s->wants_exit;
}

static void converse_all(struct shell *s, struct source *source, struct edit *edit)
{
	bool goes_on = true;
	while (goes_on) {
		char *prompt = make_prompt(s);
		goes_on = prompt && converse(s, source, edit, prompt);
		free(prompt);
	}
}

enum status shell_interactive(struct shell *s)
{
	struct source source;
	setlocale(LC_CTYPE, "");
	interrupt_catch();
	s->is_interactive = true;
	source_init(&source, s);
	struct edit *edit = edit_new(&source.base, &s->look);
	if (!edit) {
		fprintf(stderr, "farblock: out of memory\n");
		return STATUS_FAILED;
	}
	s->next_line = edit_pasted;
	s->next_line_arg = edit;
	begin_where_we_were(s);
	fprintf(s->look.out, "farblock shell version " FARBLOCK_VERSION
			     "\nFor help on commands, type 'help'.\n\n");
	converse_all(s, &source, edit);
	shell_keep_place(s);
	s->next_line = NULL;
	edit_free(edit);
	source_done(&source);
	return STATUS_OK;
}
