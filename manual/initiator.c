// SPDX-License-Identifier: BSD-2-Clause
// Subcommands and options of farblock-initiator, from initiator/tool.h.
#include <stdbool.h>
#include <string.h>

#include "initiator/program/help.h"
#include "initiator/program/program.h"
#include "manual/directive.h"

static int write_commands(FILE *out, const char *argument)
{
	const struct tool_verb *v;
	for (unsigned i = 0; (v = tool_verb_at(i)); i++) {
		fprintf(out, ".It Cm %s Ar %s\n", v->name, v->args);
		roff_text(out, v->help);
	}
	return 0;
}

// The subcommands of verbs, after before and up to a full stop.
static void list_verbs(FILE *out, const char *before, unsigned verbs)
{
	const struct tool_verb *v;
	for (unsigned i = 0; (v = tool_verb_at(i)); i++) {
		if (!(v->bit & verbs))
			continue;
		fprintf(out, "%s%s", before, v->name);
		before = ", ";
	}
	fputs(".\n", out);
}

static void write_option(FILE *out, const struct option_row *row)
{
	fputs(".It", out);
	if (row->letter)
		fprintf(out, " Fl %c ,", row->letter);
	fprintf(out, " Fl Fl %s", row->name);
	if (row->argument)
		fprintf(out, " Ar %s", row->argument);
	fputc('\n', out);
	roff_text(out, row->help);
}

static int write_options(FILE *out, const char *argument)
{
	for (const struct option_row *row = tool_option_rows; row->name; row++) {
		if (help_is_of_session(row))
			continue;
		write_option(out, row);
		if (!row->verbs)
			continue;
		fputs(".br\n", out);
		list_verbs(out, "Commands: ", row->verbs);
	}
	return 0;
}

static int write_session_options(FILE *out, const char *argument)
{
	for (const struct option_row *row = tool_option_rows; row->name; row++)
		if (help_is_of_session(row))
			write_option(out, row);
	return 0;
}

static int write_session_verbs(FILE *out, const char *argument)
{
	list_verbs(out, "", ~(unsigned)TOOL_HELD);
	return 0;
}

static int write_statuses(FILE *out, const char *argument)
{
	for (const struct tool_status_row *r = tool_status_rows; r->meaning; r++) {
		fprintf(out, ".It %d\n", r->status);
		roff_text(out, r->meaning);
	}
	return 0;
}

static int write_words(FILE *out, const char *argument)
{
	const struct tool_verb *v;
	fputs(argument, out);
	for (unsigned i = 0; (v = tool_verb_at(i)); i++)
		fprintf(out, "%s%s", i ? " " : "", v->name);
	fputs("'\n", out);
	return 0;
}

static int write_bash(FILE *out, const char *argument)
{
	const struct tool_verb *v;
	for (unsigned i = 0; (v = tool_verb_at(i)); i++) {
		fprintf(out, "\t%s) options='", v->name);
		for (const struct option_row *row = tool_option_rows; row->name; row++) {
			if (!option_is_of(row, v->bit))
				continue;
			fprintf(out, "--%s ", row->name);
			if (row->letter)
				fprintf(out, "-%c ", row->letter);
		}
		fputs("' ;;\n", out);
	}
	return 0;
}

// The values of an option for bash, as a branch of its case.
static int write_values(FILE *out, const char *argument)
{
	for (const struct option_row *row = tool_option_rows; row->name; row++)
		if (row->words)
			fprintf(out, "\t--%s) _farblock_initiator_words '%s' \"$cur\" ;;\n",
				row->name, row->words);
	return 0;
}

static bool is_file(const struct option_row *row)
{
	return !strcmp(row->argument, "FILE");
}

// One spelling of an option; joint: how a value is joined to it.
static void zsh_option(FILE *out, const struct option_row *row, const char *dashes,
		       const char *name, size_t len, const char *joint)
{
	fprintf(out, "  '%s%.*s%s[", dashes, (int)len, name, row->argument ? joint : "");
	shell_quoted(out, row->help, true);
	fputc(']', out);
	if (row->argument && row->words)
		fprintf(out, ":%s:(%s)", row->argument, row->words);
	else if (row->argument)
		fprintf(out, ":%s:%s", row->argument, is_file(row) ? "_files" : " ");
	fputs("' \\\n", out);
}

static int write_zsh(FILE *out, const char *argument)
{
	for (const struct option_row *row = tool_option_rows; row->name; row++) {
		zsh_option(out, row, "--", row->name, strlen(row->name), "=");
		if (row->letter)
			zsh_option(out, row, "-", &row->letter, 1, "+");
	}
	return 0;
}

static void fish_condition(FILE *out, unsigned verbs)
{
	const struct tool_verb *v;
	if (!verbs)
		return;
	fputs(" -n '__fish_seen_subcommand_from", out);
	for (unsigned i = 0; (v = tool_verb_at(i)); i++)
		if (v->bit & verbs)
			fprintf(out, " %s", v->name);
	fputc('\'', out);
}

static int write_fish(FILE *out, const char *argument)
{
	const struct tool_verb *v;
	for (unsigned i = 0; (v = tool_verb_at(i)); i++) {
		fprintf(out,
			"complete -c farblock-initiator -n __fish_use_subcommand -f -a %s -d '",
			v->name);
		shell_quoted(out, v->help, false);
		fputs("'\n", out);
	}
	for (const struct option_row *row = tool_option_rows; row->name; row++) {
		fputs("complete -c farblock-initiator", out);
		fish_condition(out, row->verbs);
		if (row->letter)
			fprintf(out, " -s %c", row->letter);
		fprintf(out, " -l %s%s -d '", row->name,
			!row->argument ? ""
			: is_file(row) ? " -r"
				       : " -x");
		shell_quoted(out, row->help, false);
		fputc('\'', out);
		if (row->words)
			fprintf(out, " -a '%s'", row->words);
		fputc('\n', out);
	}
	return 0;
}

const struct directive directives[] = {
	{"initiator-commands",		write_commands },
	{ "initiator-options",			       write_options },
	{ "initiator-session-options",write_session_options },
	{ "initiator-session-verbs", write_session_verbs },
	{ "initiator-statuses",				write_statuses },
	{ "initiator-words",	     write_words },
	{ "initiator-bash",	    write_bash },
	{ "initiator-values",			      write_values },
	{ "initiator-zsh",	   write_zsh },
	{ "initiator-fish",	    write_fish },
	{ 0			  },
};
