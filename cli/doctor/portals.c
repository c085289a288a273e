// SPDX-License-Identifier: BSD-2-Clause
// Whether the portals of the tree accept connections from this machine.
#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"
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

static void note_portal(struct doctor *d, void *list, const char *path, struct json_object *node)
{
	if (!strcasestr(text_field(node, "summary"), "waiting"))
		json_object_object_add(list, text_field(node, "name"),
				       json_object_new_string(text_field(node, "summary")));
}

struct json_object *doctor_portals(struct doctor *d, struct json_object *tree, const char *class)
{
	struct json_object *list = json_object_new_object();
	doctor_each_node(d, tree, class, list, note_portal);
	return list;
}

bool doctor_portal_address(struct tcp_addr *ret, const char *name)
{
	if (tcp_addr_parse(ret, name, 3260, NULL) < 0)
		return false;
	if (tcp_addr_is_wildcard(ret) && ret->sa.sa_family == AF_INET6)
		ret->in6.sin6_addr = in6addr_loopback;
	else if (tcp_addr_is_wildcard(ret))
		ret->in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return true;
}

static void try_portal(struct doctor *d, const char *name)
{
	struct tcp_addr a;
	struct finding f = {
		DOCTOR_FAIL, name, "initiators cannot connect either",
		"check the firewall (nft list ruleset), then journalctl -u farblockd"
	};
	if (!doctor_portal_address(&a, name))
		return;
	int r = reach(&a);
	if (r < 0)
		doctor_say(d, &f, "connect: %s", strerror(-r));
	else
		doctor_ok(d, name, "accepts connections");
}

// Portals of SRP have a socket unless they are for RDMA devices only.
static void note_srp_portal(struct doctor *d, void *list, const char *path,
			    struct json_object *node)
{
	if (strcmp(text_field(node, "summary"), "rdma"))
		note_portal(d, list, path, node);
}

void check_portals(struct doctor *d)
{
	struct json_object *tree = doctor_ask(d, "tree.ls"),
			   *list = doctor_portals(d, tree, "portal");
	doctor_each_node(d, tree, "srpt_portal", list, note_srp_portal);
	if (!tree)
		doctor_skip(d, NULL, "farblockd does not answer");
	json_object_object_foreach(list, name, unused)
	{
		(void)unused;
		try_portal(d, name);
	}
	json_object_put(list);
	json_object_put(tree);
}
