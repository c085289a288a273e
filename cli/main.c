// SPDX-License-Identifier: BSD-2-Clause
// farblock: the shell. One command on the command line, a batch with -c FILE or on stdin, or
// a prompt.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/failure.h"
#include "cli/flags.h"
#include "core/fds.h"

// Joins the words with blanks, for free(); NULL: no memory.
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

// A single word with blanks is a complete line, as at the prompt; it may contain several commands.
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

// What fails before the first command.
static enum status tell_start(struct shell *s, enum status status, const struct err *e)
{
	const struct origin o = { 0 };
	if (s->is_json)
		return failure_tell(s, &o, NULL, SIZE_MAX, status, e);
	fprintf(stderr, "farblock: %s\n", e->text);
	return status;
}

static enum status from_file(struct shell *s, const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		struct err e;
		err_errno(&e, -errno, "%s", name);
		return tell_start(s, status_of(e.code), &e);
	}
	enum status status = shell_batch(s, fd, name);
	close(fd);
	return status;
}

static enum status run(struct shell *s, const struct flags *f, int count, char **words)
{
	if (f->complete)
		return shell_complete(s, f->complete);
	if (f->file)
		return from_file(s, f->file);
	if (count)
		return once(s, count, words);
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return shell_interactive(s);
	return shell_batch(s, STDIN_FILENO, "stdin");
}

// An open transaction is undone with the connection: report it now.
static enum status end_transaction(struct shell *s, enum status status)
{
	const struct origin o = { 0 };
	struct err e = { 0 };
	if (!s->has_transaction || s->client.fd < 0)
		return status;
	err_set(&e, -ECANCELED, "the transaction ended without commit; its changes are undone");
	failure_tell(s, &o, NULL, SIZE_MAX, STATUS_FAILED, &e);
	return status == STATUS_OK && !s->is_interactive ? STATUS_FAILED : status;
}

int main(int argc, char **argv)
{
	struct flags f;
	struct shell s;
	struct err e = { 0 };
	enum status status = STATUS_OK;
	fds_fill_std();
	int first = flags_parse(&f, argc, argv, &e);
	shell_init(&s, f.socket, f.is_json);
	if (first < 0) {
		status = tell_start(&s, STATUS_USAGE, &e);
		shell_done(&s);
		return (int)status;
	}
	s.keeps_going = f.keeps_going;
	s.is_targetcli = f.is_targetcli;
	s.has_revision = f.has_revision;
	s.revision = f.revision;
	s.look.when = f.color;
	if (!f.wants_help && !f.wants_version)
		preferences_load(&s.prefs, !f.complete); // no warnings during completion
	look_choose(&s.look);
	if (f.wants_help)
		flags_help();
	else if (f.wants_version)
		printf("farblock " FARBLOCK_VERSION "\n");
	else
		status = run(&s, &f, argc - first, argv + first);
	status = end_transaction(&s, status);
	shell_done(&s);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "farblock: standard output: write error\n");
		return status == STATUS_OK ? STATUS_FAILED : (int)status;
	}
	return (int)status;
}
