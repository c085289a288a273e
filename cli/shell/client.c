// SPDX-License-Identifier: BSD-2-Clause
// One JSON-RPC request and its response, one line each.
#include "cli/shell/client.h"

#include <errno.h>
#include <json-c/arraylist.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/shell/interrupt.h"
#include "cli/shell/control_characters.h"
#include "core/json/json.h"

static void client_reset(struct client *c)
{
	*c = (struct client){
		.fd = -1, .timeout_ms = c->timeout_ms, .is_exact = c->is_exact, .in.max = ANSWER_MAX
	};
}

int client_open(struct client *c, const char *path, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	client_reset(c);
	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, -EINVAL, "%.80s...: socket path too long", path);
	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return err_errno(e, -errno, "socket");
	if (!connect(c->fd, (struct sockaddr *)&a, sizeof a))
		return 0;
	int r = -errno;
	client_close(c);
	if (r == -EACCES || r == -EPERM)
		return err_set(e, -EACCES, "%s: permission denied (try as root)", path);
	return err_set(e, -ECONNREFUSED,
		       "%s: cannot connect to farblockd (start it, or use --socket)", path);
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	frame_done(&c->in);
	client_reset(c);
}

static int gone(struct client *c, struct err *e)
{
	client_close(c);
	return err_set(e, -ENOTCONN, "farblockd closed the connection");
}

static int send_all(struct client *c, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(c->fd, text, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -ENOTCONN;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

void client_check(struct client *c)
{
	char byte;
	if (c->fd >= 0 && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
		client_close(c);
}

// A late response would be mistaken for that of the next request.
static int wait_for(struct client *c, struct err *e)
{
	bool is_resized = false;
	int r;
	while ((r = interrupt_wait(c->fd, c->timeout_ms ? c->timeout_ms : -1)) == -ERESTART)
		is_resized = true;
	if (is_resized)
		interrupt_again(-ERESTART); // for the prompt
	if (r > 0)
		return 0;
	client_close(c);
	if (!r)
		return err_set(e, -ETIMEDOUT, "farblockd did not answer in time");
	return err_set(e, -EINTR, "interrupted; farblockd may still complete the command");
}

static int no_answer(struct client *c, const char *why, struct err *e)
{
	client_close(c);
	return err_set(e, -EPROTO, "farblockd's answer %s (check that farblockd owns the socket)",
		       why);
}

// One line; valid until the next one.
static int read_line(struct client *c, char **ret, struct err *e)
{
	size_t len, room;
	while (!(*ret = frame_next(&c->in, &len))) {
		char *at;
		int r = frame_room(&c->in, &at, &room);
		if (r == -EMSGSIZE)
			return no_answer(c, "is too long", e);
		if (r < 0)
			return err_set(e, r, "out of memory");
		r = wait_for(c, e);
		if (r < 0)
			return r;
		ssize_t n = recv(c->fd, at, room, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gone(c, e);
		frame_filled(&c->in, (size_t)n);
	}
	return 0;
}

static void keep_file(struct json_object *tamed, struct json_object *exact)
{
	struct json_object *file = json_field(exact, "file");
	if (json_object_is_type(tamed, json_type_object) && file)
		json_object_object_add(tamed, "file", json_object_get(file));
}

// An answer, or one of a batch, for a terminal; the content of files for the user is exact.
static struct json_object *tamed_answer(char *text)
{
	struct json_object *exact = strstr(text, "\"file\":") ? json_tokener_parse(text) : NULL;
	control_mask_json(text);
	struct json_object *answer = json_tokener_parse(text);
	struct json_object *to = json_field(answer, "result"), *from = json_field(exact, "result");
	keep_file(to, from);
	to = json_field(to, "results");
	from = json_field(from, "results");
	for (size_t i = 0; i < json_count(from) && i < json_count(to); i++)
		keep_file(json_object_array_get_idx(to, i), json_object_array_get_idx(from, i));
	json_object_put(exact);
	return answer;
}

static int receive(struct client *c, struct json_object **ret, struct err *e)
{
	char *line;
	int r = read_line(c, &line, e);
	if (r < 0)
		return r;
	*ret = c->is_exact ? json_tokener_parse(line) : tamed_answer(line);
	return *ret ? 0 : no_answer(c, "is not JSON", e);
}

// Converts the errno's name to its number; every failure has one.
static int code_of(struct json_object *error)
{
	const char *name = text_field(json_field(error, "data"), "errno");
	for (int i = 1; *name && i < 134; i++) {
		const char *known = strerrorname_np(i);
		if (known && !strcmp(known, name))
			return -i;
	}
	return -EIO;
}

static enum err_part part_of(const char *word)
{
	static const char *const parts[] = { "", "path", "command", "positional", "named" };
	for (unsigned i = 1; i < sizeof parts / sizeof *parts; i++)
		if (!strcmp(parts[i], word))
			return (enum err_part)i;
	return ERR_PART_NONE;
}

int client_error(struct json_object *error, struct err *e)
{
	struct json_object *data = json_field(error, "data");
	err_set(e, code_of(error), "%s", text_field(error, "message"));
	if (!e)
		return code_of(error);
	snprintf(e->wants, sizeof e->wants, "%s", text_field(data, "wants"));
	return err_at(e, part_of(text_field(data, "part")),
		      (unsigned)json_object_get_int(json_field(data, "index")),
		      text_field(data, "name"));
}

static int take_result(struct client *c, struct json_object *answer, struct json_object **ret,
		       struct err *e)
{
	struct json_object *error = json_field(answer, "error"), *id = json_field(answer, "id"),
			   *result;
	bool is_ours = json_object_is_type(id, json_type_int) &&
		       json_object_get_int64(id) == (int64_t)c->next_id;
	bool has_result = json_object_is_type(answer, json_type_object) &&
			  json_object_object_get_ex(answer, "result", &result);
	if (error && !id) { // without a request: the daemon ends the connection
		client_close(c);
		return client_error(error, e);
	}
	if (!is_ours || (!error && !has_result))
		return no_answer(c, "does not match the request", e);
	if (error)
		return client_error(error, e);
	*ret = json_object_get(result);
	return 0;
}

// A failed send is no error: the daemon may have sent the reason.
static int send_request(struct client *c, const char *method, struct json_object *params,
			struct err *e)
{
	struct json_object *request = text_object("jsonrpc", "2.0", NULL);
	json_object_object_add(request, "id", json_object_new_int64(++c->next_id));
	json_put_text(request, "method", method);
	if (params)
		json_object_object_add(request, "params", params);
	const char *text = json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN);
	size_t len = strlen(text);
	int r = 0;
	if (len > FRAME_REQUEST_MAX)
		r = err_set(e, -E2BIG, "request of %zu MiB: farblockd accepts at most %d MiB",
			    len >> 20, FRAME_REQUEST_MAX >> 20);
	else if (!send_all(c, text, len))
		send_all(c, "\n", 1);
	json_object_put(request);
	return r;
}

int client_text(struct client *c, const char *method, struct json_object *params, char **ret,
		struct err *e)
{
	char *line;
	*ret = NULL;
	int r = send_request(c, method, params, e);
	if (!r)
		r = read_line(c, &line, e);
	if (r < 0)
		return r;
	*ret = strdup(line);
	if (!*ret)
		return err_set(e, -ENOMEM, "out of memory");
	control_mask_json(*ret);
	return 0;
}

int client_refusal(struct client *c, const char *text, struct err *e)
{
	struct json_object *answer = json_tokener_parse(text), *unused = NULL;
	int r = answer ? take_result(c, answer, &unused, e) : no_answer(c, "is not JSON", e);
	json_object_put(unused);
	json_object_put(answer);
	return r;
}

int client_call(struct client *c, const char *method, struct json_object *params,
		struct json_object **ret, struct err *e)
{
	struct json_object *answer;
	int r = send_request(c, method, params, e);
	if (!r)
		r = receive(c, &answer, e);
	if (r < 0)
		return r;
	r = take_result(c, answer, ret, e);
	json_object_put(answer);
	return r;
}

enum status status_of(int code)
{
	static const struct {
		int code;
		enum status status;
	} rows[] = {
		{-EBADRQC,	    STATUS_USAGE	 },
		     { -ENOSYS,	STATUS_USAGE     },
		{ -ENOENT,	   STATUS_NOT_FOUND },
		     { -ENOTDIR,	 STATUS_NOT_FOUND },
		{ -ENODEV,	   STATUS_NOT_FOUND },
		     { -ENXIO,	       STATUS_NOT_FOUND },
		{ -EEXIST,	   STATUS_EXISTS	 },
		     { -EBUSY,	       STATUS_IN_USE    },
		{ -ESTALE,	   STATUS_CHANGED	  },
		     { -EADDRINUSE,   STATUS_IN_USE	  },
		{ -EPERM,	  STATUS_PERMISSION},
		     { -EACCES,	STATUS_PERMISSION},
		{ -ECONNREFUSED, STATUS_NO_DAEMON },
		     { -ENOTCONN,	  STATUS_NO_DAEMON },
		{ -EINVAL,	   STATUS_INVALID	  },
		     { -ERANGE,	STATUS_INVALID   },
		{ -ENAMETOOLONG, STATUS_INVALID	},
		     { -ENOTBLK,	 STATUS_INVALID	},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].code == code)
			return rows[i].status;
	return code ? STATUS_FAILED : STATUS_OK;
}

struct json_object *text_object(const char *key, ...)
{
	struct json_object *o = json_object_new_object();
	va_list ap;
	va_start(ap, key);
	for (; key; key = va_arg(ap, const char *))
		json_put_text(o, key, va_arg(ap, const char *));
	va_end(ap);
	return o;
}

const char *text_field(struct json_object *o, const char *key)
{
	struct json_object *v = json_field(o, key);
	return v ? json_object_get_string(v) : "";
}

bool flag_field(struct json_object *o, const char *key)
{
	return json_object_get_boolean(json_field(o, key));
}

int64_t number_field(struct json_object *o, const char *key)
{
	return json_object_get_int64(json_field(o, key));
}
