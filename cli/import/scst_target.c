// SPDX-License-Identifier: BSD-2-Clause
// TARGET of an scst.conf with its LUNs and groups. A disk has one LUN in a portal group here, which
// the initiators of a group may see under another number.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "cli/import/scst.h"
#include "core/json/json.h"
#include "transport/srp/name.h"

static bool is_iscsi(const struct scst *s)
{
	return !strcmp(s->fabric, "iscsi");
}

// ---- LUNs ----

// The LUN of a disk, created with the wanted number if that is free. NULL: no number is free.
static struct json_object *lun_of(struct scst *s, const char *path, int wanted)
{
	struct scst_target *t = &s->target;
	struct json_object *there = json_field(t->by_path, path);
	char key[16];
	if (there)
		return there;
	snprintf(key, sizeof key, "%d", wanted);
	while (json_object_object_get_ex(t->numbers, key, NULL)) {
		wanted = t->next_free++;
		snprintf(key, sizeof key, "%d", wanted);
	}
	if (wanted > IMPORT_LUN_MAX)
		return NULL;
	json_object_object_add(t->numbers, key, NULL);
	there = import_lun(t->tpg, wanted, path, false);
	json_object_object_add(t->by_path, path, json_object_get(there));
	return there;
}

// "NUMBER DEVICE", in a group or in the target.
int scst_lun_open(struct scst *s, char *value, struct err *e)
{
	char *rest = value, *number_text = import_word(&rest), *device = import_word(&rest);
	bool is_group = s->stack[s->depth - 1] == SCST_GROUP;
	struct json_object *list = is_group ? json_field(s->group, "luns") : s->target.common;
	int number = number_text ? import_number(number_text, IMPORT_LUN_MAX) : -1;
	const char *path = device ? import_disk_path(s->im, device) : NULL;
	char key[16];
	snprintf(key, sizeof key, "%d", number);
	s->seen = NULL;
	if (number < 0 || !path || json_object_object_get_ex(list, key, NULL)) {
		import_note(s->im, s->im->at, "LUN %.20s %.60s: %s; skipped",
			    number_text ? number_text : "", device ? device : "",
			    number < 0 ? "number not in 0..16383"
			    : path     ? "already exists"
				       : "no such device");
		return SCST_LUN;
	}
	s->seen = json_object_new_object();
	json_put_text(s->seen, "path", path);
	json_object_object_add(list, key, s->seen);
	return SCST_LUN;
}

static bool lun_read_only(struct scst *s, const struct scst_row *row, char *value)
{
	if (s->seen)
		import_bool_field(s->seen, "write_protect", is_yes(value));
	return true;
}

// ---- groups ----

int scst_group_open(struct scst *s, char *name, struct err *e)
{
	s->group = json_object_new_object();
	json_put_text(s->group, "name", name);
	json_object_object_add(s->group, "luns", json_object_new_object());
	json_object_object_add(s->group, "initiators", json_object_new_array());
	json_object_array_add(s->target.groups, s->group);
	return SCST_GROUP;
}

static const char *group_name(const struct scst *s)
{
	return json_text(s->group, "name");
}

// "NAME#ADDRESS" is NAME at the portal of that address.
static void take_portal_of(struct scst *s, const char *address)
{
	struct scst_target *t = &s->target;
	if (!strcmp(address, "*"))
		t->has_any_portal = true;
	else if (*address && !strpbrk(address, "*?!"))
		json_object_object_add(t->portals, address, NULL);
	else
		import_note(s->im, s->im->at,
			    "INITIATOR: portal %.60s is a pattern; skipped (portals create)",
			    address);
	t->has_portal_rule |= strcmp(address, "*") != 0;
}

static void everyone(struct scst *s)
{
	if (!s->target.everyone)
		s->target.everyone = s->group;
	if (s->target.everyone != s->group)
		import_note(s->im, s->im->at,
			    "INITIATOR *: already in another group; skipped (group %.60s)",
			    group_name(s));
}

static bool initiator(struct scst *s, const struct scst_row *row, char *value)
{
	struct json_object *acls = s->target.acls;
	char *address = strchr(value, '#');
	const char *group;
	if (address)
		*address++ = 0;
	if (address)
		take_portal_of(s, address);
	if (!strcmp(value, "*")) {
		everyone(s);
		return true;
	}
	char name[224];
	if (!*value || strpbrk(value, "*?!"))
		return false;
	if (!import_initiator(s->im, s->fabric, value, name))
		return true;
	group = json_text(acls, name);
	if (group && strcmp(group, group_name(s)))
		import_note(s->im, s->im->at, "INITIATOR %.100s: already in group %.60s; skipped",
			    name, group);
	if (group)
		return true;
	json_put_text(acls, name, group_name(s));
	json_object_array_add(json_field(s->group, "initiators"), json_object_new_string(name));
	return true;
}

// ---- targets ----

int scst_target_open(struct scst *s, char *name, struct err *e)
{
	char full[224];
	struct err why = { 0 };
	if (!strcmp(s->fabric, "srpt") && name_srpt_target(name, full, &why) < 0) {
		import_note(s->im, s->im->at,
			    "TARGET %.80s: not the GID of a port; skipped with its contents (/srpt "
			    "create)",
			    name);
		return SCST_OTHER;
	}
	s->target = (struct scst_target){
		.at = s->im->at,
		.by_path = json_object_new_object(),
		.numbers = json_object_new_object(),
		.common = json_object_new_object(),
		.groups = json_object_new_array(),
		.acls = json_object_new_object(),
		.portals = json_object_new_object(),
	};
	int r = import_target(s->im, s->fabric, name, s->target.name, &s->target.tpg, e);
	if (!r && !is_iscsi(s))
		import_note(s->im, s->im->at,
			    "TARGET %.80s: initiators need another add_target line, with dest= "
			    "(see info of the target)",
			    s->target.name);
	return r ? r : SCST_TARGET;
}

void scst_target_done(struct scst *s)
{
	struct scst_target *t = &s->target;
	s->group = NULL;
	json_object_put(t->by_path);
	json_object_put(t->numbers);
	json_object_put(t->common);
	json_object_put(t->groups);
	json_object_put(t->acls);
	json_object_put(t->portals);
	*t = (struct scst_target){ 0 };
}

// The number of a disk's LUN; -1: no number was free.
static int number_of_lun(struct scst *s, const char *number, struct json_object *seen)
{
	struct json_object *lun =
		lun_of(s, json_text(seen, "path"), import_number(number, IMPORT_LUN_MAX));
	return lun ? json_object_get_int(json_field(lun, "index")) : -1;
}

static bool is_protected(struct json_object *seen)
{
	return json_object_get_boolean(json_field(seen, "write_protect"));
}

// Creates the LUNs of a list. True: all of them have the numbers of the list.
static bool make_luns(struct scst *s, struct json_object *luns, bool protects)
{
	bool are_same = true;
	json_object_object_foreach(luns, number, seen)
	{
		int n = number_of_lun(s, number, seen);
		are_same &= n == import_number(number, IMPORT_LUN_MAX);
		if (n >= 0 && protects && is_protected(seen))
			import_bool_field(json_field(s->target.by_path, json_text(seen, "path")),
					  "write_protect", true);
	}
	return are_same;
}

static void map_group(struct scst *s, struct json_object *group)
{
	struct json_object *all = json_field(group, "initiators"),
			   *luns = json_field(group, "luns");
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *acl = import_acl(
			s->target.tpg, json_object_get_string(json_object_array_get_idx(all, i)));
		import_put_users(acl, "chap", &s->target.users);
		json_object_object_foreach(luns, number, seen)
		{
			int n = number_of_lun(s, number, seen);
			int as = import_number(number, IMPORT_LUN_MAX);
			if (n >= 0 && !import_map(s->im, acl, as, n, is_protected(seen)))
				return;
		}
	}
}

// Initiators without an ACL see every LUN of a portal group, with its number there.
static void tell_refused(struct scst *s)
{
	import_note(s->im, s->target.at,
		    "TARGET %.80s: initiators without a group are not admitted: %s (acls create "
		    "for each)",
		    s->target.name,
		    is_iscsi(s) ? "they would also see the LUNs of the groups"
				: "SRP has only ACLs");
}

// LUNs and ACLs. True: admit initiators outside all groups, as SCST does: they see the common LUNs,
// or those of the group of *.
static bool put_luns(struct scst *s)
{
	struct scst_target *t = &s->target;
	struct json_object *open = t->everyone ? json_field(t->everyone, "luns") : t->common;
	bool has_open = t->everyone || json_object_object_length(open);
	if (t->everyone && json_object_object_length(t->common))
		import_note(s->im, t->at,
			    "TARGET %.80s: a group for * hides the LUNs outside of groups; "
			    "skipped",
			    t->name);
	bool are_same = make_luns(s, open, is_iscsi(s));
	for (size_t i = 0; i < json_object_array_length(t->groups); i++)
		map_group(s, json_object_array_get_idx(t->groups, i));
	bool are_all = (size_t)json_object_object_length(open) ==
		       json_object_array_length(json_field(t->tpg, "luns"));
	bool is_open = has_open && are_same && are_all && is_iscsi(s);
	if (has_open && !is_open)
		tell_refused(s);
	return is_open;
}

// A rule without remaining entries would admit everyone.
static void put_portals(struct scst *s)
{
	struct scst_target *t = &s->target;
	bool has_some = json_object_object_length(t->portals);
	json_object_object_foreach(t->portals, address, ignored)
	{
		(void)ignored;
		import_portal(t->tpg, address, false);
	}
	if (!has_some && (t->has_any_portal || !t->has_portal_rule))
		import_portal(t->tpg, "0.0.0.0", false);
	else if (!has_some)
		import_note(s->im, t->at,
			    "TARGET %.80s: no portal can be imported (portals create)", t->name);
}

void scst_target_close(struct scst *s)
{
	struct scst_target *t = &s->target;
	bool is_open = put_luns(s);
	if (is_iscsi(s)) {
		put_portals(s);
		import_attribute(t->tpg, "authentication", t->users.name[IMPORT_INCOMING] != NULL);
		import_attribute(t->tpg, "generate_node_acls", is_open);
		import_attribute(t->tpg, "demo_mode_write_protect", 0);
		if (is_open)
			import_put_users(t->tpg, "chap", &t->users);
	}
	import_bool_field(t->tpg, "enable", t->is_enabled);
	if (!t->has_enabled)
		import_note(s->im, t->at, "TARGET %.80s: disabled, as in SCST (enable)", t->name);
	scst_target_done(s);
}

static bool enabled(struct scst *s, const struct scst_row *row, char *value)
{
	s->target.has_enabled = true;
	s->target.is_enabled = is_yes(value);
	return true;
}

bool scst_user(struct scst *s, const struct scst_row *row, char *value)
{
	bool is_discovery = s->stack[s->depth - 1] == SCST_DRIVER;
	import_user(s->im, is_discovery ? &s->discovery : &s->target.users, row->arg, value);
	return true;
}

static bool allowed_portal(struct scst *s, const struct scst_row *row, char *value)
{
	if (!strcmp(value, "*"))
		return s->target.has_any_portal = true;
	s->target.has_portal_rule = true;
	if (!*value || strpbrk(value, "*?!"))
		return false;
	json_object_object_add(s->target.portals, value, NULL);
	return true;
}

static bool rel_tgt_id(struct scst *s, const struct scst_row *row, char *value)
{
	char path[300];
	if (import_number(value, 65535) < 1)
		return false;
	snprintf(path, sizeof path, "/%s/%.223s%s", s->fabric, s->target.name,
		 is_iscsi(s) ? "/tpg1" : "");
	json_object_object_add(json_part(s->im->own, path), "relative_port",
			       json_object_new_int(import_number(value, 65535)));
	return true;
}

static bool alias(struct scst *s, const struct scst_row *row, char *value)
{
	if (is_iscsi(s))
		import_parameter(s->target.tpg, "TargetAlias", value);
	return is_iscsi(s);
}

// arg: the attribute
static bool nop_seconds(struct scst *s, const struct scst_row *row, char *value)
{
	char path[300];
	int n = import_number(value, 60);
	if (!is_iscsi(s) || n < 3)
		return false;
	snprintf(path, sizeof path, "/iscsi/%.223s/tpg1", s->target.name);
	import_own(s->im, path, "attribute", row->arg, value);
	return true;
}

static bool queued_commands(struct scst *s, const struct scst_row *row, char *value)
{
	int n = import_number(value, 512);
	if (!is_iscsi(s) || n < 1)
		return false;
	import_attribute(s->target.tpg, "default_cmdsn_depth", n);
	return true;
}

#define PROCESSORS "workers serve all sessions, one worker a core; skipped"

// clang-format off
const struct scst_row scst_target_rows[] = {
	{ "enabled", enabled, NULL },
	{ "IncomingUser", scst_user, NULL, "incoming" },
	{ "OutgoingUser", scst_user, NULL, "outgoing" },
	{ "allowed_portal", allowed_portal, "a pattern; skipped (portals create ADDRESS)" },
	{ "rel_tgt_id", rel_tgt_id, "not in 1..65535; using another number" },
	{ "per_portal_acl", NULL, NULL }, // evaluated for an INITIATOR with a #
	{ "alias", alias, "SRP has no aliases; skipped" },
	{ "NopInInterval", nop_seconds, "must be 3 to 60 s; using 15 s", "nopin_timeout" },
	{ "NopInTimeout", nop_seconds, "must be 3 to 60 s; using 30 s", "nopin_response_timeout" },
	{ "QueuedCommands", queued_commands, "must be 1 to 512; using 64" },
	{ "RspTimeout", NULL, "commands have no time limit; skipped" },
	{ "MaxSessions", NULL, "sessions of a target are not limited; skipped" },
	{ "redirect", NULL, "not imported (set attribute redirect=HOST:PORT)" },
	{ "addr_method", NULL, "LUNs above 255 use flat space addressing, others peripheral; skipped" },
	{ "cpu_mask", NULL, PROCESSORS },
	{ "io_grouping_type", NULL, PROCESSORS },
	{ "black_hole", NULL, "not supported; skipped" },
	{ "dif_capabilities", NULL, "protection information is not supported; skipped" },
	{ "forward_src", NULL, "not supported; skipped" },
	{ "forward_dst", NULL, "not supported; skipped" },
	{ "aen_disabled", NULL, NULL },
	{ 0 },
};
const struct scst_row scst_group_rows[] = {
	{ "INITIATOR", initiator,
	  "patterns are not supported: its initiators are refused (acls create for each)" },
	{ "addr_method", NULL, "LUNs above 255 use flat space addressing, others peripheral; skipped" },
	{ "cpu_mask", NULL, PROCESSORS },
	{ "io_grouping_type", NULL, PROCESSORS },
	{ "black_hole", NULL, "not supported; skipped" },
	{ 0 },
};
const struct scst_row scst_lun_rows[] = {
	{ "read_only", lun_read_only, NULL },
	{ 0 },
};
// clang-format on
