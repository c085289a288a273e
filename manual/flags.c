// SPDX-License-Identifier: BSD-2-Clause
// The flags of farblockd and of farblock, from target/options.h and cli/flags.h; exit statuses.
#include <stdbool.h>
#include <string.h>

#include "cli/explain/explain.h"
#include "cli/flags.h"
#include "manual/directive.h"
#include "target/options.h"

// The program at the start of an argument.
struct program {
	const char *name;
	const struct option_row *rows;
};

static const struct program *program_of(const char *argument)
{
	static const struct program programs[] = {
		{"farblockd", daemon_option_rows},
		{ "farblock", flag_rows		},
	};
	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		size_t len = strlen(programs[i].name);
		if (!strncmp(argument, programs[i].name, len) && strchr(" ", argument[len]))
			return &programs[i];
	}
	fprintf(stderr, "manual: '%s' begins with no program that has flags\n", argument);
	return NULL;
}

int flags_mdoc(FILE *out, const char *argument)
{
	const struct program *p = program_of(argument);
	for (const struct option_row *r = p ? p->rows : NULL; r && r->name; r++) {
		fputs(".It", out);
		if (r->letter)
			fprintf(out, " Fl %c ,", r->letter);
		fprintf(out, " Fl Fl %s", r->name);
		if (r->argument)
			fprintf(out, " Ar %s", r->argument);
		fputc('\n', out);
		roff_text(out, r->help);
	}
	return p ? 0 : -1;
}

int flags_words(FILE *out, const char *argument)
{
	const struct program *p = program_of(argument);
	if (!p)
		return -1;
	fputs(argument + strlen(p->name) + 1, out);
	for (const struct option_row *r = p->rows; r->name; r++)
		fprintf(out, "%s--%s", r > p->rows ? " " : "", r->name);
	fputs("'\n", out);
	return 0;
}

int exit_statuses(FILE *out, const char *argument)
{
	for (const struct explain_row *r = explain_exit.rows; r->name; r++)
		fprintf(out, "%u %s%s\n", r->code, r->name, r[1].name ? "," : ".");
	return 0;
}

static bool is_file(const char *argument)
{
	return !strcmp(argument, "FILE") || !strcmp(argument, "DIR") || !strcmp(argument, "PATH");
}

int flags_zsh(FILE *out, const char *argument)
{
	const struct program *p = program_of(argument);
	for (const struct option_row *r = p ? p->rows : NULL; r && r->name; r++) {
		fprintf(out, "  '--%s%s[", r->name, r->argument ? "=" : "");
		shell_quoted(out, r->help, true);
		fputc(']', out);
		if (r->argument)
			fprintf(out, ":%s:%s", r->argument, is_file(r->argument) ? "_files" : " ");
		fputs("' \\\n", out);
	}
	return p ? 0 : -1;
}

int flags_fish(FILE *out, const char *argument)
{
	const struct program *p = program_of(argument);
	for (const struct option_row *r = p ? p->rows : NULL; r && r->name; r++) {
		const char *takes = !r->argument ? "" : is_file(r->argument) ? " -r" : " -x";
		fprintf(out, "complete -c %s -l %s%s -d '", p->name, r->name, takes);
		shell_quoted(out, r->help, false);
		fputs("'\n", out);
	}
	return p ? 0 : -1;
}
