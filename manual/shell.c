// SPDX-License-Identifier: BSD-2-Clause
// The flags of farblock, from cli/flags.h.
#include <stdbool.h>
#include <string.h>

#include "manual/directive.h"
#include "cli/flags.h"

int shell_flags(FILE *out, const char *argument)
{
	const struct flag_row *row;
	for (unsigned i = 0; (row = flags_row(i)); i++) {
		fputs(".It", out);
		if (row->letter)
			fprintf(out, " Fl %c ,", row->letter);
		fprintf(out, " Fl Fl %s", row->name);
		if (row->argument)
			fprintf(out, " Ar %s", row->argument);
		fputc('\n', out);
		roff_text(out, row->help);
	}
	return 0;
}

int shell_words(FILE *out, const char *argument)
{
	const struct flag_row *row;
	fputs(argument, out);
	for (unsigned i = 0; (row = flags_row(i)); i++)
		fprintf(out, "%s--%s", i ? " " : "", row->name);
	fputs("'\n", out);
	return 0;
}

static bool is_file(const char *argument)
{
	return !strcmp(argument, "FILE") || !strcmp(argument, "DIR") || !strcmp(argument, "PATH");
}

int shell_zsh(FILE *out, const char *argument)
{
	const struct flag_row *row;
	for (unsigned i = 0; (row = flags_row(i)); i++) {
		fprintf(out, "  '--%s%s[", row->name, row->argument ? "=" : "");
		shell_quoted(out, row->help, true);
		fputc(']', out);
		if (row->argument)
			fprintf(out, ":%s:%s", row->argument,
				is_file(row->argument) ? "_files" : " ");
		fputs("' \\\n", out);
	}
	return 0;
}

int shell_fish(FILE *out, const char *argument)
{
	const struct flag_row *row;
	for (unsigned i = 0; (row = flags_row(i)); i++) {
		const char *takes = !row->argument ? "" : is_file(row->argument) ? " -r" : " -x";
		fprintf(out, "complete -c farblock -l %s%s -d '", row->name, takes);
		shell_quoted(out, row->help, false);
		fputs("'\n", out);
	}
	return 0;
}
