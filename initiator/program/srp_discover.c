// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator discover over SRP: the targets of a portal, as lines for add_target and
// srp_daemon.conf and as URLs, or as JSON; with their logical units as a tree.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "initiator/program/srp.h"
#include "initiator/srp/sync.h"
#include "initiator/tool/tree.h"

struct list_state {
	json_object *json; // NULL: text
	bool has_target;
	uint8_t target[SRP_PORT_ID_LEN]; // the last one
};

// "id_ext=...,ioc_guid=..."
static void put_ids(char *ret, size_t size, const char id[SRPS_PORT_ID_TEXT])
{
	size_t half = strcspn(id, ":");
	snprintf(ret, size, "id_ext=%.*s,ioc_guid=%s", (int)half, id, id + half + 1);
}

static void add(json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static void found(void *arg, const struct srp_listed *one)
{
	struct list_state *l = arg;
	char id[SRPS_PORT_ID_TEXT], ids[64], portal[TCP_ADDR_TEXT], name[48], line[160], url[160];
	srps_port_id_format(one->target, id);
	put_ids(ids, sizeof ids, id);
	tcp_addr_format(&one->portal, portal);
	snprintf(name, sizeof name, "ib.%.16s%.16s", id, id + 17);
	snprintf(line, sizeof line, "%s,dest=%s", ids, portal);
	snprintf(url, sizeof url, "srp://%s/%s", portal, id);
	bool is_next = !l->has_target || memcmp(l->target, one->target, sizeof l->target);
	memcpy(l->target, one->target, sizeof l->target);
	l->has_target = true;
	if (!l->json) {
		if (is_next)
			printf("%s\n  srp_daemon.conf: a %s\n", name, ids);
		printf("  add_target: %s\n  url: %s\n", line, url);
		return;
	}
	json_object *o = json_object_new_object();
	add(o, "target", name);
	add(o, "portal", portal);
	add(o, "url", url);
	add(o, "add_target", line);
	snprintf(line, sizeof line, "a %s", ids);
	add(o, "srp_daemon_conf", line);
	json_object_array_add(l->json, o);
}

#define CUT_TEXT "there are more targets than the answer has room for"

static void none_text(const struct srps_config *c, char *ret, size_t size)
{
	char id[SRPS_PORT_ID_TEXT];
	srps_port_id_format(c->initiator, id);
	snprintf(ret, size,
		 "no target admits this initiator, ib.%.16s%.16s (at the target: acls create)", id,
		 id + 17);
}

static void say_rest(const struct list_state *l, const struct srps_config *c, bool is_cut)
{
	char text[160];
	none_text(c, text, sizeof text);
	if (!l->has_target)
		tool_say("%s", text);
	if (is_cut)
		tool_say(CUT_TEXT);
}

int srp_discover(struct tool *t)
{
	struct srps_address a;
	struct srps_config c;
	struct list_state l = { 0 };
	struct err e;
	bool is_cut = false;
	if (srps_address_parse(t->o.args[0], &a, &e) < 0 || srp_config(t, &a, &c, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (t->o.is_json)
		l.json = json_object_new_array();
	int r = srp_resolve(&c, &a, &e);
	if (!r)
		r = srps_sync_discover(&c, found, &l, &is_cut, &e);
	if (!r && l.json)
		printf("%s\n", json_object_to_json_string_ext(l.json, JSON_C_TO_STRING_PRETTY));
	if (!r)
		say_rest(&l, &c, is_cut);
	json_object_put(l.json);
	return r ? tool_fail_by(&e) : TOOL_OK;
}

// --- as a tree ---

struct tree_state {
	struct tree *tree;
	const struct srps_config *config;
	bool has_target;
	int res;
};

static void found_leaf(void *arg, const struct srp_listed *one)
{
	struct tree_state *s = arg;
	char id[SRPS_PORT_ID_TEXT], portal[TCP_ADDR_TEXT], name[48], url[160];
	srps_port_id_format(one->target, id);
	tcp_addr_format(&one->portal, portal);
	snprintf(name, sizeof name, "ib.%.16s%.16s", id, id + 17);
	snprintf(url, sizeof url, "srp://%s/%s", portal, id);
	s->has_target = true;
	if (tree_found(s->tree, name, -1, portal, url) < 0)
		s->res = -ENOMEM;
}

static int leaf_path(void *arg, const char *url, struct tool_path *ret, struct err *e)
{
	const struct tree_state *s = arg;
	struct srps_config c = *s->config;
	struct srps_address a;
	int r = srps_address_parse(url, &a, e);
	if (!r) {
		memcpy(c.target, a.target, sizeof c.target);
		r = srp_resolve(&c, &a, e);
	}
	return !r && tool_path_set(ret, srps_session_new, &c, sizeof c, e) ? e->code : r;
}

static void show_found(struct tree_state *s, bool is_cut)
{
	char text[160];
	none_text(s->config, text, sizeof text);
	if (!s->has_target)
		tree_note(s->tree, text);
	if (is_cut)
		tree_note(s->tree, CUT_TEXT);
	tree_visit(s->tree, leaf_path, s);
}

int srp_tree(struct tool *t, struct tree *tree)
{
	struct srps_address a;
	struct srps_config c;
	struct tree_state s = { .tree = tree, .config = &c };
	struct err e;
	bool is_cut = false;
	char shown[SRPS_HOST_MAX + 8];
	if (srps_address_parse(t->o.args[0], &a, &e) < 0 || srp_config(t, &a, &c, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	snprintf(shown, sizeof shown, "srp://%s", a.portal);
	tree_begin(tree, shown);
	int r = srp_resolve(&c, &a, &e);
	if (!r)
		r = srps_sync_discover(&c, found_leaf, &s, &is_cut, &e);
	if (!r && s.res)
		r = err_set(&e, s.res, "discovery: out of memory");
	if (r)
		tree_failed(tree, &e);
	else
		show_found(&s, is_cut);
	return TOOL_OK;
}
