// SPDX-License-Identifier: BSD-2-Clause
#include "cli/shell/secret.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/shell/command.h"
#include "cli/shell/interrupt.h"
#include "cli/shell/schema.h"
#include "core/utf8.h"

enum { SECRET_BYTES = 1024 };

// Reads single bytes: data after the line is not ours. Returns its length, or a negative errno.
static ssize_t read_line(char out[SECRET_BYTES])
{
	for (size_t n = 0; n < SECRET_BYTES; n++) {
		int ready;
		do
			ready = interrupt_wait_key(STDIN_FILENO, -1);
		while (ready == -ERESTART);
		if (ready < 0)
			return ready;
		ssize_t got = read(STDIN_FILENO, out + n, 1);
		if (got < 0)
			return -errno;
		if (!got && !n)
			return -ENODATA;
		if (!got || out[n] == '\n') {
			out[n] = 0;
			return (ssize_t)n;
		}
	}
	return -EMSGSIZE;
}

static struct termios before; // for a signal that ends the program

static void restore_and_end(int number)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	signal(number, SIG_DFL);
	raise(number);
}

// With the echo off; always restores it.
static ssize_t read_hidden(const char *name, char out[SECRET_BYTES])
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction a = { .sa_handler = restore_and_end }, old[4];
	struct termios quiet;
	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return -errno;
	for (int i = 0; i < 4; i++) {
		sigaction(ends[i], NULL, &old[i]);
		if (old[i].sa_handler == SIG_DFL)
			sigaction(ends[i], &a, NULL);
	}
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK);
	quiet.c_lflag |= ECHONL | ICANON | ISIG;
	quiet.c_cc[VSUSP] = _POSIX_VDISABLE; // restores the echo for other programs
	tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet);
	fprintf(stderr, "%s: ", name);
	ssize_t n = read_line(out);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	for (int i = 0; i < 4; i++)
		sigaction(ends[i], &old[i], NULL);
	if (n == -EINTR)
		fputc('\n', stderr);
	return n;
}

static ssize_t read_secret(struct shell *s, const char *name, char out[SECRET_BYTES])
{
	char *line = s->next_line ? s->next_line(s->next_line_arg) : NULL;
	if (!line && s->has_own_stdin)
		return -ENODATA;
	if (!line && isatty(STDIN_FILENO))
		return read_hidden(name, out);
	if (!line)
		return read_line(out);
	size_t n = strlen(line);
	if (n < SECRET_BYTES)
		memcpy(out, line, n + 1);
	explicit_bzero(line, n);
	free(line);
	return n < SECRET_BYTES ? (ssize_t)n : -EMSGSIZE;
}

static int ask(struct shell *s, struct line_value *v, struct err *e)
{
	char text[SECRET_BYTES] = "";
	ssize_t n = read_secret(s, v->name, text);
	bool is_text = n <= 0 || utf8_is_fine(text);
	char *copy = n > 0 && is_text ? strdup(text) : NULL;
	explicit_bzero(text, sizeof text);
	if (copy) {
		free(v->text);
		v->text = copy;
		return 0;
	}
	if (!is_text)
		return err_set(e, -EINVAL, "%s: not UTF-8 (check the terminal's locale)", v->name);
	if (!n || n == -ENODATA)
		return err_set(e, -EINVAL, "%s: empty", v->name);
	if (n == -EMSGSIZE)
		return err_set(e, -EINVAL, "%s: is longer than %d bytes", v->name,
			       SECRET_BYTES - 1);
	if (n == -EINTR)
		return err_set(e, -EINTR, "%s: interrupted; nothing changed", v->name);
	return n > 0 ? err_set(e, -ENOMEM, "out of memory") : err_errno(e, (int)n, "%s", v->name);
}

int secrets_ask(struct shell *s, struct line *l, struct err *e)
{
	int r = 0;
	for (unsigned i = 0; !r && i < l->count; i++) {
		struct line_value *v = &l->values[i];
		if (!v->name || strcmp(v->text, "-"))
			continue;
		r = shell_schema(s, e);
		if (!r && schema_is_secret(s->schema, v->name))
			r = ask(s, v, e);
	}
	return r;
}
