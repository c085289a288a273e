// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator discover: the targets of a portal, in iscsiadm's format ("PORTAL:PORT,TPGT
// IQN"), or as JSON.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "initiator/iscsi/sync.h"
#include "initiator/program/iscsi.h"

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
	return r ? tool_fail(TOOL_FAILED, &e) : TOOL_OK;
}
