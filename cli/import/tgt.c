// SPDX-License-Identifier: BSD-2-Clause
// targets.conf of tgt: <target NAME> with disks, accounts and initiators. The syntax is that of
// Perl's Config::General, which tgt-admin uses.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/import/tgt.h"
#include "core/json/json.h"
#include "transport/iscsi/name.h"
#include "transport/tcp/addr.h"

enum { TARGETS_MAX = 10000 };

// All files of an import. A target may be defined in several pieces.
struct tgt {
	struct import *im;
	struct tgt_target **targets;
	unsigned target_count;
	struct json_object *by_name; // name -> place in targets
	struct tgt_target *target;   // the one being read, or NULL
	struct import_place opened;
	bool is_disk_open; // the last one of target
	struct import_users discovery;
	bool is_iser; // default-driver
};

static int read_text(struct import *im, char *text, struct err *e);

// ---- targets ----

static void done_targets(struct tgt *t)
{
	for (unsigned i = 0; i < t->target_count; i++) {
		free(t->targets[i]->disks);
		json_object_put(t->targets[i]->initiators);
		free(t->targets[i]);
	}
	free(t->targets);
	json_object_put(t->by_name);
}

static int new_target(struct tgt *t, const char *name, struct tgt_target **ret, struct err *e)
{
	struct tgt_target *g = calloc(1, sizeof *g);
	struct tgt_target **more =
		g ? reallocarray(t->targets, t->target_count + 1, sizeof(struct tgt_target *))
		  : NULL;
	if (!more) {
		free(g);
		return err_set(e, -ENOMEM, "out of memory");
	}
	t->targets = more;
	t->targets[t->target_count++] = g;
	g->at = t->im->at;
	g->initiators = json_object_new_object();
	*ret = g;
	return import_target(t->im, "iscsi", name, g->name, &g->tpg, e);
}

static int open_target(struct tgt *t, const char *name, struct err *e)
{
	char full[224];
	struct err why;
	struct json_object *there;
	t->opened = t->im->at;
	if (name_iscsi(name, true, full, &why) < 0)
		snprintf(full, sizeof full, "%s", name); // new_target() reports the error
	if (json_object_object_get_ex(t->by_name, full, &there)) {
		t->target = t->targets[json_object_get_int(there)];
		return 0;
	}
	if (t->target_count == TARGETS_MAX)
		return import_fail(e, t->im->at, "more than %d targets", TARGETS_MAX);
	json_object_object_add(t->by_name, full, json_object_new_int((int)t->target_count));
	return new_target(t, name, &t->target, e);
}

// An address rule without remaining entries would admit everyone.
static void put_addresses(struct import *im, struct tgt_target *g)
{
	char path[300];
	snprintf(path, sizeof path, "/iscsi/%.223s/tpg1", g->name);
	if (g->addresses[0])
		import_own(im, path, "attribute", "allowed_addresses", g->addresses);
	if (g->addresses[0] || !g->has_address_rule)
		return;
	import_bool_field(g->tpg, "enable", false);
	import_note(im, g->at,
		    "target %.100s: no valid address, so it is disabled "
		    "(set attribute allowed_addresses=..., then enable)",
		    g->name);
}

static void put_acls(struct import *im, struct tgt_target *g)
{
	struct json_object *luns = json_field(g->tpg, "luns");
	json_object_object_foreach(g->initiators, name, ignored)
	{
		(void)ignored;
		struct json_object *acl = import_acl(g->tpg, name);
		import_put_users(acl, "chap", &g->users);
		for (size_t i = 0; i < json_object_array_length(luns); i++) {
			struct json_object *lun = json_object_array_get_idx(luns, i);
			int n = json_object_get_int(json_field(lun, "index"));
			bool is_ro = json_object_get_boolean(json_field(lun, "write_protect"));
			if (!import_map(im, acl, n, n, is_ro))
				return;
		}
	}
}

// Access is known only at the end. Without initiator-name anyone with an account may log in.
static void put_target(struct tgt *t, struct tgt_target *g)
{
	import_portal(g->tpg, "0.0.0.0", g->has_driver ? g->is_iser : t->is_iser);
	tgt_put_disks(t->im, g);
	import_attribute(g->tpg, "authentication", g->users.name[IMPORT_INCOMING] != NULL);
	import_attribute(g->tpg, "generate_node_acls", !g->has_name_rule);
	import_attribute(g->tpg, "demo_mode_write_protect", 0);
	if (!g->has_name_rule)
		import_put_users(g->tpg, "chap", &g->users);
	put_acls(t->im, g);
	put_addresses(t->im, g);
}

// ---- disks ----

static int add_disk(struct tgt *t, char *path, bool is_direct, struct err *e)
{
	struct tgt_target *g = t->target;
	if (!*path)
		return import_fail(e, t->im->at, "missing path of a disk");
	if (g->disk_count == g->disk_room) {
		size_t room = g->disk_room ? g->disk_room * 2 : 16;
		struct tgt_disk *more = reallocarray(g->disks, room, sizeof *more);
		if (!more)
			return err_set(e, -ENOMEM, "out of memory");
		g->disks = more;
		g->disk_room = room;
	}
	g->disks[g->disk_count++] = (struct tgt_disk){
		.path = path, .at = t->im->at, .is_direct = is_direct, .lun = -1
	};
	if (*path != '/')
		import_note(t->im, t->im->at,
			    "%.150s: not an absolute path; the disk is waiting (set its "
			    "absolute path)",
			    path);
	return 0;
}

// name: backing-store or direct-store.
static int store(struct tgt *t, const char *name, char *value, struct err *e)
{
	bool is_direct = *name == 'd';
	if (is_direct)
		import_note(t->im, t->im->at,
			    "direct-store %.150s: served as an ordinary disk; vendor, product and "
			    "serial number are not those of the device (pscsi passes a SCSI device "
			    "through)",
			    value);
	return add_disk(t, value, is_direct, e);
}

static int open_disk(struct tgt *t, const char *name, char *path, struct err *e)
{
	int r = store(t, name, path, e);
	t->is_disk_open = !r;
	return r;
}

// ---- directives ----

// incominguser, outgoinguser; incomingdiscoveryuser, outgoingdiscoveryuser outside of targets.
static int user(struct tgt *t, const char *name, char *value, struct err *e)
{
	import_user(t->im, t->target ? &t->target->users : &t->discovery,
		    *name == 'i' ? "incoming" : "outgoing", value);
	return 0;
}

static int initiator_name(struct tgt *t, const char *name, char *value, struct err *e)
{
	char full[224];
	t->target->has_name_rule = true;
	if (import_initiator(t->im, "iscsi", value, full))
		json_object_object_add(t->target->initiators, full, NULL);
	return 0;
}

static int initiator_address(struct tgt *t, const char *name, char *value, struct err *e)
{
	struct tgt_target *g = t->target;
	size_t used = strlen(g->addresses);
	if (!strcmp(value, "ALL"))
		return 0;
	g->has_address_rule = true;
	bool fits = used + strlen(value) + 2 <= sizeof g->addresses;
	if (fits && !tcp_addr_list_check(value, NULL))
		snprintf(g->addresses + used, sizeof g->addresses - used, "%s%s", used ? "," : "",
			 value);
	else
		import_note(t->im, t->im->at, "initiator-address %.100s: %s; skipped", value,
			    fits ? "not an address or address/prefix"
				 : "too many for allowed_addresses (use prefixes)");
	return 0;
}

static bool is_iser(struct tgt *t, const char *value)
{
	if (strcmp(value, "iscsi") && strcmp(value, "iser"))
		import_note(t->im, t->im->at,
			    "driver %.40s: not supported; the target uses iSCSI, and iSER if the "
			    "machine supports it",
			    value);
	return !strcmp(value, "iser");
}

static int driver(struct tgt *t, const char *name, char *value, struct err *e)
{
	t->target->has_driver = true;
	t->target->is_iser = is_iser(t, value);
	return 0;
}

static int default_driver(struct tgt *t, const char *name, char *value, struct err *e)
{
	t->is_iser = is_iser(t, value);
	return 0;
}

static int include(struct tgt *t, const char *name, char *value, struct err *e)
{
	return import_include(t->im, value, read_text, e);
}

struct directive {
	const char *name;
	int (*take)(struct tgt *t, const char *name, char *value, struct err *e);
	const char *why; // without take: the note
};

// clang-format off
static const struct directive in_target[] = {
	{ "backing-store", store, NULL },
	{ "direct-store", store, NULL },
	{ "incominguser", user, NULL },
	{ "outgoinguser", user, NULL },
	{ "initiator-name", initiator_name, NULL },
	{ "initiator-address", initiator_address, NULL },
	{ "driver", driver, NULL },
	{ "include", include, NULL },
	{ "controller_tid", NULL, "targets have only names; skipped" },
	{ "state", NULL, "imported targets are enabled (disable tpg1)" },
	{ 0 },
};
static const struct directive anywhere[] = {
	{ "default-driver", default_driver, NULL },
	{ "include", include, NULL },
	{ "incomingdiscoveryuser", user, NULL },
	{ "outgoingdiscoveryuser", user, NULL },
	{ "ignore-errors", NULL, "a failed import changes nothing; skipped" },
	{ "control-port", NULL, "the control socket is a file (--socket); skipped" },
	{ "iSNS", NULL, "iSNS is not supported; initiators discover at the portal" },
	{ "iSNSServerIP", NULL, "iSNS is not supported; skipped" },
	{ "iSNSServerPort", NULL, "iSNS is not supported; skipped" },
	{ "iSNSAccessControl", NULL, "iSNS is not supported (acls create for its initiators)" },
	{ 0 },
};
// clang-format on

static const struct directive *directive_find(const struct directive *list, const char *name)
{
	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return list;
	return NULL;
}

static bool is_parameter(const char *name)
{
	static const char *const obsolete[] = { "IFMarker", "OFMarker", "IFMarkInt", "OFMarkInt" };
	for (size_t i = 0; i < sizeof obsolete / sizeof *obsolete; i++)
		if (!strcmp(name, obsolete[i]))
			return true;
	return import_is_parameter(name);
}

static int take_setting(struct tgt *t, const char *name, char *value)
{
	struct tgt_target *g = t->target;
	struct tgt_value *set = t->is_disk_open ? g->disks[g->disk_count - 1].set : g->set;
	unsigned i = tgt_setting_find(name);
	if (i == TGT_SETTINGS)
		import_note(t->im, t->im->at,
			    "%.60s: unknown directive; "
			    "skipped",
			    name);
	else if (set[i].text && strcmp(set[i].text, value))
		import_note(t->im, t->im->at, "%s: duplicate; the first one applies", name);
	else
		set[i] = (struct tgt_value){ value, t->im->at };
	return 0;
}

static int take_directive(struct tgt *t, char *name, struct err *e)
{
	char *value = import_value(name);
	bool is_target = t->target && !t->is_disk_open;
	const struct directive *d = is_target	? directive_find(in_target, name)
				    : t->target ? NULL
						: directive_find(anywhere, name);
	if (d && d->take)
		return d->take(t, name, value, e);
	if (d)
		import_note(t->im, t->im->at, "%s: %s", name, d->why);
	else if (is_target && is_parameter(name))
		import_parameter(t->target->tpg, name, value);
	else if (t->target)
		take_setting(t, name, value);
	else
		import_note(t->im, t->im->at, "%.60s: not a directive outside of targets; skipped",
			    name);
	return 0;
}

// ---- sections ----

static int take_section(struct tgt *t, char *line, struct err *e)
{
	size_t n = strlen(line);
	if (line[n - 1] != '>')
		return import_fail(e, t->im->at, "%.60s: missing >", line);
	line[n - 1] = 0;
	char *name = line + 1, *value = import_value(name);
	import_trim_end(value);
	bool is_disk = !strcmp(name, "backing-store") || !strcmp(name, "direct-store");
	bool ends_disk = !strcmp(name, "/backing-store") || !strcmp(name, "/direct-store");
	bool is_open = t->target && !t->is_disk_open;
	if (!strcmp(name, "target") && !t->target)
		return open_target(t, value, e);
	if (is_disk && is_open)
		return open_disk(t, name, value, e);
	if (!strcmp(name, "/target") && is_open)
		t->target = NULL;
	else if (ends_disk && t->is_disk_open)
		t->is_disk_open = false;
	else
		return import_fail(e, t->im->at, "unexpected <%.40s>", name);
	return 0;
}

static int read_text(struct import *im, char *text, struct err *e)
{
	struct tgt *t = im->reader;
	const char *file = im->at.file;
	struct tgt_target *was_open = t->target;
	bool was_inside = t->is_disk_open;
	char *line;
	int r = 0;
	while (!r && (line = import_line(im, &text)))
		r = *line == '<' ? take_section(t, line, e) : take_directive(t, line, e);
	if (!r && (t->target != was_open || t->is_disk_open != was_inside))
		r = import_fail(e, t->target ? t->opened : im->at,
				"<target>: missing </target> in %.150s "
				"(</target>, </backing-store>)",
				file);
	return r;
}

static int import_tgt(struct import *im, char *text, struct err *e)
{
	struct tgt *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(e, -ENOMEM, "out of memory");
	t->im = im;
	t->by_name = json_object_new_object();
	im->reader = t;
	int r = read_text(im, text, e);
	for (unsigned i = 0; !r && i < t->target_count; i++)
		put_target(t, t->targets[i]);
	if (!r)
		import_discovery(im, &t->discovery);
	done_targets(t);
	free(t);
	return r;
}

const struct import_kind import_kind_tgt = { "tgt", "targets.conf of tgt", import_tgt };
