// SPDX-License-Identifier: BSD-2-Clause
// Whether the portals of the tree accept connections from this machine.
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
		doctor_say(d, &(struct finding){ DOCTOR_OK, .object = name },
			   "accepts connections");
		return;
	}
	struct finding f = {
		DOCTOR_FAIL, name, "initiators cannot connect either",
		"check the firewall (nft list ruleset), then journalctl -u farblockd"
	};
	doctor_say(d, &f, "connect: %s", strerror(-r));
}

// Targets share portals; each portal is tried once.
enum { PORTALS_MAX = 64, PORTAL_SIZE = 96 };
struct seen {
	unsigned count;
	char name[PORTALS_MAX][PORTAL_SIZE];
};

static void look(struct doctor *d, void *arg, const char *path, struct json_object *node)
{
	struct seen *s = arg;
	const char *name = doctor_text(node, "name");
	for (unsigned i = 0; i < s->count; i++)
		if (!strcmp(s->name[i], name))
			return;
	if (s->count < PORTALS_MAX)
		snprintf(s->name[s->count++], PORTAL_SIZE, "%.95s", name);
	portal(d, name, doctor_text(node, "summary"));
}

void check_portals(struct doctor *d)
{
	struct seen s = { 0 };
	if (!doctor_each_node(d, "portal", &s, look))
		doctor_say(d, &(struct finding){ DOCTOR_SKIP }, "farblockd does not answer");
}
