// SPDX-License-Identifier: BSD-2-Clause
// Groups of settings as rows: the settings of each node, how they are checked and applied. Control
// thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/model.h"
#include "target/config/secret.h"

#define AUTH(field)                                                                                \
	offsetof(struct auth_group, auth) + offsetof(struct view_auth, field), 0, 256, ""

#define AUTH_FILE(field) offsetof(struct auth_group, field), 0, 256, ""

// clang-format off
#define AUTH_ROWS \
	{ "userid", ATTR_STRING, AUTH(userid), NULL, "user name of the initiator", NULL, 0 }, \
	{ "password", ATTR_STRING, AUTH(password), NULL, "secret of the initiator, at least 12 characters; + generates one", NULL, \
	  ATTR_SECRET }, \
	{ "mutual_userid", ATTR_STRING, AUTH(mutual_userid), NULL, \
	  "user name of the target (mutual CHAP)", NULL, 0 }, \
	{ "mutual_password", ATTR_STRING, AUTH(mutual_password), NULL, \
	  "secret of the target (mutual CHAP), at least 12 characters; + generates one", NULL, ATTR_SECRET }, \
	{ "password_file", ATTR_STRING, AUTH_FILE(password_file), NULL, \
	  "file of mode 0600 whose first line is the password; only its path is saved", NULL, \
	  ATTR_OWN }, \
	{ "mutual_password_file", ATTR_STRING, AUTH_FILE(mutual_password_file), NULL, \
	  "file for mutual_password, as password_file", NULL, ATTR_OWN }

const struct attr_row auth_rows[] = {
	AUTH_ROWS,
	{ 0 },
};

const struct attr_row discovery_rows[] = {
	{ "enable", ATTR_BOOL, offsetof(struct auth_group, enable), 0, 1, "0", NULL,
	  "1: discovery requires CHAP", NULL, 0 },
	AUTH_ROWS,
	{ 0 },
};
// clang-format on

// clang-format off
#define PREF(field) ATTR_BOOL, offsetof(struct prefs, field), 0, 1, "1", NULL

const struct attr_row pref_rows[] = {
	{ "auto_add_default_portal", PREF(auto_add_default_portal),
	  "create portal 0.0.0.0:3260 with a portal group", NULL, ATTR_OWN, "true or false" },
	{ "auto_add_mapped_luns", PREF(auto_add_mapped_luns),
	  "map new LUNs in all ACLs, and all LUNs in new ACLs", NULL, ATTR_OWN, "true or false" },
	{ "auto_enable_tpgt", PREF(auto_enable_tpgt), "enable new portal groups",
	  NULL, ATTR_OWN, "true or false" },
	{ "export_backstore_name_as_model", PREF(export_backstore_name_as_model),
	  "use the storage object's name as SCSI product name of new disks", NULL, ATTR_OWN, "true or false" },
	{ "max_backup_files", ATTR_UINT, offsetof(struct prefs, max_backup_files), 0, 1000, "10", NULL,
	  "number of changes that undo can revert; as many older backups are kept, a minute apart", NULL,
	  ATTR_OWN },
	{ 0 },
};
// clang-format on

// TPG parameters: the keys that can be offered, then those that only saved files of targetcli have.
enum { PARAM_ROWS_MAX = ISCSI_KEY_COUNT + 8 };
static struct attr_row offer_rows[PARAM_ROWS_MAX];
static struct iscsi_offer_row offer_text[PARAM_ROWS_MAX];

// Candidates of completion for a key with this range; NULL: none.
static const char *const *offer_choices(const char *range)
{
	static const char *const yes_no[] = { "Yes", "No", NULL };
	static const char *const digests[] = { "None", "CRC32C", "None,CRC32C", "CRC32C,None",
					       NULL };
	static const struct {
		const char *range;
		const char *const *choices;
	} known[] = {
		{"Yes or No",    yes_no },
		{ "None,CRC32C", digests},
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strcmp(known[i].range, range))
			return known[i].choices;
	return NULL;
}

// clang-format off
static const struct attr_row kept_params[] = {
	{ "TargetAlias", ATTR_STRING, offsetof(struct tpg_attr, alias), 0, 256, "", NULL,
	  "description shown to initiators", NULL, 0 },
	{ "AuthMethod", ATTR_STRING, 0, 0, 64, "CHAP", NULL,
	  "authentication methods", NULL,
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
		offer_rows[n] = (struct attr_row){
			.name = o->name,
			.type = ATTR_STRING,
			.max = 256,
			.default_text = o->def,
			.help = o->help,
			.choices = offer_choices(o->range),
			.flags = ATTR_RESTART | (is_own_key(o->name) ? ATTR_OWN : 0),
			.range = o->range,
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

static void *portal_attr(struct node *n)
{
	return &NODE_OF(struct portal_node, n)->attr;
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

static void *prefs(struct node *n)
{
	return &container_of(n, struct config, root)->prefs;
}

// In targetcli's form.
static size_t get_pref(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	size_t len = attr_get(row, prefs(n), out, size);
	if (row->type != ATTR_BOOL)
		return len;
	return (size_t)snprintf(out, size, "%s", *out == '1' ? "true" : "false");
}

static int check_creds(const char *what, const char *user, const char *password, struct err *e)
{
	if (!strcmp(user, "NULL") || !strcmp(password, "NULL"))
		return err_set(e, -EINVAL,
			       "%s: NULL is not a value (set it to nothing to unset it)", what);
	return 0;
}

static int check_auth(struct config *c, struct node *n, struct err *e)
{
	const struct auth_group *a = n == &c->iscsi	      ? &c->discovery
				     : n->class == &tpg_class ? &NODE_OF(struct tpg, n)->auth
							      : &NODE_OF(struct acl, n)->auth;
	struct view_auth v;
	int r = secret_fill(a, &v, e);
	if (!r)
		r = check_creds("auth", v.userid, v.password, e);
	if (!r)
		r = check_creds("mutual auth", v.mutual_userid, v.mutual_password, e);
	if (!r && v.password[0] && !strcmp(v.password, v.mutual_password))
		r = err_set(e, -EINVAL,
			    "auth: the two directions cannot have the same password (RFC 7143, "
			    "9.2.1)");
	if (!r && n == &c->iscsi && c->discovery.enable && (!v.userid[0] || !v.password[0]))
		r = err_set(e, -EINVAL,
			    "discovery_auth: enable needs userid and password (set them in the "
			    "same command)");
	explicit_bzero(&v, sizeof v);
	c->is_view_dirty |= n == &c->iscsi;
	return r;
}

// Checked now, since logins rely on it.
static int addresses_check(const char *list, struct err *e)
{
	int r = tcp_addr_list_check(list, e);
	return r < 0 ? err_prefix(e, "allowed_addresses"), r : 0;
}

// "name:port", where the port may be absent: a name has a letter, or it is a mistyped address.
static bool is_host_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");
	bool has_port = text[n] == ':';
	return strcspn(text, letters) < n && *text != '.' && *text != '-' &&
	       (has_port ? number_of(text + n + 1, "", 65535) > 0 : !text[n]);
}

// What a login redirected there is sent as TargetAddress (RFC 7143, 13.8): IPv6 in brackets.
static int check_redirect(const char *text, struct err *e)
{
	struct tcp_addr addr;
	const char *colon = strchr(text, ':');
	bool is_bare = *text != '[' && colon && strchr(colon + 1, ':');
	if (!*text || is_host_name(text) ||
	    (!is_bare && !tcp_addr_parse(&addr, text, 0, NULL) && !tcp_addr_is_wildcard(&addr)))
		return 0;
	return err_set(e, -EINVAL,
		       "redirect: '%.60s' is not an address (such as 192.0.2.1:3260, "
		       "[2001:db8::1]:3260 or host.example:3260)",
		       text);
}

static int check_tpg(struct config *c, struct node *n, struct err *e)
{
	const struct tpg_attr *attr = &NODE_OF(struct tpg, n)->attr;
	int r = addresses_check(attr->allowed_addresses, e);
	return r ? r : check_redirect(attr->redirect, e);
}

static int check_storage(struct config *c, struct node *n, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	return s->lu ? lu_attr_check(&s->attr, &s->lu->bs->limits, e) : 0;
}

// A setting of the open storage object. A setting read at open takes effect by reopening the
// storage, which must not be in use.
static int apply_storage(struct config *c, struct node *n, const struct attr_row *row,
			 const char *text, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	if (!s->lu || row->flags & ATTR_IGNORED)
		return 0;
	if (!(row->flags & ATTR_RESTART))
		return lu_attr_apply(s->lu, row, text, e);
	if (s->lun_count)
		return err_set(
			e, -EBUSY, "%s: cannot change while %u LUN%s %s (delete the LUNs first)",
			row->name, s->lun_count, s->lun_count == 1 ? " uses" : "s use", n->name);
	if (storage_loses_data(s))
		return err_set(e, -EBUSY,
			       "%s: the data of RAM disk %s would be lost (delete and create it)",
			       row->name, n->name);
	return 0;
}

const struct group_row root_groups[] = {
	{.name = "global",
	  .rows = pref_rows,
	  .base = prefs,
	  .size = sizeof(struct prefs),
	  .is_worded = true,
	  .get = get_pref },
	{ 0   },
};
const struct group_row storage_groups[] = {
	{.name = "attribute",
	  .rows = lu_attr_rows,
	  .base = storage_attr,
	  .size = sizeof(struct lu_attr),
	  .check = check_storage,
	  .apply = apply_storage },
	{ 0},
};
const struct group_row tpg_groups[] = {
	{.name = "attribute",
	  .rows = tpg_attr_rows,
	  .base = tpg_attr,
	  .size = sizeof(struct tpg_attr),
	  .check = check_tpg },
 // The alias is in the attributes, so undo restores both structs.
	{ .name = "parameter",
	  .base = tpg_attr,
	  .size = offsetof(struct tpg, offer) + sizeof(struct iscsi_offer) -
		  offsetof(struct tpg, attr),
	  .set = set_param,
	  .get = get_param },
	{ .name = "auth",
	  .rows = auth_rows,
	  .base = tpg_auth,
	  .size = sizeof(struct auth_group),
	  .check = check_auth },
	{ 0},
};
const struct group_row acl_groups[] = {
	{.name = "attribute",
	  .rows = acl_attr_rows,
	  .base = acl_attr,
	  .size = sizeof(struct acl_attr) },
	{ .name = "parameter",
	  .rows = negotiated_rows,
	  .base = acl_attr,
	  .size = sizeof(struct acl_attr),
	  .get = negotiated_get },
	{ .name = "auth",
	  .rows = auth_rows,
	  .base = acl_auth,
	  .size = sizeof(struct auth_group),
	  .check = check_auth },
	{ 0},
};
const struct group_row portal_groups[] = {
	{.name = "attribute",
	  .rows = portal_attr_rows,
	  .base = portal_attr,
	  .size = sizeof(struct portal_attr) },
	{ 0},
};
const struct group_row iscsi_groups[] = {
	{.name = "discovery_auth",
	  .rows = discovery_rows,
	  .base = discovery_auth,
	  .size = sizeof(struct auth_group),
	  .check = check_auth },
	{ 0  },
};
