// SPDX-License-Identifier: BSD-2-Clause
// Groups of settings: which rows a node has, and the get and set of every node.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/model.h"

#define MASK "********"

// ---- rows ----

#define AUTH(field)                                                                                \
	offsetof(struct auth_group, auth) + offsetof(struct view_auth, field), 0, 256, ""

// clang-format off
const struct attr_row auth_rows[] = {
	{ "userid", ATTR_STRING, AUTH(userid), NULL, "name the initiator must give", NULL, 0 },
	{ "password", ATTR_STRING, AUTH(password), NULL, "secret the initiator must know", NULL,
	  ATTR_SECRET },
	{ "mutual_userid", ATTR_STRING, AUTH(mutual_userid), NULL,
	  "name the target gives when it is asked to prove itself", NULL, 0 },
	{ "mutual_password", ATTR_STRING, AUTH(mutual_password), NULL,
	  "secret the target proves it knows", NULL, ATTR_SECRET },
	{ 0 },
};

const struct attr_row discovery_rows[] = {
	{ "enable", ATTR_BOOL, offsetof(struct auth_group, enable), 0, 1, "0", NULL,
	  "1: no discovery without CHAP", NULL, 0 },
	{ "userid", ATTR_STRING, AUTH(userid), NULL, "name the initiator must give", NULL, 0 },
	{ "password", ATTR_STRING, AUTH(password), NULL, "secret the initiator must know", NULL,
	  ATTR_SECRET },
	{ "mutual_userid", ATTR_STRING, AUTH(mutual_userid), NULL,
	  "name the target gives when it is asked to prove itself", NULL, 0 },
	{ "mutual_password", ATTR_STRING, AUTH(mutual_password), NULL,
	  "secret the target proves it knows", NULL, ATTR_SECRET },
	{ 0 },
};
// clang-format on

// clang-format off
#define PREF(field) ATTR_BOOL, offsetof(struct prefs, field), 0, 1, "1", NULL

const struct attr_row pref_rows[] = {
	{ "auto_add_default_portal", PREF(auto_add_default_portal),
	  "a new portal group listens on 0.0.0.0:3260", NULL, ATTR_OWN },
	{ "auto_add_mapped_luns", PREF(auto_add_mapped_luns),
	  "new LUNs and ACLs are mapped to each other", NULL, ATTR_OWN },
	{ "auto_enable_tpgt", PREF(auto_enable_tpgt), "a new portal group lets initiators log in",
	  NULL, ATTR_OWN },
	{ "export_backstore_name_as_model", PREF(export_backstore_name_as_model),
	  "a new disk's product name is that of its storage object", NULL, ATTR_OWN },
	{ 0 },
};
// clang-format on

// TPG parameters: the keys that may be offered, then what only saved files of targetcli have.
enum { PARAM_ROWS_MAX = ISCSI_KEY_COUNT + 8 };
static struct attr_row offer_rows[PARAM_ROWS_MAX];
static struct iscsi_offer_row offer_text[PARAM_ROWS_MAX];
static char offer_help[PARAM_ROWS_MAX][160];

// clang-format off
static const struct attr_row kept_params[] = {
	{ "TargetAlias", ATTR_STRING, offsetof(struct tpg_attr, alias), 0, 256, "", NULL,
	  "a name for humans, told to initiators", NULL, 0 },
	{ "AuthMethod", ATTR_STRING, 0, 0, 64, "CHAP", NULL,
	  "the attribute authentication decides; kept in the saved file only", NULL,
	  ATTR_IGNORED },
	{ "IFMarker", ATTR_STRING, 0, 0, 16, "No", NULL, "obsolete", NULL, ATTR_IGNORED },
	{ "OFMarker", ATTR_STRING, 0, 0, 16, "No", NULL, "obsolete", NULL, ATTR_IGNORED },
	{ "IFMarkInt", ATTR_STRING, 0, 0, 16, "Reject", NULL, "obsolete", NULL, ATTR_IGNORED },
	{ "OFMarkInt", ATTR_STRING, 0, 0, 16, "Reject", NULL, "obsolete", NULL, ATTR_IGNORED },
	{ 0 },
};
// clang-format on

// Keys of RFC 7143 that rtslib does not know; it would refuse them.
static bool is_own_key(const char *name)
{
	return !strcmp(name, "TaskReporting") || !strcmp(name, "iSCSIProtocolLevel");
}

const struct attr_row *param_rows(void)
{
	unsigned at = 0, n = 0;
	if (offer_rows[0].name)
		return offer_rows;
	while (n < ISCSI_KEY_COUNT && iscsi_offer_next(&at, &offer_text[n])) {
		const struct iscsi_offer_row *o = &offer_text[n];
		snprintf(offer_help[n], sizeof offer_help[n], "%s (%s)", o->help, o->range);
		offer_rows[n] = (struct attr_row){
			.name = o->name,
			.type = ATTR_STRING,
			.max = 256,
			.default_text = o->def,
			.help = offer_help[n],
			.flags = ATTR_RESTART | (is_own_key(o->name) ? ATTR_OWN : 0),
		};
		n++;
	}
	for (const struct attr_row *row = kept_params; row->name; row++)
		offer_rows[n++] = *row;
	return offer_rows;
}

static bool is_alias(const struct attr_row *row)
{
	return !strcmp(row->name, "TargetAlias");
}

static int set_param(struct node *n, const struct attr_row *row, const char *text, struct err *e)
{
	struct tpg *tpg = NODE_OF(struct tpg, n);
	if (is_alias(row))
		return attr_set(row, &tpg->attr, text, e);
	if (!(row->flags & ATTR_IGNORED))
		return iscsi_offer_set(&tpg->offer, row->name, text, e);
	if (!n->kept)
		n->kept = json_object_new_object();
	struct json_object *params = json_field(n->kept, "parameters");
	if (!params) {
		params = json_object_new_object();
		json_object_object_add(n->kept, "parameters", params);
	}
	json_put_text(params, row->name, text);
	return 0;
}

static size_t get_param(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	struct tpg *tpg = NODE_OF(struct tpg, n);
	if (is_alias(row))
		return attr_get(row, &tpg->attr, out, size);
	out[0] = 0;
	if (row->flags & ATTR_IGNORED) {
		const char *text = json_text(json_field(n->kept, "parameters"), row->name);
		snprintf(out, size, "%s", text ? text : row->default_text);
	} else {
		iscsi_offer_get(&tpg->offer, row->name, out, size);
	}
	return strlen(out);
}

// ---- groups ----

static const struct attr_row *rows_of_storage(const struct node *n)
{
	return lu_attr_rows;
}

static const struct attr_row *rows_of_tpg(const struct node *n)
{
	return tpg_attr_rows;
}

static const struct attr_row *rows_of_params(const struct node *n)
{
	return param_rows();
}

static const struct attr_row *rows_of_acl(const struct node *n)
{
	return acl_attr_rows;
}

static const struct attr_row *rows_of_auth(const struct node *n)
{
	return auth_rows;
}

static const struct attr_row *rows_of_discovery(const struct node *n)
{
	return discovery_rows;
}

static void *storage_attr(struct node *n)
{
	return &NODE_OF(struct storage, n)->attr;
}

static void *tpg_attr(struct node *n)
{
	return &NODE_OF(struct tpg, n)->attr;
}

static void *tpg_auth(struct node *n)
{
	return &NODE_OF(struct tpg, n)->auth;
}

static void *acl_attr(struct node *n)
{
	return &NODE_OF(struct acl, n)->attr;
}

static void *acl_auth(struct node *n)
{
	return &NODE_OF(struct acl, n)->auth;
}

static void *discovery_auth(struct node *n)
{
	return &container_of(n, struct config, iscsi)->discovery;
}

static const struct attr_row *rows_of_prefs(const struct node *n)
{
	return pref_rows;
}

static void *prefs(struct node *n)
{
	return &container_of(n, struct config, root)->prefs;
}

// As targetcli shows them.
static size_t get_pref(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	attr_get(row, prefs(n), out, size);
	return (size_t)snprintf(out, size, "%s", *out == '1' ? "true" : "false");
}

static int check_creds(const char *what, const char *user, const char *password, struct err *e)
{
	if (!strcmp(user, "NULL") || !strcmp(password, "NULL"))
		return err_set(e, -EINVAL, "%s: NULL is no value (set it to nothing to unset it)",
			       what);
	return 0;
}

static int check_auth(struct config *c, struct node *n, struct err *e)
{
	const struct view_auth *v = n == &c->iscsi	     ? &c->discovery.auth
				    : n->class == &tpg_class ? &NODE_OF(struct tpg, n)->auth.auth
							     : &NODE_OF(struct acl, n)->auth.auth;
	int r = check_creds("auth", v->userid, v->password, e);
	if (!r)
		r = check_creds("mutual auth", v->mutual_userid, v->mutual_password, e);
	if (!r && v->password[0] && !strcmp(v->password, v->mutual_password))
		r = err_set(e, -EINVAL,
			    "auth: the two directions cannot have the same password (RFC 7143, "
			    "9.2.1)");
	if (!r && n == &c->iscsi && c->discovery.enable && (!v->userid[0] || !v->password[0]))
		r = err_set(e, -EINVAL,
			    "discovery_auth: enable needs userid and password (set them in the "
			    "same command)");
	c->is_view_dirty |= n == &c->iscsi;
	return r;
}

// "10.0.0.0/8,fd00::/16": what the login looks at later must be sound now.
static int check_addresses(const char *list, struct err *e)
{
	char text[sizeof(((struct tpg_attr *)0)->allowed_addresses)], *rest = text, *item;
	snprintf(text, sizeof text, "%s", list);
	while ((item = strsep(&rest, ","))) {
		struct tcp_addr addr;
		char *slash = strchr(item, '/');
		if (slash)
			*slash++ = 0;
		item += strspn(item, " ");
		if (!*item && !slash && !*list)
			continue;
		int r = tcp_addr_parse(&addr, item, 0, e);
		int max = !r && addr.sa.sa_family == AF_INET ? 32 : 128;
		if (!r && slash && number_of(slash, "", max) < 0)
			r = err_set(e, -EINVAL, "'%s' is no prefix length (0..%d)", slash, max);
		if (r < 0)
			return err_prefix(e, "allowed_addresses"), -EINVAL;
	}
	return 0;
}

static int check_tpg(struct config *c, struct node *n, struct err *e)
{
	return check_addresses(NODE_OF(struct tpg, n)->attr.allowed_addresses, e);
}

static int check_storage(struct config *c, struct node *n, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	return s->lu ? lu_attr_check(&s->attr, &s->lu->bs->limits, e) : 0;
}

// A setting of the open storage object. One that is read when the storage opens takes effect
// by opening it again, which nobody may be using then.
static int apply_storage(struct config *c, struct node *n, const struct attr_row *row,
			 const char *text, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	if (!s->lu || row->flags & ATTR_IGNORED)
		return 0;
	if (!(row->flags & ATTR_RESTART))
		return lu_attr_apply(s->lu, row, text, e);
	if (s->lun_count)
		return err_set(e, -EBUSY,
			       "%s: cannot change while %u LUNs use %s (delete them first)",
			       row->name, s->lun_count, n->name);
	return 0;
}

const struct group_row root_groups[] = {
	{.name = "global",
	  .rows = rows_of_prefs,
	  .base = prefs,
	  .size = sizeof(struct prefs),
	  .get = get_pref },
	{ 0   },
};
const struct group_row storage_groups[] = {
	{.name = "attribute",
	  .rows = rows_of_storage,
	  .base = storage_attr,
	  .size = sizeof(struct lu_attr),
	  .check = check_storage,
	  .apply = apply_storage },
	{ 0},
};
const struct group_row tpg_groups[] = {
	{.name = "attribute",
	  .rows = rows_of_tpg,
	  .base = tpg_attr,
	  .size = sizeof(struct tpg_attr),
	  .check = check_tpg },
 // The alias lies in the attributes, so both structs are what undo brings back.
	{ .name = "parameter",
	  .rows = rows_of_params,
	  .base = tpg_attr,
	  .size = offsetof(struct tpg, offer) + sizeof(struct iscsi_offer) -
		  offsetof(struct tpg, attr),
	  .set = set_param,
	  .get = get_param },
	{ .name = "auth",
	  .rows = rows_of_auth,
	  .base = tpg_auth,
	  .size = sizeof(struct auth_group),
	  .check = check_auth },
	{ 0},
};
const struct group_row acl_groups[] = {
	{.name = "attribute",
	  .rows = rows_of_acl,
	  .base = acl_attr,
	  .size = sizeof(struct acl_attr) },
	{ .name = "auth",
	  .rows = rows_of_auth,
	  .base = acl_auth,
	  .size = sizeof(struct auth_group),
	  .check = check_auth },
	{ 0		 },
};
const struct group_row iscsi_groups[] = {
	{.name = "discovery_auth",
	  .rows = rows_of_discovery,
	  .base = discovery_auth,
	  .size = sizeof(struct auth_group),
	  .check = check_auth },
	{ 0  },
};

// ---- get and set of every node ----

const struct group_row *group_find(const struct node_class *class, const char *name)
{
	for (const struct group_row *g = class->groups; g && g->name; g++)
		if (!strcmp(g->name, name))
			return g;
	return NULL;
}

size_t group_get(const struct group_row *g, struct node *n, const struct attr_row *row, char *out,
		 size_t size)
{
	return g->get ? g->get(n, row, out, size) : attr_get(row, g->base(n), out, size);
}

int group_set(const struct group_row *g, struct node *n, const struct attr_row *row,
	      const char *text, struct err *e)
{
	return g->set ? g->set(n, row, text, e) : attr_set(row, g->base(n), text, e);
}

// The root's group is every node's; *n becomes the node that has the group.
static const struct group_row *want_group(struct config *c, struct node **n, const char *name,
					  struct err *e)
{
	const struct group_row *g = group_find((*n)->class, name);
	if (g)
		return g;
	*n = &c->root;
	g = group_find(&root_class, name);
	if (!g)
		err_set(e, -ENOENT, "Unknown configuration group: %.60s", name);
	return g;
}

static const struct attr_row *want_row(const struct group_row *g, const struct node *n,
				       const char *name, struct err *e)
{
	const struct attr_row *row = attr_find(g->rows(n), name);
	if (!row)
		err_set(e, -ENOENT, "Unknown parameter %.60s in group '%s'.", name, g->name);
	return row;
}

static struct json_object *row_schema(const struct attr_row *row)
{
	static const char *const types[] = {
		[ATTR_BOOL] = "bool",  [ATTR_UINT] = "number", [ATTR_UINT64] = "number",
		[ATTR_INT] = "number", [ATTR_ENUM] = "choice", [ATTR_STRING] = "string",
	};
	struct json_object *o = json_object_new_object();
	char range[256];
	attr_range(row, range, sizeof range);
	json_put_text(o, "name", row->name);
	json_put_text(o, "type", types[row->type]);
	json_put_text(o, "range", range);
	json_put_text(o, "default", row->default_text);
	json_put_text(o, "unit", row->unit);
	json_put_text(o, "help", row->help);
	if (row->flags & ATTR_READONLY)
		json_object_object_add(o, "readonly", json_object_new_boolean(1));
	if (row->flags & ATTR_RESTART)
		json_object_object_add(o, "needs_restart", json_object_new_boolean(1));
	if (row->flags & ATTR_SECRET)
		json_object_object_add(o, "secret", json_object_new_boolean(1));
	if (row->flags & ATTR_IGNORED)
		json_object_object_add(o, "ignored", json_object_new_boolean(1));
	return o;
}

struct json_object *group_schema(const struct group_row *g, const struct node *n)
{
	struct json_object *list = json_object_new_array();
	for (const struct attr_row *row = g->rows(n); row->name; row++)
		json_object_array_add(list, row_schema(row));
	return list;
}

static void add_value(struct json_object *list, const struct group_row *g, struct node *n,
		      const struct attr_row *row)
{
	char text[1024];
	struct json_object *o = row_schema(row);
	group_get(g, n, row, text, sizeof text);
	json_put_text(o, "value", row->flags & ATTR_SECRET && *text ? MASK : text);
	explicit_bzero(text, sizeof text);
	json_object_array_add(list, o);
}

// get [group] [name]: rows with their values; without a group the names of the groups.
int config_get(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e)
{
	const char *name = arg(a, "parameter");
	if (!arg(a, "group")) {
		r->data = json_object_new_object();
		struct json_object *list = json_object_new_array();
		json_object_object_add(r->data, "groups", list);
		for (const struct group_row *g = n->class->groups; g && g->name; g++)
			json_object_array_add(list, json_object_new_string(g->name));
		if (n != &c->root)
			json_object_array_add(list, json_object_new_string(root_groups[0].name));
		return 0;
	}
	const struct group_row *g = want_group(c, &n, arg(a, "group"), e);
	const struct attr_row *row = g && name ? want_row(g, n, name, e) : NULL;
	if (!g || (name && !row))
		return -ENOENT;
	if (g->refresh)
		g->refresh(n);
	r->data = json_object_new_object();
	struct json_object *list = json_object_new_array();
	json_put_text(r->data, "group", g->name);
	json_object_object_add(r->data, "rows", list);
	for (const struct attr_row *it = row ? row : g->rows(n); it->name; it++) {
		add_value(list, g, n, it);
		if (row)
			break;
	}
	return 0;
}

static int apply(struct config *c, const struct group_row *g, struct node *n,
		 const struct attr_row *row, const char *old, struct err *e)
{
	char text[1024];
	if (!g->apply)
		return 0;
	group_get(g, n, row, text, sizeof text);
	int r = g->apply(c, n, row, text, e);
	if (!r && txn_applied(c, n, g, row, old) < 0) {
		g->apply(c, n, row, old, NULL);
		r = err_set(e, -ENOMEM, "%s: out of memory", row->name);
	}
	return r;
}

// Sets one value. *ret_reopens: it is read when the storage opens.
static int set_one(struct config *c, const struct group_row *g, struct node *n, const char *name,
		   const char *text, struct err *e)
{
	const struct attr_row *row = want_row(g, n, name, e);
	if (!row)
		return -ENOENT;
	if (row->flags & ATTR_READONLY)
		return err_set(e, -EPERM, "Parameter %s is read-only.", name);
	if (!text)
		return err_set(e, -EINVAL, "%s: is neither text, number nor boolean", name);
	return group_set(g, n, row, text, e);
}

static bool must_reopen(const struct group_row *g, const struct node *n, struct json_object *values)
{
	if (n->class != &storage_class || !NODE_OF(const struct storage, n)->lu)
		return false;
	json_object_object_foreach(values, name, value)
	{
		(void)value;
		const struct attr_row *row = attr_find(g->rows(n), name);
		if (row && row->flags & ATTR_RESTART && !(row->flags & ATTR_IGNORED))
			return true;
	}
	return false;
}

static void say_values(const struct group_row *g, struct node *n, struct json_object *values,
		       struct reply *r)
{
	json_object_object_foreach(values, name, value)
	{
		(void)value;
		const struct attr_row *row = attr_find(g->rows(n), name);
		char text[1024];
		group_get(g, n, row, text, sizeof text);
		reply_say(r, "Parameter %s is now '%s'.", name,
			  row->flags & ATTR_SECRET && *text ? MASK : text);
		if (!strcmp(name, "password") || !strcmp(name, "mutual_password"))
			if (*text && strlen(text) < 12)
				reply_say(r,
					  "Warning: %s is shorter than the 12 characters that "
					  "RFC 7143 asks for.",
					  name);
		explicit_bzero(text, sizeof text);
	}
}

// Every value is set, then the whole is checked, then brought to what runs: one misfit and
// nothing has changed.
int config_set(struct config *c, struct node *n, const char *group, struct json_object *values,
	       struct reply *r, struct err *e)
{
	const struct group_row *g = want_group(c, &n, group, e);
	if (!g)
		return -ENOENT;
	if (g->refresh)
		g->refresh(n);
	char *before = malloc(g->offset + g->size);
	int code = before ? txn_memory(c, (char *)g->base(n) + g->offset, g->size) : -ENOMEM;
	bool is_memory = !code;
	if (is_memory)
		memcpy(before, g->base(n), g->offset + g->size);
	json_object_object_foreach(values, name, value)
	{
		if (!code)
			code = set_one(c, g, n, name, json_scalar(value), e);
	}
	if (!code && g->check)
		code = g->check(c, n, e);
	json_object_object_foreach(values, key, unused)
	{
		(void)unused;
		const struct attr_row *row = attr_find(g->rows(n), key);
		char old[1024] = "";
		if (!code && !g->get && row)
			attr_get(row, before, old, sizeof old);
		if (!code && row)
			code = apply(c, g, n, row, old, e);
	}
	if (before)
		explicit_bzero(before, g->offset + g->size);
	free(before);
	bool reopens = !code && must_reopen(g, n, values);
	if (!code)
		model_dirty(c, n);
	if (!code && r)
		say_values(g, n, values, r);
	code = config_finish(c, code, e);
	if (!code && reopens) {
		struct err why = { .text = "opening again for a changed setting" };
		storage_release(NODE_OF(struct storage, n));
		storage_wait(NODE_OF(struct storage, n), &why);
	}
	return code;
}
