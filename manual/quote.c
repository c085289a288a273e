// SPDX-License-Identifier: BSD-2-Clause
// Text in the languages of manual pages and shells.
#include <stdbool.h>
#include <string.h>

#include "manual/directive.h"

static void roff(FILE *out, const char *text, const char *quote)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\\')
			fputs("\\e", out);
		else if (*p == '"')
			fputs(quote, out);
		else
			fputc(*p, out);
	}
}

void roff_text(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	roff(out, text, "\"");
	fputc('\n', out);
}

void roff_word(FILE *out, const char *text)
{
	fputs(" \"", out);
	// A word of one to three letters might be the name of a macro.
	if (strlen(text) <= 3)
		fputs("\\&", out);
	roff(out, text, "\\(dq");
	fputc('"', out);
}

void shell_quoted(FILE *out, const char *text, bool is_zsh)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			fputs("'\\''", out);
		else if (is_zsh && strchr("[]:\\", *p))
			fprintf(out, "\\%c", *p);
		else
			fputc(*p, out);
	}
}
