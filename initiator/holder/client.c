// SPDX-License-Identifier: BSD-2-Clause
// A request to an attachment's process: a line, and one JSON object until the end of the stream.
// The program's thread; blocks.
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/json/json.h"
#include "initiator/holder/control.h"
#include "initiator/holder/holder.h"

enum { // seconds for an answer
	STATUS_SECONDS = 30,
	DETACH_SECONDS =
		180, // more than serve.c takes for a detach, one by force after one without
};

void holder_answer_add_error(struct json_object *answer, const struct err *e)
{
	json_object_object_add(answer, "error", json_object_new_string(e->text));
	json_object_object_add(answer, "code", json_object_new_int(e->code));
}

int holder_answer_error(struct json_object *answer, struct err *e)
{
	struct json_object *text, *code;
	if (!json_object_object_get_ex(answer, "error", &text))
		return 0;
	int n = json_object_object_get_ex(answer, "code", &code) ? json_object_get_int(code) : 0;
	return err_set(e, n < 0 && n > -4096 ? n : -EIO, "%s", json_object_get_string(text));
}

static int connect_to(const char *path, time_t seconds, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = seconds };
	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, -ENAMETOOLONG, "%s: too long", path);
	memcpy(a.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(e, -errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0) {
		// A full backlog of a process that is stopped; -EAGAIN is an answer to try again.
		int r = err_errno(e, errno == EAGAIN ? -ETIMEDOUT : -errno, "%s", path);
		close(fd);
		return r;
	}
	return fd;
}

static int read_answer(int fd, char *ret, size_t size, struct err *e)
{
	size_t len = 0;
	while (len < size) {
		ssize_t n = recv(fd, ret + len, size - len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno == EAGAIN ? -ETIMEDOUT : -errno, "answer");
		if (!n)
			return (int)len;
		len += (size_t)n;
	}
	return err_set(e, -EMSGSIZE, "answer: longer than %zu bytes", size);
}

bool holder_is_gone(const struct err *e)
{
	return e->code == -ECONNREFUSED || e->code == -ENOENT;
}

struct json_object *holder_ask(const struct holder_files *f, const char *request, struct err *e)
{
	struct json_object *o = NULL;
	bool is_status = !strcmp(request, "status");
	int fd = connect_to(f->socket, is_status ? STATUS_SECONDS : DETACH_SECONDS, e);
	if (fd < 0)
		return NULL;
	char *text = malloc(HOLDER_ANSWER_MAX), line[CONTROL_REQUEST_MAX + 1];
	int n = -1, len = snprintf(line, sizeof line, "%s\n", request);
	if (!text)
		err_set(e, -ENOMEM, "out of memory");
	else if (send(fd, line, (size_t)len, MSG_NOSIGNAL) < 0)
		err_errno(e, errno == EAGAIN ? -ETIMEDOUT : -errno, "%s: request", f->socket);
	else
		n = read_answer(fd, text, HOLDER_ANSWER_MAX, e);
	close(fd);
	if (!n)
		err_set(e, -ECONNRESET, "%s: no answer", f->socket);
	if (n > 0)
		o = json_read(text, (size_t)n, "answer", e);
	free(text);
	return o;
}
