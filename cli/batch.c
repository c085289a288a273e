// SPDX-License-Identifier: BSD-2-Clause
// Many lines from a file or a pipe. Lines that are available without waiting go to the daemon in
// one request and are saved as one change; otherwise the behaviour is that of single lines.
#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/failure.h"
#include "cli/shell/files.h"
#include "core/frame.h"

enum {
	QUEUE_MAX = 256,	     // limit of the daemon for one request
	QUEUE_BYTES_MAX = 256 << 10, // of lines; well below the daemon's limit
	LINE_BYTES_MAX = 1 << 20,
};

struct queued {
	struct line line;
	struct json_object *params;
	char *text; // its line
	unsigned number;
};

struct batch {
	struct shell *shell;
	const char *name;
	int fd;
	struct frame in;
	struct queued *queue;
	unsigned count, number;
	size_t bytes;	    // of the lines in the queue
	enum status failed; // the last failure, unless is_done()
	bool has_ended;
};

// ---- input ----

// The next complete line, or the rest at the end of input, without its newline. NULL: none.
static char *next_line(struct batch *b, size_t *ret_len)
{
	char *line = frame_next(&b->in, ret_len);
	return line || !b->has_ended ? line : frame_rest(&b->in, ret_len);
}

static bool must_wait(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	return poll(&p, 1, 0) == 0;
}

// Bytes read, 0 at the end, or a negative errno.
static ssize_t fill(struct batch *b)
{
	char *at;
	size_t room;
	int r = frame_room(&b->in, &at, &room);
	if (r < 0)
		return r;
	ssize_t n;
	do
		n = read(b->fd, at, room);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		frame_filled(&b->in, (size_t)n);
	return n < 0 ? -errno : n;
}

// ---- as targetcli ----

// Whether the storage object that the line creates at path exists for its file or device.
static bool has_storage(struct shell *s, const char *path, const struct line *l)
{
	const char *name = line_value(l, "name", 0), *dev = line_value(l, "dev", 1);
	struct json_object *o = NULL;
	struct err ignored;
	if (line_named(l, "file_or_dev"))
		dev = line_named(l, "file_or_dev");
	char *full = name ? path_join(path, name) : NULL;
	bool is_there = full && !shell_call(s, "tree.info", params_at(full), &o, &ignored);
	const char *has = is_there ? text_field(o, "dev") : "";
	is_there = is_there && (!*has || (dev && !strcmp(has, dev)));
	json_object_put(o);
	free(full);
	return is_there;
}

static bool has_created(struct shell *s, const char *path, const struct line *l)
{
	if (!strncmp(path, "/backstores/", strlen("/backstores/")))
		return has_storage(s, path, l);
	// A number may be that of another disk.
	return fnmatch("/*/luns", path, 0) || !line_value(l, "lun", 1);
}

// Whether a line failed because what it asks for is there already: the object that it creates
// exists, on the same device, or the one that it deletes does not. Programs repeat their batches
// after they were interrupted, and targetcli lets them.
static bool is_done(struct shell *s, const struct line *l, enum status status)
{
	struct err ignored;
	char *path = NULL;
	if (!l->command)
		return false;
	if (status == STATUS_NOT_FOUND)
		return !strcmp(l->command, "delete");
	if (status != STATUS_EXISTS || strcmp(l->command, "create") ||
	    shell_path(s->cwd, l->path ? l->path : ".", &path, &ignored) < 0)
		return false;
	bool is_there = has_created(s, path, l);
	free(path);
	return is_there;
}

// ---- the queue ----

// A failed line. l, text: NULL: unknown.
static enum status tell(struct batch *b, unsigned number, const struct line *l, const char *text,
			size_t at, enum status status, const struct err *e)
{
	struct origin o = { .name = b->name, .number = number, .text = text };
	if (status == STATUS_OK)
		return status;
	if (!b->shell->is_targetcli || !l || !is_done(b->shell, l, status))
		b->failed = status;
	return failure_tell(b->shell, &o, l, at, status, e);
}

static enum status tell_queued(struct batch *b, const struct queued *q, int r, const struct err *e)
{
	return tell(b, q->number, &q->line, q->text, 0, status_of(r), e);
}

// Sends the queue from *at on and advances *at past the completed lines.
static enum status send_from(struct batch *b, unsigned *at)
{
	struct json_object *params = json_object_new_object(), *list = json_object_new_array();
	struct json_object *answer;
	struct err e = { 0 };
	for (unsigned i = *at; i < b->count; i++)
		json_object_array_add(list, json_object_get(b->queue[i].params));
	json_object_object_add(params, "commands", list);
	if (b->shell->has_revision)
		json_object_object_add(params, "revision",
				       json_object_new_uint64(b->shell->revision));
	int r = shell_call(b->shell, "tree.batch", params, &answer, &e);
	if (r < 0)
		return tell_queued(b, &b->queue[*at], r, &e);
	shell_saw(b->shell, answer);
	struct json_object *results = json_field(answer, "results"),
			   *error = json_field(answer, "error");
	size_t n = json_count(results);
	for (size_t i = 0; !r && i < n && *at < b->count; i++, *at += !r)
		r = shell_show_answer(b->shell, &b->queue[*at].line,
				      json_object_array_get_idx(results, i), &e);
	if (!r && error) {
		struct err why = { 0 };
		r = client_error(error, &why);
		if (r == -EREMOTE) // the line is sent again
			r = files_send(b->queue[*at].params, &why, &e);
		else
			e = why;
	} else if (!r && !n)
		r = err_set(&e, -EPROTO, "farblockd sent an empty answer");
	json_object_put(answer);
	return r < 0 && *at < b->count ? tell_queued(b, &b->queue[*at], r, &e) : STATUS_OK;
}

static void free_line(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void drop_queue(struct batch *b)
{
	for (unsigned i = 0; i < b->count; i++) {
		line_done(&b->queue[i].line);
		json_object_put(b->queue[i].params);
		free_line(b->queue[i].text);
	}
	b->count = 0;
	b->bytes = 0;
}

// With keeps_going the lines after a failed command are sent separately.
static enum status flush_queue(struct batch *b)
{
	enum status status = STATUS_OK;
	for (unsigned at = 0; at < b->count;) {
		status = send_from(b, &at);
		if (status != STATUS_OK && !b->shell->keeps_going)
			break;
		at += status != STATUS_OK;
	}
	fflush(b->shell->look.out);
	drop_queue(b);
	return b->shell->keeps_going ? STATUS_OK : status;
}

// A line for the shell itself needs the effects of earlier lines.
static enum status run_now(struct batch *b, struct line *l, const char *text)
{
	struct err e = { 0 };
	enum status status = flush_queue(b);
	if (status == STATUS_OK) {
		status = shell_run(b->shell, l, &e);
		status = tell(b, b->number, l, text, 0, status, &e);
	}
	return b->shell->keeps_going ? STATUS_OK : status;
}

static enum status refuse(struct batch *b, const struct line *l, const char *text, size_t at,
			  enum status why, const struct err *e)
{
	enum status status = flush_queue(b);
	if (status == STATUS_OK)
		status = tell(b, b->number, l, text, at, why, e);
	return b->shell->keeps_going ? STATUS_OK : status;
}

// Takes ownership of l's contents.
static enum status take_command(struct batch *b, struct line *l, const char *text)
{
	struct err e = { 0 };
	if (!shell_is_remote(b->shell, l))
		return run_now(b, l, text);
	struct queued *q = &b->queue[b->count];
	*q = (struct queued){ .number = b->number };
	int r = shell_params(b->shell, l, &q->params, &e);
	if (r < 0)
		return refuse(b, l, text, 0, status_of(r), &e);
	q->line = *l;
	q->text = strdup(text);
	*l = (struct line){ 0 };
	b->count++;
	b->bytes += strlen(text);
	return b->count == QUEUE_MAX || b->bytes > QUEUE_BYTES_MAX ? flush_queue(b) : STATUS_OK;
}

static enum status take(struct batch *b, const char *line, size_t len)
{
	char *text = strdup(line); // its commands may read further lines
	struct script s = { 0 };
	struct err e = { 0 };
	size_t at = 0;
	enum status status = STATUS_OK;
	b->number++;
	int r = !text		      ? err_set(&e, -ENOMEM, "out of memory")
		: strlen(text) != len ? err_set(&e, -EINVAL, "NUL byte in input")
				      : script_parse(&s, text, &at, &e);
	if (r < 0)
		status = refuse(b, NULL, text, text && strlen(text) != len ? strlen(text) : at,
				STATUS_USAGE, &e);
	for (unsigned i = 0; !r && i < s.count && status == STATUS_OK && !b->shell->wants_exit; i++)
		status = take_command(b, &s.lines[i], text);
	script_done(&s);
	free_line(text);
	return status;
}

// A read error is reported after the lines that were read.
static enum status end_unread(struct batch *b, int why)
{
	enum status status = flush_queue(b);
	if (status != STATUS_OK)
		return status;
	if (why == -EMSGSIZE)
		fprintf(stderr, "%s:%u: line longer than %d bytes\n", b->name, b->number + 1,
			LINE_BYTES_MAX);
	else
		fprintf(stderr, "%s: cannot read: %s\n", b->name, strerror(-why));
	return why == -EMSGSIZE ? STATUS_USAGE : STATUS_FAILED;
}

// The value for "-": the next line of the batch.
static char *read_value(void *arg)
{
	struct batch *b = arg;
	size_t len;
	char *line;
	while (!(line = next_line(b, &len)) && !b->has_ended)
		b->has_ended = fill(b) <= 0;
	b->number += line != NULL;
	return line ? strdup(line) : NULL;
}

static enum status run_all(struct batch *b)
{
	enum status status = STATUS_OK;
	while (status == STATUS_OK && !b->shell->wants_exit) {
		size_t len;
		char *line = next_line(b, &len);
		if (line) {
			status = take(b, line, len);
			continue;
		}
		// A writer of single lines may wait for the response to the last one.
		if (b->has_ended || must_wait(b->fd))
			status = flush_queue(b);
		if (b->has_ended || status != STATUS_OK)
			break;
		ssize_t n = fill(b);
		if (n < 0)
			return end_unread(b, (int)n);
		b->has_ended = n == 0;
	}
	return status;
}

enum status shell_batch(struct shell *s, int fd, const char *name)
{
	struct batch b = {
		.shell = s,
		.name = name,
		.fd = fd,
		.in = {.max = LINE_BYTES_MAX, .has_secrets = true}
	};
	b.queue = calloc(QUEUE_MAX, sizeof *b.queue);
	if (!b.queue) {
		fprintf(stderr, "%s: out of memory\n", name);
		return STATUS_FAILED;
	}
	s->has_own_stdin = fd == STDIN_FILENO;
	if (s->has_own_stdin) {
		s->next_line = read_value;
		s->next_line_arg = &b;
	}
	enum status status = run_all(&b);
	s->next_line = NULL;
	if (status == STATUS_OK)
		status = b.failed;
	drop_queue(&b);
	frame_done(&b.in);
	free(b.queue);
	return status;
}
