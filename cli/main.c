// SPDX-License-Identifier: BSD-2-Clause
// farblock: the shell. One command on the command line, a batch with -c FILE or on stdin, or
// a prompt.
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/failure.h"

static const char usage[] =
	"usage: farblock [--socket PATH] [--json] [PATH] COMMAND [value ...] [name=value ...]\n"
	"       farblock [--socket PATH] [--json] -c FILE    runs the lines of a file\n"
	"       farblock [--socket PATH] [--json]            prompts, or runs the lines of stdin\n"
	"\n"
	"  --socket PATH   control socket of farblockd ($FARBLOCK_SOCKET,\n"
	"                  /run/farblock/control.sock)\n"
	"  --json          prints answers, and errors, as JSON\n"
	"  -c FILE         stops at the first error and names its line\n"
	"  --keep-going    a batch goes on behind an error, and fails in the end\n"
	"  --color WHEN    auto (at a terminal, and without $NO_COLOR), always, never\n"
	"  --version       tells the version and ends\n"
	"  --help          tells this and ends; `farblock help` tells the commands\n"
	"\n"
	"exit status: 0 done, 1 failed, 2 usage, 3 not found, 4 exists, 5 in use, 6 not allowed,\n"
	"7 farblockd does not answer, 8 a value does not fit\n";

struct choice {
	const char *socket, *file;
	enum color color;
	bool is_json, keeps_going;
};

static const struct option longs[] = {
	{"socket",	    required_argument, NULL, 's' },
	{ "json",	  no_argument, NULL, 'j' },
	{ "keep-going",		no_argument, NULL, 'k' },
	{ "color",required_argument, NULL, 'C' },
	{ "version",	     no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ 0	    },
};

static bool parse_color(const char *text, enum color *ret)
{
	static const char *const names[] = { "auto", "always", "never" };
	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(names[i], text)) {
			*ret = (enum color)i;
			return true;
		}
	return false;
}

// True: go on; false: *ret_status is the exit status.
static bool parse(struct choice *c, int argc, char **argv, enum status *ret_status)
{
	int at;
	*c = (struct choice){ .socket = getenv("FARBLOCK_SOCKET") };
	if (!c->socket || !*c->socket)
		c->socket = "/run/farblock/control.sock";
	opterr = 0;
	// "+": what stands behind the command belongs to it.
	while ((at = getopt_long(argc, argv, "+:c:hv", longs, NULL)) != -1) {
		switch (at) {
		case 's':
			c->socket = optarg;
			break;
		case 'j':
			c->is_json = true;
			break;
		case 'c':
			c->file = optarg;
			break;
		case 'k':
			c->keeps_going = true;
			break;
		case 'C':
			if (parse_color(optarg, &c->color))
				break;
			fprintf(stderr, "farblock: --color: %s: is none of auto, always, never\n",
				optarg);
			*ret_status = STATUS_USAGE;
			return false;
		case 'v':
			printf("farblock " FARBLOCK_VERSION "\n");
			*ret_status = STATUS_OK;
			return false;
		case 'h':
			fputs(usage, stdout);
			*ret_status = STATUS_OK;
			return false;
		default:
			fprintf(stderr, "farblock: %s: %s (see --help)\n", argv[optind - 1],
				at == ':' ? "needs a value" : "no such flag");
			*ret_status = STATUS_USAGE;
			return false;
		}
	}
	if (c->file && optind < argc) {
		fprintf(stderr, "farblock: either -c FILE or a command (see --help)\n");
		*ret_status = STATUS_USAGE;
		return false;
	}
	return true;
}

// The words with a blank between, for free(); NULL: no memory.
static char *join(int count, char **words)
{
	char *text = strdup(words[0]);
	for (int i = 1; text && i < count; i++) {
		char *longer = NULL;
		if (asprintf(&longer, "%s %s", text, words[i]) < 0)
			longer = NULL;
		explicit_bzero(text, strlen(text)); // it may hold a password
		free(text);
		text = longer;
	}
	return text;
}

// One word with blanks is a whole line, as typed at the prompt; it may hold several commands.
static enum status once(struct shell *s, int count, char **words)
{
	struct script script = { 0 };
	struct line line = { 0 }, *lines = &line;
	struct err e = { 0 };
	size_t at = 0;
	bool is_text = count == 1 && strchr(words[0], ' ');
	char *text = join(count, words);
	struct origin o = { .text = text };
	enum status status = STATUS_OK;
	int r = is_text ? script_parse(&script, words[0], &at, &e)
			: line_from_words(&line, count, words, &at, &e);
	if (r < 0)
		status = failure_tell(s, &o, NULL, at, STATUS_USAGE, &e);
	if (is_text)
		lines = script.lines;
	for (unsigned i = 0; !r && i < (is_text ? script.count : 1) && status == STATUS_OK; i++) {
		struct err why = { 0 };
		status = shell_run(s, &lines[i], &why);
		if (status != STATUS_OK)
			failure_tell(s, &o, &lines[i], 0, status, &why);
	}
	script_done(&script);
	line_done(&line);
	free(text);
	return status;
}

static enum status from_file(struct shell *s, const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "farblock: %s: %m\n", name);
		return STATUS_USAGE;
	}
	enum status status = shell_batch(s, fd, name);
	close(fd);
	return status;
}

int main(int argc, char **argv)
{
	struct choice c;
	struct shell s;
	enum status status;
	if (!parse(&c, argc, argv, &status))
		return (int)status;
	shell_init(&s, c.socket, c.is_json);
	s.keeps_going = c.keeps_going;
	look_color(&s.look, c.color);
	if (c.file)
		status = from_file(&s, c.file);
	else if (optind < argc)
		status = once(&s, argc - optind, argv + optind);
	else if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		status = shell_interactive(&s);
	else
		status = shell_batch(&s, STDIN_FILENO, "stdin");
	shell_done(&s);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "farblock: standard output: write failed\n");
		return status == STATUS_OK ? STATUS_FAILED : (int)status;
	}
	return (int)status;
}
