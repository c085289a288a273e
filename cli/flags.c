// SPDX-License-Identifier: BSD-2-Clause
// Flags of farblock.
#include "cli/flags.h"
#include "cli/explain/explain.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int on_revision(void *to, const struct option_row *row, const char *text, struct err *e)
{
	struct flags *f = to;
	char *end;
	errno = 0;
	f->revision = strtoull(text, &end, 10);
	f->has_revision = isdigit((unsigned char)*text) && !*end && !errno;
	return f->has_revision ? 0
			       : err_set(e, -EINVAL, "--revision: invalid number: '%.40s'", text);
}

static int on_color(void *to, const struct option_row *row, const char *text, struct err *e)
{
	struct flags *f = to;
	static const char *const names[] = { "auto", "always", "never" };
	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(names[i], text)) {
			f->color = (enum color)i;
			return 0;
		}
	return err_set(e, -EINVAL, "--color: invalid value: %.40s (use auto, always or never)",
		       text);
}

#define AT(field) offsetof(struct flags, field)
// clang-format off
const struct option_row flag_rows[] = {
	{0, "socket", "PATH", "control socket of farblockd ($FARBLOCK_SOCKET, /run/farblock/control.sock)", AT(socket)},
	{0, "json", NULL, "print answers and errors as JSON", AT(is_json)},
	{0, "revision", "N", "change nothing unless the configuration has this revision (shown by --json)", 0, on_revision},
	{'c', "file", "FILE", "run the lines of a file; stop at the first error and name its line", AT(file)},
	{0, "keep-going", NULL, "continue a batch after errors, then exit non-zero", AT(keeps_going)},
	{0, "targetcli", NULL, "as targetcli: create accepts a device that is not empty; to create what exists and to delete what is missing do not fail a batch", AT(is_targetcli)},
	{0, "color", "WHEN", "auto (at a terminal, and without $NO_COLOR), always, never", 0, on_color},
	{0, "complete", "LINE", "print completions of the last word, for shells", AT(complete)},
	{'v', "version", NULL, "show the version", AT(wants_version)},
	{'h', "help", NULL, "show this help; `farblock help` lists the commands", AT(wants_help)},
	{0},
};
// clang-format on

static int refuse(enum option_fault fault, const struct option_row *row, const char *word,
		  struct err *e)
{
	return err_set(e, -EINVAL, "%.60s: %s (see --help)", word,
		       fault == OPTION_NEEDS_VALUE ? "needs a value" : "unknown option");
}

int flags_parse(struct flags *ret, int argc, char **argv, struct err *e)
{
	// Words after the command belong to it.
	const struct option_program program = {
		.rows = flag_rows, .takes_short_names = true, .refuse = refuse, .to = ret
	};
	*ret = (struct flags){ .socket = getenv("FARBLOCK_SOCKET") };
	if (!ret->socket || !*ret->socket)
		ret->socket = "/run/farblock/control.sock";
	int n = options_read(&program, argc - 1, argv + 1, e);
	if (n >= 0 && ret->file && n < argc - 1)
		return err_set(e, -EINVAL, "-c FILE and a command exclude each other (see --help)");
	return n < 0 ? n : n + 1;
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
	options_help(flag_rows, 0, 16, false, stdout);
	help_statuses();
}
