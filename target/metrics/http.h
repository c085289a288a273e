// SPDX-License-Identifier: BSD-2-Clause
// The HTTP side: a thread that runs libmicrohttpd over one listening socket. For server.c only.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

struct http;

// A response: text to be freed with free(); NULL: 503.
struct http_answer {
	char *text;
	size_t len;
};
// Produces the response for a path. Called on the HTTP thread; may block for SERVER_ANSWER_S.
// HTTP_METRICS is NUL-terminated OpenMetrics text, converted to the format that the client
// accepts.
enum http_path { HTTP_PAGE, HTTP_STATUS, HTTP_METRICS, HTTP_PATHS };
typedef struct http_answer (*http_ask)(void *arg, enum http_path path);

// Takes ownership of fd, a listening socket. is_local: it is bound to a loopback address. -EAGAIN,
// -ENOMEM.
int http_new(struct http **ret, int fd, bool is_local, http_ask ask, void *arg, struct err *e);
// Ends the thread, which must not be blocked in ask. Blocks. NULL is fine.
void http_free(struct http *h);
