// SPDX-License-Identifier: BSD-2-Clause
// export: the portal that initiators connect to.
#include <errno.h>
#include <ifaddrs.h>
#include <json-c/json.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"

#define END (const char *)NULL

// Whether other machines can use an address of this machine.
static bool is_usable(const struct ifaddrs *i, int family)
{
	if (!i->ifa_addr || i->ifa_addr->sa_family != family || !(i->ifa_flags & IFF_UP) ||
	    i->ifa_flags & IFF_LOOPBACK)
		return false;
	const struct sockaddr_in6 *a = (const void *)i->ifa_addr;
	return family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&a->sin6_addr);
}

// An address of this machine to print, for a portal that listens on all addresses.
static bool own_address(int family, char *ret, size_t size)
{
	socklen_t len =
		family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	struct ifaddrs *list = NULL;
	bool has = false;
	char host[64];
	if (getifaddrs(&list) < 0)
		return false;
	for (struct ifaddrs *i = list; i && !has; i = i->ifa_next)
		has = is_usable(i, family) &&
		      !getnameinfo(i->ifa_addr, len, host, sizeof host, NULL, 0, NI_NUMERICHOST);
	freeifaddrs(list);
	if (has)
		snprintf(ret, size, family == AF_INET ? "%s" : "[%s]", host);
	return has;
}

// "ADDRESS:PORT" of the tree, as initiators on other machines write it.
static int set_address(struct export *x, struct err *e)
{
	const char *colon = strrchr(x->portal_name, ':');
	size_t len = colon ? (size_t)(colon - x->portal_name) : 0;
	if (!len || len >= sizeof x->address || strlen(colon + 1) >= sizeof x->port)
		return err_set(e, -EPROTO,
			       "export: unexpected portal '%.80s' in farblockd's answer",
			       x->portal_name);
	memcpy(x->address, x->portal_name, len);
	x->address[len] = 0;
	snprintf(x->port, sizeof x->port, "%s", colon + 1);
	if (!strcmp(x->address, "0.0.0.0") && !own_address(AF_INET, x->address, sizeof x->address))
		snprintf(x->address, sizeof x->address, "127.0.0.1");
	if (!strcmp(x->address, "[::]") && !own_address(AF_INET6, x->address, sizeof x->address) &&
	    !own_address(AF_INET, x->address, sizeof x->address))
		snprintf(x->address, sizeof x->address, "[::1]");
	return 0;
}

// ---- existing portals ----

static void portal_path(const struct export *x, const char *name, char ret[EXPORT_PATH_SIZE])
{
	char below[120];
	snprintf(below, sizeof below, "/portals%s%s", *name ? "/" : "", name);
	export_path(x, below, ret);
}

static struct json_object *look(struct shell *s, const struct export *x, const char *name)
{
	struct json_object *o = NULL;
	struct err ignored;
	char path[EXPORT_PATH_SIZE];
	portal_path(x, name, path);
	return shell_call(s, "tree.info", params_at(path), &o, &ignored) < 0 ? NULL : o;
}

// How usable a portal is for other machines; 0: not at all.
static int worth(struct json_object *portal, const struct export *x)
{
	const char *name = text_field(portal, "name"), *transport = text_field(portal, "transport");
	bool is_local = !strncmp(name, "127.", 4) || !strncmp(name, "[::1]", 5);
	bool has_tcp = !strcmp(transport, "all") || !strcmp(transport, "tcp");
	if (!has_tcp && !x->has_iser && x->protocol == &export_iscsi)
		return 0;
	return 1 + 4 * !strcmp(text_field(portal, "state"), "listening") + 2 * !is_local +
	       !strcmp(transport, "all");
}

// Chooses the best existing portal; without any, portal_name stays empty.
static int choose(struct shell *s, struct export *x, struct err *e)
{
	struct json_object *tree = NULL;
	char path[EXPORT_PATH_SIZE];
	int best = 0;
	portal_path(x, "", path);
	int r = shell_call(s, "tree.ls", params_at(path), &tree, e);
	if (r < 0)
		return r;
	json_each (child, json_field(tree, "children")) {
		struct json_object *o = look(s, x, text_field(child, "name"));
		int v = worth(o, x);
		if (v > best)
			snprintf(x->portal_name, sizeof x->portal_name, "%s",
				 text_field(o, "name"));
		best = v > best ? v : best;
		json_object_put(o);
	}
	json_object_put(tree);
	return 0;
}

// ---- a new portal ----

// Splits ADDRESS[:PORT]; the address may be IPv6, in brackets or without a port, or the name of an
// interface. The daemon validates it.
static int split(const struct export *x, char address[80], char port[8], struct err *e)
{
	const char *p = x->portal, *end = *p == '[' ? strchr(p, ']') : NULL;
	const char *colon = strchr(end ? end : p, ':');
	if (*p == '[' && end)
		p++;
	else if (colon && strchr(colon + 1, ':'))
		colon = NULL; // IPv6 without a port
	size_t len = end ? (size_t)(end - p) : colon ? (size_t)(colon - p) : strlen(p);
	bool is_odd = end && end[1] && end[1] != ':';
	if (!len || len >= 80 || is_odd || (colon && (!colon[1] || strlen(colon + 1) > 5)))
		return err_set(e, -EINVAL, "invalid portal: '%.80s' (use ADDRESS[:PORT])",
			       x->portal);
	memcpy(address, p, len);
	address[len] = 0;
	snprintf(port, 8, "%s", colon ? colon + 1 : x->protocol->port);
	return 0;
}

static const char *behind_last(const char *text, char c)
{
	const char *at = strrchr(text, c);
	return at ? at + 1 : text;
}

static int create(struct shell *s, struct export *x, const char *address, const char *port,
		  struct err *e)
{
	char path[EXPORT_PATH_SIZE], *created = NULL;
	portal_path(x, "", path);
	int r = export_command(s, x, &created, e, path, "create", address, port, END, END);
	// The address of an interface is known only from the daemon's reply.
	const char *name =
		r == -EEXIST ? behind_last(e->text, ' ') : behind_last(created ? created : "", '/');
	if (!r || r == -EEXIST) {
		snprintf(x->portal_name, sizeof x->portal_name, "%.95s", name);
		r = 0;
	}
	free(created);
	return r;
}

// A new target got a portal on all addresses instead of the requested one.
static void drop_default(struct shell *s, struct export *x)
{
	struct err ignored;
	char path[EXPORT_PATH_SIZE];
	portal_path(x, "", path);
	export_command(s, x, NULL, &ignored, path, "delete", "0.0.0.0", x->protocol->port, END,
		       END);
}

static int offer_iser(struct shell *s, struct export *x, struct err *e)
{
	char path[EXPORT_PATH_SIZE];
	struct json_object *o = look(s, x, x->portal_name);
	bool is_tcp_only = !strcmp(text_field(o, "transport"), "tcp");
	json_object_put(o);
	if (!is_tcp_only)
		return 0;
	portal_path(x, x->portal_name, path);
	return export_command(s, x, NULL, e, path, "transport", "all", END, END);
}

int export_make_portal(struct shell *s, struct export *x, struct err *e)
{
	char address[80] = "0.0.0.0", port[8];
	snprintf(port, sizeof port, "%s", x->protocol->port);
	int r = x->portal ? split(x, address, port, e) : choose(s, x, e);
	if (!r && x->portal && x->is_new)
		drop_default(s, x);
	if (!r && !*x->portal_name)
		r = create(s, x, address, port, e);
	if (!r && x->has_iser)
		r = offer_iser(s, x, e);
	return r ? r : set_address(x, e);
}

void export_look_at_portal(struct shell *s, struct export *x)
{
	struct json_object *o = look(s, x, x->portal_name);
	if (strcmp(text_field(o, "state"), "listening"))
		snprintf(x->portal_waits, sizeof x->portal_waits, "%.150s",
			 text_field(o, "reason"));
	x->has_tcp = !strcmp(text_field(o, "transport"), "all") ||
		     !strcmp(text_field(o, "transport"), "tcp");
	json_object_put(o);
}
