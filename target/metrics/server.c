// SPDX-License-Identifier: BSD-2-Clause
// Connects the HTTP thread with the control thread, see server.h: one request at a time is posted
// as a message, and its result comes back under a mutex.
#include "target/metrics/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "target/metrics/history.h"
#include "target/metrics/http.h"
#include "target/metrics/metrics.h"
#include "target/metrics/status_json.h"
#include "transport/tcp/addr.h"

struct metrics_server {
	struct worker *control;
	struct tcp_addr addr;
	struct timer retry;
	bool has_warned; // that the address is not available
	struct http *http;
	struct history history;
	uint64_t started_ns;

	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct config *config; // NULL: shutting down
	struct msg ask;
	bool is_asked; // ask is posted, without a result yet
	enum http_path path;
	struct http_answer status; // result of the control thread, taken by the HTTP thread
	struct snapshot *snapshot; // the same for /metrics

	struct {
		struct http_answer answer;
		uint64_t at_ns;
	} fresh[HTTP_PATHS]; // HTTP thread
};

// ---- control thread ----

static void ask_run(struct msg *m)
{
	struct metrics_server *s = container_of(m, struct metrics_server, ask);
	struct http_answer status = { 0 };
	struct snapshot *snapshot = NULL;
	if (s->config && s->path == HTTP_METRICS)
		snapshot = snapshot_take(s->config);
	else if (s->config)
		status.text = status_json(s->config, &s->history, s->started_ns, &status.len);
	pthread_mutex_lock(&s->lock);
	free(s->status.text);
	snapshot_free(s->snapshot);
	s->status = status;
	s->snapshot = snapshot;
	s->is_asked = false;
	pthread_cond_broadcast(&s->answered);
	pthread_mutex_unlock(&s->lock);
}

// ---- HTTP thread ----

static bool wait_for_answer(struct metrics_server *s)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += SERVER_ANSWER_S;
	int r = 0;
	while (s->is_asked && s->config && !r)
		r = pthread_cond_timedwait(&s->answered, &s->lock, &until);
	return !s->is_asked && s->config;
}

// Waits first for the result of a request that timed out, and drops it.
static struct http_answer ask_control(struct metrics_server *s, enum http_path path)
{
	struct http_answer a = { 0 };
	struct snapshot *snapshot = NULL;
	pthread_mutex_lock(&s->lock);
	if (wait_for_answer(s)) {
		s->path = path;
		s->is_asked = true;
		s->ask.fn = ask_run;
		worker_post(s->control, &s->ask);
	}
	if (wait_for_answer(s)) {
		a = s->status;
		snapshot = s->snapshot;
		s->status = (struct http_answer){ 0 };
		s->snapshot = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	if (snapshot)
		a.text = metrics_text(snapshot, &a.len);
	snapshot_free(snapshot);
	return a;
}

static struct http_answer copy_of(const struct http_answer *a)
{
	struct http_answer copy = { .text = a->text ? malloc(a->len + 1) : NULL, .len = a->len };
	if (copy.text)
		memcpy(copy.text, a->text, a->len);
	if (copy.text)
		copy.text[a->len] = 0;
	return copy;
}

static struct http_answer ask(void *arg, enum http_path path)
{
	struct metrics_server *s = arg;
	uint64_t now = clock_ns();
	if (!s->fresh[path].answer.text ||
	    now - s->fresh[path].at_ns > SERVER_FRESH_MS * UINT64_C(1000000)) {
		free(s->fresh[path].answer.text);
		s->fresh[path].answer = ask_control(s, path);
		s->fresh[path].at_ns = clock_ns();
	}
	return copy_of(&s->fresh[path].answer);
}

// ---- life ----

// The listening socket, or a negative errno.
static int listen_at(const struct tcp_addr *addr)
{
	int one = 1, family = addr->sa.sa_family;
	socklen_t len = family == AF_INET6 ? sizeof addr->in6 : sizeof addr->in4;
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	if (!bind(fd, &addr->sa, len) && !listen(fd, SERVER_BACKLOG))
		return fd;
	int r = -errno;
	close(fd);
	return r;
}

static int begin(struct metrics_server *s, struct err *e)
{
	char text[TCP_ADDR_TEXT];
	int fd = listen_at(&s->addr);
	tcp_addr_format(&s->addr, text);
	if (fd >= 0) {
		int r = http_new(&s->http, fd, tcp_addr_is_loopback(&s->addr), ask, s, e);
		if (!r)
			log_info("metrics: http://%s/", text);
		return r;
	}
	if (!s->has_warned)
		log_warn("metrics: %s: %s (retrying; use --metrics ADDR:PORT for another address, "
			 "--metrics " SERVER_OFF " for none)",
			 text, strerror(-fd));
	s->has_warned = true;
	timer_arm(s->control, &s->retry, SERVER_RETRY_S * UINT64_C(1000000));
	return 0;
}

static void on_retry(struct timer *t)
{
	struct err e;
	struct metrics_server *s = container_of(t, struct metrics_server, retry);
	if (begin(s, &e) < 0)
		log_warn("%s", e.text);
}

static void locks_init(struct metrics_server *s)
{
	pthread_condattr_t monotonic;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

// SERVER_OFF is AF_UNSPEC.
static int read_address(struct tcp_addr *ret, const char *address, struct err *e)
{
	*ret = (struct tcp_addr){ 0 };
	if (!strcmp(address, SERVER_OFF))
		return 0;
	int r = tcp_addr_parse(ret, address, 0, e);
	if (!r && !tcp_addr_port(ret))
		r = err_set(e, -EINVAL, "no port in '%.60s' (give ADDR:PORT, or %s)", address,
			    SERVER_OFF);
	if (r < 0)
		err_prefix(e, "--metrics");
	return r;
}

int metrics_server_check(const char *address, struct err *e)
{
	struct tcp_addr ignored;
	return read_address(&ignored, address, e);
}

int metrics_server_new(struct metrics_server **ret, const char *address, struct worker *control,
		       struct config *config, struct err *e)
{
	struct tcp_addr addr;
	*ret = NULL;
	int r = read_address(&addr, address, e);
	if (r < 0 || !addr.sa.sa_family)
		return r;
	struct metrics_server *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(e, -ENOMEM, "metrics: out of memory");
	s->control = control;
	s->config = config;
	s->addr = addr;
	s->started_ns = clock_ns();
	timer_init(&s->retry, on_retry);
	locks_init(s);
	history_init(&s->history, control, config);
	r = begin(s, e);
	if (r < 0)
		metrics_server_free(s);
	else
		*ret = s;
	return r;
}

void metrics_server_ending(struct metrics_server *s)
{
	if (!s)
		return;
	timer_cancel(s->control, &s->retry);
	history_done(&s->history);
	pthread_mutex_lock(&s->lock);
	s->config = NULL;
	pthread_cond_broadcast(&s->answered);
	pthread_mutex_unlock(&s->lock);
}

void metrics_server_free(struct metrics_server *s)
{
	if (!s)
		return;
	metrics_server_ending(s);
	http_free(s->http);
	for (int i = 0; i < HTTP_PATHS; i++)
		free(s->fresh[i].answer.text);
	free(s->status.text);
	snapshot_free(s->snapshot);
	pthread_cond_destroy(&s->answered);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
