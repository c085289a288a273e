// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator discover: the targets of a portal, in iscsiadm's format ("PORTAL:PORT,TPGT
// IQN"), or as JSON; with their logical units as a tree.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "initiator/iscsi/sync.h"
#include "initiator/program/iscsi.h"
#include "initiator/tool/tree.h"

struct list_state {
	const struct iscsi_address *asked;
	json_object *json; // NULL: lines
};

static void found(void *arg, const struct sendtargets_record *r)
{
	struct list_state *l = arg;
	struct iscsi_address a = r->has_address ? r->address : *l->asked;
	char text[ISCSI_HOST_MAX + 24];
	if (iscsi_address_format(&a, text, sizeof text))
		return;
	if (!l->json) {
		printf("%s%s %s\n", text, a.has_tpgt ? "" : ",-1", r->target_name);
		return;
	}
	json_object *o = json_object_new_object();
	a.has_tpgt = false;
	iscsi_address_format(&a, text, sizeof text);
	json_object_object_add(o, "target", json_object_new_string(r->target_name));
	json_object_object_add(o, "portal", json_object_new_string(text));
	if (r->has_address && r->address.has_tpgt)
		json_object_object_add(o, "tpgt", json_object_new_int(r->address.tpgt));
	json_object_array_add(l->json, o);
}

// "host[:port]" or a URL without a target.
static int parse_portal(const char *text, struct ini_url *ret, struct err *e)
{
	*ret = (struct ini_url){ 0 };
	if (strstr(text, "://"))
		return ini_url_parse(text, ret, e);
	return iscsi_address_parse(text, &ret->portal, e);
}

int iscsi_discover(struct tool *t)
{
	struct ini_url url;
	struct ini_config c;
	struct list_state l = { .asked = &url.portal };
	struct err e;
	if (parse_portal(t->o.args[0], &url, &e) < 0 || iscsi_config(t, &url, &c, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (t->o.is_json)
		l.json = json_object_new_array();
	int r = iscsi_resolve(&c, &url.portal, &e);
	if (!r)
		r = ini_sync_discover(&c, found, &l, &e);
	chap_wipe(&c, sizeof c);
	if (!r && l.json)
		printf("%s\n", json_object_to_json_string_ext(l.json, JSON_C_TO_STRING_PRETTY));
	json_object_put(l.json);
	return r ? tool_fail_by(&e) : TOOL_OK;
}

// --- as a tree ---

struct tree_state {
	const struct tool *tool;
	struct tree *tree;
	const struct ini_url *asked;
	const char *scheme;
	const struct ini_config *config;
	int res;
};

static void found_leaf(void *arg, const struct sendtargets_record *r)
{
	struct tree_state *s = arg;
	struct iscsi_address a = r->has_address ? r->address : s->asked->portal;
	char portal[ISCSI_HOST_MAX + 24], url[ISCSI_HOST_MAX + 24 + 16 + ISCSI_NAME_MAX];
	int tag = r->has_address && a.has_tpgt ? a.tpgt : -1;
	a.has_tpgt = false;
	if (iscsi_address_format(&a, portal, sizeof portal))
		return;
	snprintf(url, sizeof url, "%s%s/%s", s->scheme, portal, r->target_name);
	if (tree_found(s->tree, r->target_name, tag, portal, url) < 0)
		s->res = -ENOMEM;
}

// That of the discovery, but for secrets: open-iscsi has a target's in a record of its own.
static int leaf_config(const struct tree_state *s, struct ini_url *u, struct ini_config *ret,
		       struct err *e)
{
	memcpy(u->user, s->asked->user, sizeof u->user);
	if (s->tool->o.iscsi_dir)
		return iscsi_config(s->tool, u, ret, e);
	*ret = *s->config;
	return 0;
}

static int leaf_path(void *arg, const char *url, struct tool_path *ret, struct err *e)
{
	const struct tree_state *s = arg;
	struct ini_config c = { 0 };
	struct ini_url u;
	int r = ini_url_parse(url, &u, e);
	if (!r)
		r = leaf_config(s, &u, &c, e);
	if (!r) {
		memcpy(c.login.target_name, u.target, sizeof u.target);
		r = iscsi_resolve(&c, &u.portal, e);
	}
	if (!r && tool_path_set(ret, ini_session_new, &c, sizeof c, e))
		r = e->code;
	chap_wipe(&c, sizeof c);
	return r;
}

int iscsi_tree(struct tool *t, struct tree *tree)
{
	struct ini_url url;
	struct ini_config c;
	struct err e;
	char text[ISCSI_HOST_MAX + 24], shown[ISCSI_HOST_MAX + 40];
	if (parse_portal(t->o.args[0], &url, &e) < 0 || iscsi_config(t, &url, &c, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	struct tree_state s = { .tool = t, .tree = tree, .asked = &url, .config = &c };
	s.scheme = c.provider_count ? "iser://" : "iscsi://";
	url.portal.has_tpgt = false;
	iscsi_address_format(&url.portal, text, sizeof text);
	snprintf(shown, sizeof shown, "%s%s", s.scheme, text);
	tree_begin(tree, shown);
	int r = iscsi_resolve(&c, &url.portal, &e);
	if (!r)
		r = ini_sync_discover(&c, found_leaf, &s, &e);
	if (!r && s.res)
		r = err_set(&e, s.res, "discovery: out of memory");
	if (r)
		tree_failed(tree, &e);
	else
		tree_visit(tree, leaf_path, &s);
	chap_wipe(&c, sizeof c);
	return TOOL_OK;
}
