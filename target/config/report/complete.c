// SPDX-License-Identifier: BSD-2-Clause
// Known values of parameters: names in the tree, addresses of this machine, initiators seen. For
// completion only; the command checks the value.
#include <arpa/inet.h>
#include <errno.h>
#include <glob.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/report/report.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/acl.h"
#include "target/fabric/refusals.h"
#include "target/fabric/sessions.h"

enum { COMPLETE_MAX = 1000 };

struct candidates {
	struct config *config;
	const struct node *node;
	const char *prefix; // candidates that begin with it
	struct json_object *list;
};

static void add(const struct candidates *c, const char *text, const char *note)
{
	if (strncmp(text, c->prefix, strlen(c->prefix)) ||
	    json_object_array_length(c->list) >= COMPLETE_MAX)
		return;
	json_each (o, c->list)
		if (!strcmp(json_text(o, "text"), text))
			return;
	struct json_object *o = json_add_object(c->list);
	json_put_text(o, "text", text);
	json_put_text(o, "note", note);
}

static void add_node(const struct candidates *c, const struct node *n, const char *text)
{
	struct summary s = { 0 };
	if (!strncmp(text, c->prefix, strlen(c->prefix)))
		tree_summary(c->config, n, &s);
	add(c, text, s.text);
}

// The names or the paths of the children.
static void add_children(const struct candidates *c, const struct node *n, bool are_paths)
{
	struct node **list = node_sorted(n);
	for (unsigned i = 0; list && i < n->child_count; i++) {
		char path[600];
		node_path(list[i], path, sizeof path);
		add_node(c, list[i], are_paths ? path : list[i]->name);
	}
	free(list);
}

static void child(const struct candidates *c)
{
	add_children(c, c->node, false);
}

static void storage(const struct candidates *c)
{
	for (unsigned i = 0; i < c->config->storage->type_count; i++)
		add_children(c, &c->config->storage->types[i].node, true);
}

// For an ACL: the LUNs of its portal group, or storage for a new LUN.
static void lun(const struct candidates *c)
{
	const struct tpg *group = tpg_of(c->node);
	if (group)
		add_children(c, &group->luns, false);
	storage(c);
}

// The address of each child "ADDRESS:PORT"; in brackets for IPv6.
static void portal(const struct candidates *c)
{
	list_each (const struct node, n, &c->node->children, link) {
		const char *port = strrchr(n->name, ':');
		char text[80];
		snprintf(text, sizeof text, "%.*s", port ? (int)(port - n->name) : 0, n->name);
		add_node(c, n, text);
	}
}

// ---- addresses ----

static bool read_word(const char *path, char out[64])
{
	FILE *f = fopen(path, "re");
	bool is_read = f && fgets(out, 64, f);
	if (f)
		fclose(f);
	if (is_read)
		out[strcspn(out, "\n")] = 0;
	return is_read;
}

// "eth0", or "eth0, RDMA device mlx5_0 (ACTIVE)": an RDMA device one of whose GIDs is of the
// interface.
static void note_interface(const char *interface, char *out, size_t size)
{
	glob_t gids = { 0 };
	char name[64], path[600];
	snprintf(out, size, "%s", interface);
	glob("/sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*", GLOB_NOSORT, NULL, &gids);
	for (size_t i = 0; i < gids.gl_pathc; i++) {
		char device[80] = "", port[16] = "", state[64] = "";
		if (!read_word(gids.gl_pathv[i], name) || strcmp(name, interface))
			continue;
		sscanf(gids.gl_pathv[i], "/sys/class/infiniband/%79[^/]/ports/%15[^/]", device,
		       port);
		snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/%s/state", device,
			 port);
		read_word(path, state);
		const char *word = strchr(state, ' '); // "4: ACTIVE"
		snprintf(out, size, "%s, RDMA device %s (%s)", interface, device,
			 word ? word + 1 : state);
		break;
	}
	globfree(&gids);
}

static void add_address(const struct candidates *c, const struct ifaddrs *i)
{
	char text[INET6_ADDRSTRLEN], note[200];
	const void *bytes = NULL;
	if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET)
		bytes = &((const struct sockaddr_in *)i->ifa_addr)->sin_addr;
	else if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr;
	if (!bytes || !inet_ntop(i->ifa_addr->sa_family, bytes, text, sizeof text))
		return;
	note_interface(i->ifa_name, note, sizeof note);
	add(c, text, note);
}

static void address(const struct candidates *c)
{
	struct ifaddrs *list = NULL;
	getifaddrs(&list); // without it there are the wildcards
	add(c, "0.0.0.0", "every IPv4 address");
	add(c, "::", "every address");
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		add_address(c, i);
	freeifaddrs(list);
}

// The ports of RDMA devices by their first GID, as targetcli offers them.
static void srp_port(const struct candidates *c)
{
	glob_t gids = { 0 };
	char gid[64], name[FABRIC_NAME_SIZE], device[80] = "", note[100];
	glob("/sys/class/infiniband/*/ports/*/gids/0", 0, NULL, &gids);
	for (size_t i = 0; i < gids.gl_pathc; i++) {
		if (!read_word(gids.gl_pathv[i], gid) ||
		    node_fabric(c->node)->name_target(gid, true, name, NULL) < 0)
			continue;
		sscanf(gids.gl_pathv[i], "/sys/class/infiniband/%79[^/]", device);
		snprintf(note, sizeof note, "RDMA device %s", device);
		add(c, name, note);
	}
	globfree(&gids);
}

// ---- initiators and sessions ----

static void session(const struct candidates *c)
{
	struct session_info *list = NULL;
	unsigned count = 0;
	sessions_list(&list, &count);
	for (unsigned i = 0; i < count; i++) {
		char sid[24];
		snprintf(sid, sizeof sid, "%llu", (unsigned long long)list[i].id);
		add(c, sid, list[i].initiator);
	}
	free(list);
}

// Refused initiators of which an ACL can be created.
static bool may_have_acl(const struct candidates *c, const char *name)
{
	char normalized[224];
	return *name && acl_name(tpg_of(c->node), name, normalized, NULL) == 0;
}

// Recently refused initiators, newest first, and those logged in.
static void initiator(const struct candidates *c)
{
	enum { MOST = 64 };
	struct login_refusal *refused = calloc(MOST, sizeof *refused);
	unsigned n = refused ? login_refusals(refused, MOST) : 0;
	for (unsigned i = 0; i < n; i++)
		if (may_have_acl(c, refused[i].initiator))
			add(c, refused[i].initiator, refused[i].reason);
	free(refused);
	struct session_info *list = NULL;
	unsigned count = 0;
	sessions_list(&list, &count);
	for (unsigned i = 0; i < count; i++)
		if (may_have_acl(c, list[i].initiator))
			add(c, list[i].initiator, "logged in");
	free(list);
}

static void (*const sources[])(const struct candidates *c) = {
	[PARAM_CHILD] = child,	       [PARAM_STORAGE] = storage,   [PARAM_LUN] = lun,
	[PARAM_PORTAL] = portal,       [PARAM_ADDRESS] = address,   [PARAM_SESSION] = session,
	[PARAM_INITIATOR] = initiator, [PARAM_SRP_PORT] = srp_port,
};

// A setting that is the name of an object: `set` at a LUN offers the ALUA groups of its disk.
static bool complete_setting(const struct candidates *to, const struct command_row *command,
			     const char *name)
{
	if (strcmp(command->name, "set") || to->node->class != &lun_class ||
	    strcmp(name, "alua_tg_pt_gp_name"))
		return false;
	const struct lun *l = NODE_OF(const struct lun, to->node);
	if (l->storage)
		add_children(to, &l->storage->alua, false);
	return true;
}

struct json_object *config_complete(struct config *c, const char *path, const char *command,
				    const char *parameter, const char *prefix, struct err *e)
{
	const struct node *n = config_node(c, path);
	const struct command_row *row = n ? command_find(c, n->class, command) : NULL;
	const struct param_row *param = row ? param_find(row->params, parameter) : NULL;
	struct candidates to = { c, n, prefix, json_object_new_array() };
	if (param && param->type < sizeof sources / sizeof sources[0] && sources[param->type])
		sources[param->type](&to);
	if (param || (row && complete_setting(&to, row, parameter)))
		return to.list;
	json_object_put(to.list);
	if (!n)
		err_set(e, -ENOENT, "No such path %.200s", path);
	else if (!row)
		err_set(e, -ENOSYS, "Command not found %.60s", command);
	else
		err_set(e, -EBADRQC, "Unexpected keyword parameter '%.60s'.", parameter);
	return NULL;
}
