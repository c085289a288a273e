// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator discover: the targets of a portal, in iscsiadm's format ("PORTAL:PORT,TPGT
// IQN"), or as JSON.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "initiator/iscsi/sync.h"
#include "initiator/tool/tool.h"

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
static int parse_portal(struct tool *t, struct iscsi_address *ret, struct err *e)
{
	if (!strstr(t->o.args[0], "://"))
		return iscsi_address_parse(t->o.args[0], ret, e);
	int r = ini_url_parse(t->o.args[0], &t->url, e);
	if (!r)
		*ret = t->url.portal;
	return r;
}

int tool_discover(struct tool *t)
{
	struct iscsi_address portal;
	struct list_state l = { .asked = &portal };
	struct err e;
	if (parse_portal(t, &portal, &e) < 0 || tool_config(t, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (t->o.is_json)
		l.json = json_object_new_array();
	int r = tool_resolve(t, &portal, &e);
	if (!r)
		r = ini_sync_discover(&t->config, found, &l, &e);
	chap_wipe(&t->config, sizeof t->config);
	if (!r && l.json)
		printf("%s\n", json_object_to_json_string_ext(l.json, JSON_C_TO_STRING_PRETTY));
	json_object_put(l.json);
	return r ? tool_fail(TOOL_FAILED, &e) : TOOL_OK;
}
