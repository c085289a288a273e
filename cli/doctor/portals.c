// SPDX-License-Identifier: BSD-2-Clause
// Whether the portals of the tree can be reached from here.
#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "transport/tcp/addr.h"

enum { PATIENCE_MS = 2000 };

// 0 or a negative errno.
static int reach(const struct tcp_addr *a)
{
	int error = 0, fd = socket(a->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	socklen_t len = sizeof error;
	int r = connect(fd, &a->sa, tcp_addr_len(a)) < 0 ? -errno : 0;
	if (r == -EINPROGRESS) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		r = poll(&p, 1, PATIENCE_MS) == 1 ? 0 : -ETIMEDOUT;
		if (!r && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len))
			r = -error;
	}
	close(fd);
	return r;
}

static void portal(struct doctor *d, const char *name, const char *summary)
{
	struct tcp_addr a;
	if (strcasestr(summary, "waiting") || tcp_addr_parse(&a, name, 3260, NULL) < 0)
		return;
	if (tcp_addr_is_wildcard(&a)) {
		if (a.sa.sa_family == AF_INET6)
			a.in6.sin6_addr = in6addr_loopback;
		else
			a.in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	int r = reach(&a);
	if (!r) {
		doctor_say(d, &(struct finding){ DOCTOR_OK, .object = name }, "takes connections");
		return;
	}
	struct finding f = {
		DOCTOR_FAIL, name, "initiators get no answer either",
		"look for a firewall: nft list ruleset; then journalctl -u farblockd"
	};
	doctor_say(d, &f, "connect: %s", strerror(-r));
}

static const char *text(struct json_object *o, const char *key)
{
	struct json_object *v;
	const char *s = json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : NULL;
	return s ? s : "";
}

static void walk(struct doctor *d, struct json_object *node)
{
	struct json_object *children;
	if (!strcmp(text(node, "class"), "portal"))
		portal(d, text(node, "name"), text(node, "summary"));
	size_t n_children = doctor_children(node, &children);
	for (size_t i = 0; i < n_children; i++)
		walk(d, json_object_array_get_idx(children, i));
}

void check_portals(struct doctor *d)
{
	struct json_object *tree = NULL;
	struct err e = { 0 };
	if (!d->ask || d->ask(d->ask_arg, "tree.ls", NULL, &tree, &e) < 0) {
		doctor_say(d, &(struct finding){ DOCTOR_SKIP }, "farblockd does not answer");
		return;
	}
	walk(d, tree);
	json_object_put(tree);
}
