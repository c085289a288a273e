// SPDX-License-Identifier: BSD-2-Clause
// Lines from a person.
#include <histedit.h>
#include <string.h>

#include "cli/shell.h"

static enum status run_text(struct shell *s, const char *text, struct err *e)
{
	struct line l;
	int r = line_parse(&l, text, e);
	enum status status = r < 0 ? STATUS_USAGE : shell_run(s, &l, e);
	line_done(&l);
	return status;
}

static char *prompt(EditLine *el)
{
	static char text[48];
	struct shell *s;
	el_get(el, EL_CLIENTDATA, &s);
	size_t len = strlen(s->cwd);
	if (len > 30)
		snprintf(text, sizeof text, "%.13s...%s> ", s->cwd, s->cwd + len - 13);
	else
		snprintf(text, sizeof text, "%s> ", s->cwd);
	return text;
}

enum status shell_interactive(struct shell *s)
{
	EditLine *el = el_init("farblock", stdin, stdout, stderr);
	History *past = history_init();
	HistEvent ev;
	const char *text;
	int len;
	if (!el || !past) {
		fprintf(stderr, "farblock: out of memory\n");
		return STATUS_FAILED;
	}
	history(past, &ev, H_SETSIZE, 500);
	el_set(el, EL_CLIENTDATA, s);
	el_set(el, EL_PROMPT, prompt);
	el_set(el, EL_EDITOR, "emacs");
	el_set(el, EL_HIST, history, past);
	el_set(el, EL_SIGNAL, 1);
	while (!s->wants_exit && (text = el_gets(el, &len)) && len > 0) {
		struct err e = { 0 };
		// A line that sets a secret is not to be found by the next who presses up.
		if (*text != '\n' && !strstr(text, "password"))
			history(past, &ev, H_ENTER, text);
		if (run_text(s, text, &e) != STATUS_OK)
			fprintf(stderr, "%s\n", e.text);
	}
	history_end(past);
	el_end(el);
	return STATUS_OK;
}
