// SPDX-License-Identifier: BSD-2-Clause
// The flags of farblockd and of farblock, from target/options.h and cli/flags.h; exit statuses.
#include <stdbool.h>
#include <string.h>

#include "cli/explain.h"
#include "cli/flags.h"
#include "manual/directive.h"
#include "target/options.h"

// A flag of either program; letter 0: none; argument NULL: takes none.
struct entry {
	char letter;
	const char *name, *argument, *help;
};

static bool daemon_at(unsigned index, struct entry *ret)
{
	const struct option_row *row = options_row(index);
	if (row)
		*ret = (struct entry){ 0, row->name, row->argument, row->help };
	return row;
}

static bool shell_at(unsigned index, struct entry *ret)
{
	const struct flag_row *row = flags_row(index);
	if (row)
		*ret = (struct entry){ row->letter, row->name, row->argument, row->help };
	return row;
}

// The program at the start of an argument.
struct program {
	const char *name;
	bool (*at)(unsigned index, struct entry *ret);
};

static const struct program *program_of(const char *argument)
{
	static const struct program programs[] = {
		{"farblockd", daemon_at},
		    { "farblock", shell_at }
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
	struct entry e;
	for (unsigned i = 0; p && p->at(i, &e); i++) {
		fputs(".It", out);
		if (e.letter)
			fprintf(out, " Fl %c ,", e.letter);
		fprintf(out, " Fl Fl %s", e.name);
		if (e.argument)
			fprintf(out, " Ar %s", e.argument);
		fputc('\n', out);
		roff_text(out, e.help);
	}
	return p ? 0 : -1;
}

int flags_words(FILE *out, const char *argument)
{
	const struct program *p = program_of(argument);
	struct entry e;
	if (!p)
		return -1;
	fputs(argument + strlen(p->name) + 1, out);
	for (unsigned i = 0; p->at(i, &e); i++)
		fprintf(out, "%s--%s", i ? " " : "", e.name);
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
	struct entry e;
	for (unsigned i = 0; p && p->at(i, &e); i++) {
		fprintf(out, "  '--%s%s[", e.name, e.argument ? "=" : "");
		shell_quoted(out, e.help, true);
		fputc(']', out);
		if (e.argument)
			fprintf(out, ":%s:%s", e.argument, is_file(e.argument) ? "_files" : " ");
		fputs("' \\\n", out);
	}
	return p ? 0 : -1;
}

int flags_fish(FILE *out, const char *argument)
{
	const struct program *p = program_of(argument);
	struct entry e;
	for (unsigned i = 0; p && p->at(i, &e); i++) {
		const char *takes = !e.argument ? "" : is_file(e.argument) ? " -r" : " -x";
		fprintf(out, "complete -c %s -l %s%s -d '", p->name, e.name, takes);
		shell_quoted(out, e.help, false);
		fputs("'\n", out);
	}
	return p ? 0 : -1;
}
