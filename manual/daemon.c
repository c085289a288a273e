// SPDX-License-Identifier: BSD-2-Clause
// The flags of farblockd, from target/options.h.
#include <stdbool.h>
#include <string.h>

#include "manual/directive.h"
#include "target/options.h"

int daemon_flags(FILE *out, const char *argument)
{
	const struct option_row *row;
	for (unsigned i = 0; (row = options_row(i)); i++) {
		fprintf(out, ".It Fl Fl %s", row->name);
		if (row->argument)
			fprintf(out, " Ar %s", row->argument);
		fputc('\n', out);
		roff_text(out, row->help);
	}
	return 0;
}

int daemon_words(FILE *out, const char *argument)
{
	const struct option_row *row;
	fputs(argument, out);
	for (unsigned i = 0; (row = options_row(i)); i++)
		fprintf(out, "%s--%s", i ? " " : "", row->name);
	fputs("'\n", out);
	return 0;
}

static bool is_file(const char *argument)
{
	return !strcmp(argument, "FILE") || !strcmp(argument, "DIR") || !strcmp(argument, "PATH");
}

int daemon_zsh(FILE *out, const char *argument)
{
	const struct option_row *row;
	for (unsigned i = 0; (row = options_row(i)); i++) {
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

int daemon_fish(FILE *out, const char *argument)
{
	const struct option_row *row;
	for (unsigned i = 0; (row = options_row(i)); i++) {
		const char *takes = !row->argument ? "" : is_file(row->argument) ? " -r" : " -x";
		fprintf(out, "complete -c farblockd -l %s%s -d '", row->name, takes);
		shell_quoted(out, row->help, false);
		fputs("'\n", out);
	}
	return 0;
}
