// SPDX-License-Identifier: BSD-2-Clause
// Flags of farblock.
#include "cli/flags.h"
#include "cli/explain.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int on_socket(struct flags *f, const char *text, struct err *e)
{
	f->socket = text;
	return 0;
}

static int on_json(struct flags *f, const char *text, struct err *e)
{
	f->is_json = true;
	return 0;
}

static int on_revision(struct flags *f, const char *text, struct err *e)
{
	char *end;
	errno = 0;
	f->revision = strtoull(text, &end, 10);
	f->has_revision = isdigit((unsigned char)*text) && !*end && !errno;
	return f->has_revision ? 0
			       : err_set(e, -EINVAL, "--revision: invalid number: '%.40s'", text);
}

static int on_file(struct flags *f, const char *text, struct err *e)
{
	f->file = text;
	return 0;
}

static int on_keep_going(struct flags *f, const char *text, struct err *e)
{
	f->keeps_going = true;
	return 0;
}

static int on_color(struct flags *f, const char *text, struct err *e)
{
	static const char *const names[] = { "auto", "always", "never" };
	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(names[i], text)) {
			f->color = (enum color)i;
			return 0;
		}
	return err_set(e, -EINVAL, "--color: invalid value: %.40s (use auto, always or never)",
		       text);
}

static int on_complete(struct flags *f, const char *text, struct err *e)
{
	f->complete = text;
	return 0;
}

static int on_version(struct flags *f, const char *text, struct err *e)
{
	f->wants_version = true;
	return 0;
}

static int on_help(struct flags *f, const char *text, struct err *e)
{
	f->wants_help = true;
	return 0;
}

static const struct row {
	struct flag_row row;
	int (*on)(struct flags *f, const char *text, struct err *e);
} rows[] = {
	// clang-format off
	{{0, "socket", "PATH", "control socket of farblockd ($FARBLOCK_SOCKET, /run/farblock/control.sock)"},
	 on_socket},
	{{0, "json", NULL, "print answers and errors as JSON"}, on_json},
	{{0, "revision", "N", "change nothing unless the configuration has this revision (shown by --json)"},
	 on_revision},
	{{'c', "file", "FILE", "run the lines of a file; stop at the first error and name its line"}, on_file},
	{{0, "keep-going", NULL, "continue a batch after errors, then exit non-zero"}, on_keep_going},
	{{0, "color", "WHEN", "auto (at a terminal, and without $NO_COLOR), always, never"}, on_color},
	{{0, "complete", "LINE", "print completions of the last word, for shells"},
	 on_complete},
	{{'v', "version", NULL, "show the version"}, on_version},
	{{'h', "help", NULL, "show this help; `farblock help` lists the commands"}, on_help},
	// clang-format on
};
enum { ROWS = sizeof rows / sizeof rows[0], LETTERS = 3 * ROWS + 3 };

const struct flag_row *flags_row(unsigned index)
{
	return index < ROWS ? &rows[index].row : NULL;
}

// The argument of getopt. "+": words after the command belong to it.
static void describe(struct option longs[ROWS + 1], char letters[LETTERS])
{
	size_t n = 0;
	letters[n++] = '+';
	letters[n++] = ':';
	for (int i = 0; i < ROWS; i++) {
		const struct flag_row *r = &rows[i].row;
		longs[i] = (struct option){ r->name, r->argument ? required_argument : no_argument,
					    NULL, 256 + i };
		if (r->letter)
			letters[n++] = r->letter;
		if (r->letter && r->argument)
			letters[n++] = ':';
	}
	letters[n] = 0;
}

// The row of getopt's result, NULL: none.
static const struct row *found(int at)
{
	if (at >= 256)
		return &rows[at - 256];
	for (int i = 0; i < ROWS; i++)
		if (rows[i].row.letter == at)
			return &rows[i];
	return NULL;
}

int flags_parse(struct flags *ret, int argc, char **argv, struct err *e)
{
	struct option longs[ROWS + 1] = { 0 };
	char letters[LETTERS];
	int at;
	describe(longs, letters);
	*ret = (struct flags){ .socket = getenv("FARBLOCK_SOCKET") };
	if (!ret->socket || !*ret->socket)
		ret->socket = "/run/farblock/control.sock";
	optind = 0; // resets getopt, for tests
	opterr = 0;
	while ((at = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct row *r = at == ':' || at == '?' ? NULL : found(at);
		if (!r)
			return err_set(e, -EINVAL, "%.60s: %s (see --help)", argv[optind - 1],
				       at == ':' ? "needs a value" : "unknown option");
		int rc = r->on(ret, optarg, e);
		if (rc < 0)
			return rc;
	}
	if (ret->file && optind < argc)
		return err_set(e, -EINVAL, "-c FILE and a command exclude each other (see --help)");
	return optind;
}

// "exit status: 0 success, 1 failure ..." in lines of at most 90 columns.
static void help_statuses(void)
{
	int column = printf("\nexit status:");
	for (const struct explain_row *r = explain_exit.rows; r->name; r++) {
		char text[64];
		int len = snprintf(text, sizeof text, "%u %s%s", r->code, r->name,
				   r[1].name ? "," : "\n");
		bool is_full = column + 1 + len > 90;
		column = (is_full ? 0 : column) + 1 + len;
		printf("%s%s", is_full ? "\n" : " ", text);
	}
}

void flags_help(void)
{
	fputs("usage: farblock [OPTION]... [PATH] COMMAND [value ...] [name=value ...]\n"
	      "       farblock [OPTION]... -c FILE    run the lines of a file\n"
	      "       farblock [OPTION]...            prompt, or run the lines of standard "
	      "input\n\n",
	      stdout);
	for (int i = 0; i < ROWS; i++) {
		const struct flag_row *r = &rows[i].row;
		char left[48], letter[8] = "";
		if (r->letter)
			snprintf(letter, sizeof letter, "-%c, ", r->letter);
		snprintf(left, sizeof left, "%s--%s%s%s", letter, r->name, r->argument ? " " : "",
			 r->argument ? r->argument : "");
		printf("  %-16s %s\n", left, r->help);
	}
	help_statuses();
}
