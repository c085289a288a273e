// SPDX-License-Identifier: BSD-2-Clause
// See control.h.
#include "initiator/holder/control.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG	    16
#define REQUEST_MAX 32

static const char *const words[HOLDER_REQUEST_COUNT] = { "status\n", "detach\n", "detach force\n" };

int control_parse(const char *line, unsigned len)
{
	for (int i = 0; i < HOLDER_REQUEST_COUNT; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], line, len))
			return i;
	return -EINVAL;
}

int control_listen(const char *path, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, -ENAMETOOLONG, "%s: too long", path);
	memcpy(a.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_errno(e, -errno, "socket");
	unlink(path);
	mode_t old = umask(0177);
	int r = bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, BACKLOG) ? -errno : 0;
	umask(old);
	if (r) {
		err_errno(e, r, "%s: listen", path);
		close(fd);
	}
	return r ? r : fd;
}

static int read_request(int fd)
{
	char line[REQUEST_MAX];
	unsigned len = 0;
	while (len < sizeof line) {
		ssize_t n = recv(fd, line + len, sizeof line - len, 0);
		if (n <= 0)
			return -EINVAL;
		len += (unsigned)n;
		if (line[len - 1] == '\n')
			return control_parse(line, len);
	}
	return -EINVAL;
}

int control_accept(int listener, enum holder_request *ret)
{
	struct timeval limit = { .tv_sec = 1 };
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	int r = read_request(fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret = (enum holder_request)r;
	return fd;
}

void control_answer(int fd, struct json_object *answer)
{
	const char *text = json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN);
	size_t len = strlen(text), sent = 0;
	while (sent < len) {
		ssize_t n = send(fd, text + sent, len - sent, MSG_NOSIGNAL);
		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	close(fd);
}
