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

#include "initiator/holder/holder.h"

#define BACKLOG 16

static const char *const words[HOLDER_REQUEST_COUNT] = { "status\n", "detach\n", "detach force\n" };

int control_parse(const char *line, unsigned len)
{
	for (int i = 0; i < HOLDER_REQUEST_COUNT; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], line, len))
			return i;
	return -EINVAL;
}

static int listen_at(const char *path, struct err *e)
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

int control_open(struct control *c, const char *path, struct err *e)
{
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
		c->clients[i].fd = -1;
	c->listener = listen_at(path, e);
	return c->listener < 0 ? c->listener : 0;
}

static void drop(struct control_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

void control_close(struct control *c)
{
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
		drop(&c->clients[i]);
	if (c->listener >= 0)
		close(c->listener);
	c->listener = -1;
}

// ---- waiting ----

static bool is_reading(const struct control_client *client)
{
	return client->fd >= 0 && !client->has_request;
}

unsigned control_fds(const struct control *c, struct pollfd fds[CONTROL_FDS_MAX])
{
	unsigned n = 0;
	fds[n++] = (struct pollfd){ .fd = c->listener, .events = POLLIN };
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (is_reading(&c->clients[i]))
			fds[n++] = (struct pollfd){ .fd = c->clients[i].fd, .events = POLLIN };
	return n;
}

int control_timeout(const struct control *c, uint64_t now_ms)
{
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (is_reading(&c->clients[i]) && c->clients[i].until_ms < least)
			least = c->clients[i].until_ms;
	if (least == UINT64_MAX)
		return -1;
	return least > now_ms ? (int)(least - now_ms) : 0;
}

// ---- clients ----

// A free place, or that of the client that has been sending longest; NULL: all wait for an answer.
static struct control_client *place(struct control *c)
{
	struct control_client *oldest = NULL;
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct control_client *client = &c->clients[i];
		if (client->fd < 0)
			return client;
		if (is_reading(client) && (!oldest || client->until_ms < oldest->until_ms))
			oldest = client;
	}
	if (oldest)
		drop(oldest);
	return oldest;
}

static void read_request(struct control_client *client)
{
	ssize_t n = recv(client->fd, client->line + client->len, sizeof client->line - client->len,
			 MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	client->len += n > 0 ? (unsigned)n : 0;
	bool is_whole = n > 0 && client->line[client->len - 1] == '\n';
	int r = is_whole ? control_parse(client->line, client->len) : -EINVAL;
	if (r >= 0) {
		client->request = (enum holder_request)r;
		client->has_request = true;
	} else if (n <= 0 || is_whole || client->len == sizeof client->line) {
		drop(client);
	}
}

// At most as many as there is room for in a round.
static void accept_clients(struct control *c, uint64_t now_ms)
{
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		int room = HOLDER_ANSWER_MAX;
		int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		struct control_client *client = place(c);
		if (!client) {
			close(fd);
			return;
		}
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
		*client = (struct control_client){ .fd = fd,
						   .until_ms = now_ms + CONTROL_REQUEST_MS };
		read_request(client);
	}
}

void control_run(struct control *c, uint64_t now_ms)
{
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct control_client *client = &c->clients[i];
		if (is_reading(client))
			read_request(client);
		if (is_reading(client) && client->until_ms <= now_ms)
			drop(client);
	}
	accept_clients(c, now_ms);
}

struct control_client *control_next(struct control *c)
{
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct control_client *client = &c->clients[i];
		if (client->fd < 0 || !client->has_request || client->is_given)
			continue;
		client->is_given = true;
		return client;
	}
	return NULL;
}

struct control_client *control_waiting(struct control *c, enum holder_request up_to)
{
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct control_client *client = &c->clients[i];
		if (client->fd >= 0 && client->is_given && client->request != HOLDER_STATUS &&
		    client->request <= up_to)
			return client;
	}
	return NULL;
}

// The socket has room for all of it; a client that does not read keeps nobody waiting.
void control_answer(struct control_client *client, struct json_object *answer)
{
	const char *text = json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN);
	size_t len = strlen(text), sent = 0;
	while (sent < len) {
		ssize_t n = send(client->fd, text + sent, len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	drop(client);
}
