// SPDX-License-Identifier: BSD-2-Clause
// HTTP requests and responses, see http.h. Everything except http_new() and http_free() runs on the
// HTTP thread: our own loop runs libmicrohttpd and closes slow connections.
#include "target/metrics/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/list.h"
#include "core/log.h"
#include "core/worker.h"
#include "target/metrics/page.h"
#include "target/metrics/text.h"
#include "target/metrics/server.h"
#include "transport/tcp/addr.h"

enum {
	IDLE_ROUNDS = 3,
	// libmicrohttpd stops accepting at this number. Those beyond SERVER_CLIENTS are being
	// closed.
	SOCKETS_MAX = 2 * SERVER_CLIENTS,
	CROWDED_MS = 20, // poll interval while libmicrohttpd may have stopped listening
};

struct http {
	int fd, stop_fd;
	bool is_local, has_thread;
	http_ask ask;
	void *arg;
	struct MHD_Daemon *mhd;
	pthread_t thread;
	struct list peers;
	unsigned peer_count; // without those that were shut down
	char policy[PAGE_POLICY_MAX];
};

// One connection.
struct peer {
	struct list link;
	int fd;
	uint64_t since_ns; // connected, or last response sent
	bool is_shut;
};

#define OPENMETRICS "application/openmetrics-text"
#define PLAIN	    "text/plain; version=0.0.4; charset=utf-8"

static const struct {
	const char *path, *type;
} paths[HTTP_PATHS] = {
	[HTTP_PAGE] = {"/",	     "text/html; charset=utf-8"			},
	[HTTP_STATUS] = { "/status.json", "application/json"			     },
	[HTTP_METRICS] = { "/metrics",     OPENMETRICS "; version=1.0.0; charset=utf-8"},
};

// ---- responses ----

static enum MHD_Result send_answer(struct http *h, struct MHD_Connection *c, unsigned status,
				   struct MHD_Response *r, const char *type)
{
	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, "Content-Security-Policy", h->policy);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_GET);
	if (status != MHD_HTTP_OK)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	enum MHD_Result ret = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *c, unsigned status,
			      const char *why)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(why), (void *)why, MHD_RESPMEM_PERSISTENT);
	return send_answer(h, c, status, r, "text/plain; charset=utf-8");
}

// Content negotiation as in Prometheus client libraries: OpenMetrics if the client accepts it.
static const char *choose_format(struct MHD_Connection *c, struct http_answer *a)
{
	const char *accept =
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	if (accept && strcasestr(accept, OPENMETRICS))
		return paths[HTTP_METRICS].type;
	char *plain = metrics_plain(a->text, &a->len);
	free(a->text);
	a->text = plain;
	return PLAIN;
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *c, enum http_path path)
{
	if (path == HTTP_PAGE) {
		size_t len;
		const char *page = page_text(&len);
		return send_answer(
			h, c, MHD_HTTP_OK,
			MHD_create_response_from_buffer(len, (void *)page, MHD_RESPMEM_PERSISTENT),
			paths[path].type);
	}
	struct http_answer a = h->ask(h->arg, path);
	const char *type = paths[path].type;
	if (a.text && path == HTTP_METRICS)
		type = choose_format(c, &a);
	if (!a.text)
		return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "farblockd is busy or shutting down: try again\n");
	struct MHD_Response *r =
		MHD_create_response_from_buffer(a.len, a.text, MHD_RESPMEM_MUST_FREE);
	if (!r)
		free(a.text);
	return send_answer(h, c, MHD_HTTP_OK, r, type);
}

// ---- requests ----

// "localhost", or a literal address, with or without a port; none at all is HTTP/1.0.
static bool is_local_host(const char *host)
{
	struct tcp_addr a;
	if (!host || tcp_addr_parse(&a, host, 80, NULL) == 0)
		return true;
	size_t len = strcspn(host, ":");
	return len == 9 && !strncasecmp(host, "localhost", len);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_size, void **request)
{
	struct http *h = arg;
	static int seen;
	if (strcmp(method, MHD_HTTP_METHOD_GET))
		return refuse(h, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is supported\n");
	if (MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
	    MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH))
		return refuse(h, c, MHD_HTTP_BAD_REQUEST, "a GET request must not have a body\n");
	if (!*request) { // only the headers; the response is sent in the next call
		*request = &seen;
		return MHD_YES;
	}
	if (h->is_local &&
	    !is_local_host(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
		return refuse(h, c, MHD_HTTP_FORBIDDEN, "Host header does not name this machine\n");
	for (int i = 0; i < HTTP_PATHS; i++)
		if (!strcmp(url, paths[i].path))
			return answer(h, c, (enum http_path)i);
	return refuse(h, c, MHD_HTTP_NOT_FOUND, "not found: try /, /status.json or /metrics\n");
}

// Leaves the path undecoded, so that "/%00" matches nothing.
static size_t as_it_is(void *arg, struct MHD_Connection *c, char *text)
{
	return strlen(text);
}

// ---- slow clients ----

static void shut(struct http *h, struct peer *p)
{
	if (p->is_shut)
		return;
	shutdown(p->fd, SHUT_RDWR);
	p->is_shut = true;
	h->peer_count--;
}

// Responses are immediate, so the oldest connection has not sent its request or does not read its
// response.
static void make_room(struct http *h)
{
	struct peer *oldest = NULL;
	list_for_each (it, &h->peers) {
		struct peer *p = list_entry(it, struct peer, link);
		if (!p->is_shut && (!oldest || p->since_ns < oldest->since_ns))
			oldest = p;
	}
	if (oldest)
		shut(h, oldest);
}

static void on_peer(void *arg, struct MHD_Connection *c, void **context,
		    enum MHD_ConnectionNotificationCode code)
{
	struct http *h = arg;
	struct peer *p = *context;
	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (p) {
			h->peer_count -= !p->is_shut;
			list_remove(&p->link);
		}
		free(p);
		*context = NULL;
		return;
	}
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	p = calloc(1, sizeof *p);
	*context = p;
	if (!p) {
		shutdown(i->connect_fd, SHUT_RDWR); // it would not be served
		return;
	}
	p->fd = i->connect_fd;
	p->since_ns = clock_ns();
	if (h->peer_count == SERVER_CLIENTS)
		make_room(h);
	list_push_back(&h->peers, &p->link);
	h->peer_count++;
}

static void on_answered(void *arg, struct MHD_Connection *c, void **request,
			enum MHD_RequestTerminationCode code)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct peer *p = i ? i->socket_context : NULL;
	if (p)
		p->since_ns = clock_ns();
}

// Also closes a peer that sends single bytes, which reset libmicrohttpd's own timeout.
static void end_slow(struct http *h)
{
	uint64_t now = clock_ns();
	list_for_each_safe (it, &h->peers) {
		struct peer *p = list_entry(it, struct peer, link);
		if (now - p->since_ns > SERVER_REQUEST_S * UINT64_C(1000000000))
			shut(h, p);
	}
}

// ---- the thread ----

__attribute__((format(printf, 2, 0))) static void on_log(void *arg, const char *fmt, va_list ap)
{
	char text[200];
	if (log_threshold < LOG_LVL_DEBUG)
		return;
	vsnprintf(text, sizeof text, fmt, ap);
	text[strcspn(text, "\n")] = 0;
	log_debug("metrics: %s", text);
}

static void *serve(void *arg)
{
	struct http *h = arg;
	struct pollfd fds[] = {
		{.fd = MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		  .events = POLLIN },
		{ .fd = h->stop_fd,				    .events = POLLIN						     },
	};
	pthread_setname_np(pthread_self(), "metrics");
	for (unsigned idle = 0; !fds[1].revents;) {
		// After the last of many connections libmicrohttpd needs a round to listen again;
		// without connections nothing would wake it.
		MHD_UNSIGNED_LONG_LONG wait = 1000, sooner;
		idle = list_empty(&h->peers) ? idle + 1 : 0;
		if (MHD_get_timeout(h->mhd, &sooner) == MHD_YES && sooner < wait)
			wait = sooner;
		if (h->peer_count == SERVER_CLIENTS && wait > CROWDED_MS)
			wait = CROWDED_MS;
		poll(fds, 2, idle > IDLE_ROUNDS ? -1 : (int)wait);
		MHD_run(h->mhd);
		end_slow(h);
	}
	return NULL;
}

static int start(struct http *h, struct err *e)
{
	h->stop_fd = eventfd(0, EFD_CLOEXEC);
	h->mhd = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, h,
				  MHD_OPTION_LISTEN_SOCKET, h->fd, MHD_OPTION_CONNECTION_LIMIT,
				  (unsigned)SOCKETS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				  (size_t)SERVER_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
				  (unsigned)SERVER_REQUEST_S, MHD_OPTION_NOTIFY_CONNECTION, on_peer,
				  h, MHD_OPTION_NOTIFY_COMPLETED, on_answered, h,
				  MHD_OPTION_UNESCAPE_CALLBACK, as_it_is, NULL,
				  MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_END);
	if (!h->mhd || h->stop_fd < 0)
		return err_set(e, -EAGAIN, "metrics: cannot start libmicrohttpd");
	int r = pthread_create(&h->thread, NULL, serve, h);
	if (r)
		return err_errno(e, -r, "metrics: create thread");
	h->has_thread = true;
	return 0;
}

int http_new(struct http **ret, int fd, bool is_local, http_ask ask, void *arg, struct err *e)
{
	struct http *h = calloc(1, sizeof *h);
	if (!h) {
		close(fd);
		return err_set(e, -ENOMEM, "metrics: out of memory");
	}
	*h = (struct http){ .fd = fd, .stop_fd = -1, .is_local = is_local, .ask = ask, .arg = arg };
	list_init(&h->peers);
	page_policy(h->policy);
	int r = start(h, e);
	if (r < 0)
		http_free(h);
	else
		*ret = h;
	return r;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	uint64_t one = 1;
	if (h->has_thread && write(h->stop_fd, &one, sizeof one) == sizeof one)
		pthread_join(h->thread, NULL);
	if (h->mhd)
		MHD_stop_daemon(h->mhd); // closes the listening socket, too
	else
		close(h->fd);
	if (h->stop_fd >= 0)
		close(h->stop_fd);
	free(h);
}
