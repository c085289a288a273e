// SPDX-License-Identifier: BSD-2-Clause
// boot-info: finds a LUN, the initiator it is for, and its settings.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/boot/boot.h"
#include "transport/iscsi/name.h"
#include "transport/srp/name.h"

struct json_object *boot_node(const struct boot *b, const char *path)
{
	struct json_object *o = NULL;
	struct err ignored;
	return shell_call(b->s, "tree.info", params_at(path), &o, &ignored) < 0 ? NULL : o;
}

// ---- settings ----

struct json_object *boot_settings_of(const struct boot *b, const char *path, const char *group)
{
	struct json_object *o = NULL, *params = params_at(path), *rows = NULL;
	struct err ignored;
	json_object_object_add(params, "group", json_object_new_string(group));
	if (!shell_call(b->s, "tree.get", params, &o, &ignored))
		rows = json_object_get(json_field(o, "rows"));
	json_object_put(o);
	return rows;
}

const char *boot_setting(struct json_object *rows, const char *name)
{
	json_each (row, rows)
		if (!strcmp(text_field(row, "name"), name))
			return text_field(row, "value");
	return "";
}

bool boot_flag(struct json_object *rows, const char *name)
{
	return boot_number(rows, name) > 0;
}

long boot_number(struct json_object *rows, const char *name)
{
	return strtol(boot_setting(rows, name), NULL, 10);
}

bool boot_needs_chap(const struct boot *b)
{
	long own = b->has_acl ? boot_number(b->settings.acl_attr, "authentication") : -1;
	return own < 0 ? boot_flag(b->settings.group_attr, "authentication") : own > 0;
}

static void read_settings(struct boot *b)
{
	struct boot_settings *t = &b->settings;
	char acl[BOOT_PATH_SIZE + BOOT_NAME_SIZE + 8];
	snprintf(acl, sizeof acl, "%s/acls/%s", b->group, b->initiator);
	t->group_attr = boot_settings_of(b, b->group, "attribute");
	t->group_auth = boot_settings_of(b, b->group, "auth");
	if (b->has_acl) {
		t->acl_attr = boot_settings_of(b, acl, "attribute");
		t->acl_auth = boot_settings_of(b, acl, "auth");
	}
	t->discovery = boot_settings_of(b, "/iscsi", "discovery_auth");
	struct json_object *auth =
		*boot_setting(t->acl_auth, "userid") ? t->acl_auth : t->group_auth;
	if (b->is_srp || !boot_needs_chap(b))
		return;
	snprintf(b->user, sizeof b->user, "%s", boot_setting(auth, "userid"));
	snprintf(b->mutual_user, sizeof b->mutual_user, "%s", boot_setting(auth, "mutual_userid"));
}

// ---- the initiator ----

// The ACL in the path of a mapped LUN.
static void acl_of(const struct boot *b, const char *mapped, char ret[BOOT_NAME_SIZE])
{
	const char *at = mapped + strlen(b->group) + strlen("/acls/");
	snprintf(ret, BOOT_NAME_SIZE, "%.*s", (int)strcspn(at, "/"), at);
}

static bool is_below_group(const struct boot *b, const char *path)
{
	size_t n = strlen(b->group);
	return !strncmp(path, b->group, n) && !strncmp(path + n, "/acls/", 6);
}

// Without a name: the first ACL that the LUN is mapped to.
static void choose_initiator(struct boot *b, struct json_object *mapped)
{
	char name[BOOT_NAME_SIZE], others[160] = "";
	unsigned count = 0;
	json_each (one, mapped) {
		const char *path = json_object_get_string(one);
		if (!path || !is_below_group(b, path))
			continue;
		acl_of(b, path, name);
		if (!count++)
			snprintf(b->initiator, sizeof b->initiator, "%s", name);
		else if (count == 2)
			snprintf(others, sizeof others, "%.150s", name);
	}
	b->is_known = count;
	if (!count)
		snprintf(b->initiator, sizeof b->initiator, "INITIATOR");
	else if (count > 1)
		boot_warn(b,
			  "%u ACLs map this LUN: the lines are for %.100s (initiator=NAME chooses "
			  "another, such as %.100s)",
			  count, b->initiator, others);
}

static int take_initiator(struct boot *b, const char *given, struct err *e)
{
	b->is_known = true;
	return b->is_srp ? name_srpt_initiator(given, b->initiator, e)
			 : name_iscsi(given, false, b->initiator, e);
}

// The number under which the initiator sees the LUN, and whether it may write.
static void find_mapping(struct boot *b, struct json_object *mapped)
{
	char name[BOOT_NAME_SIZE];
	b->lun = b->tpg_lun;
	json_each (one, mapped) {
		const char *path = json_object_get_string(one);
		if (b->is_mapped || !path || !is_below_group(b, path))
			continue;
		acl_of(b, path, name);
		if (strcmp(name, b->initiator))
			continue;
		struct json_object *o = boot_node(b, path);
		b->is_mapped = true;
		b->lun = (unsigned)number_field(o, "lun");
		b->is_readonly = flag_field(o, "write_protect");
		json_object_put(o);
	}
}

static void look_at_acl(struct boot *b, struct json_object *mapped)
{
	char path[BOOT_PATH_SIZE + BOOT_NAME_SIZE + 8];
	snprintf(path, sizeof path, "%s/acls/%s", b->group, b->initiator);
	struct json_object *acl = b->is_known ? boot_node(b, path) : NULL;
	b->has_acl = acl;
	json_object_put(acl);
	find_mapping(b, mapped);
	read_settings(b);
	b->is_open = boot_flag(b->settings.group_attr, "generate_node_acls");
	if (b->has_acl)
		b->is_readonly |= boot_flag(b->settings.group_attr, "prod_mode_write_protect");
	else if (b->is_open)
		b->is_readonly = boot_flag(b->settings.group_attr, "demo_mode_write_protect");
}

// ---- the LUN ----

// Splits /iscsi/TARGET/tpgN/luns/lunN or /srpt/TARGET/luns/lunN.
static int take_path(struct boot *b, const char *path, struct err *e)
{
	const char *luns = strstr(path, "/luns/lun"), *slash = strchr(path + 1, '/');
	if (!luns || !slash || strlen(path) >= sizeof b->path)
		return err_set(e, -EPROTO, "boot-info: unexpected path of a LUN: '%.120s'", path);
	b->is_srp = !strncmp(path, "/srpt/", strlen("/srpt/"));
	snprintf(b->path, sizeof b->path, "%s", path);
	snprintf(b->group, sizeof b->group, "%.*s", (int)(luns - path), path);
	snprintf(b->target, sizeof b->target, "%.*s", (int)strcspn(slash + 1, "/"), slash + 1);
	const char *tag = b->is_srp ? NULL : strstr(b->group + (slash - path) + 1, "/tpg");
	b->tpg = tag ? (unsigned)strtoul(tag + strlen("/tpg"), NULL, 10) : 1;
	b->tpg_lun = (unsigned)strtoul(luns + strlen("/luns/lun"), NULL, 10);
	return 0;
}

// The LUN that a mapped LUN, given by its path, stands for; its ACL is the initiator.
static int unmap(struct boot *b, const char *path, struct json_object *node, const char **initiator,
		 char lun[BOOT_PATH_SIZE], struct err *e)
{
	const char *acls = strstr(path, "/acls/");
	if (!acls)
		return err_set(e, -EPROTO, "boot-info: unexpected path: '%.120s'", path);
	if (!*initiator) {
		const char *name = acls + strlen("/acls/");
		snprintf(b->initiator, sizeof b->initiator, "%.*s", (int)strcspn(name, "/"), name);
		*initiator = b->initiator;
	}
	snprintf(lun, BOOT_PATH_SIZE, "%.*s/luns/lun%lld", (int)(acls - path), path,
		 (long long)number_field(node, "tpg_lun"));
	return 0;
}

// The only path of a list.
static int take_only(struct json_object *list, const char *of, char lun[BOOT_PATH_SIZE],
		     struct err *e)
{
	size_t count = json_count(list);
	const char *first = json_object_get_string(json_object_array_get_idx(list, 0));
	if (!count || !first)
		return err_set(e, -ENOENT,
			       "%.160s: no LUN (create one with luns create, or export)", of);
	if (count > 1)
		return err_set(e, -EINVAL, "%.160s: %zu LUNs (name one, such as %.160s)", of, count,
			       first);
	snprintf(lun, BOOT_PATH_SIZE, "%s", first);
	return 0;
}

// Of a target, a portal group or its luns: the paths of the LUNs below.
static void collect(struct json_object *tree, const char *path, struct json_object *list)
{
	json_each (child, json_field(tree, "children")) {
		char below[BOOT_PATH_SIZE];
		const char *name = text_field(child, "name");
		snprintf(below, sizeof below, "%s/%s", path, name);
		if (!strcmp(text_field(child, "class"), "lun"))
			json_object_array_add(list, json_object_new_string(below));
		else if (strcmp(name, "acls") && strcmp(name, "portals"))
			collect(child, below, list);
	}
}

static int look_below(struct boot *b, const char *path, char lun[BOOT_PATH_SIZE], struct err *e)
{
	struct json_object *tree = NULL, *list = json_object_new_array();
	int r = shell_call(b->s, "tree.ls", params_at(path), &tree, e);
	if (!r) {
		collect(tree, path, list);
		r = take_only(list, path, lun, e);
	}
	json_object_put(list);
	json_object_put(tree);
	return r;
}

static int find_lun(struct boot *b, const char *path, const char **initiator,
		    char lun[BOOT_PATH_SIZE], struct err *e)
{
	static const char *const above[] = { "target", "tpg", "srpt_target", "luns", NULL };
	struct json_object *node = NULL;
	int r = shell_call(b->s, "tree.info", params_at(path), &node, e);
	if (r < 0)
		return r;
	const char *class = text_field(node, "class"), *const *a = above;
	while (*a && strcmp(*a, class))
		a++;
	if (!strcmp(class, "lun"))
		snprintf(lun, BOOT_PATH_SIZE, "%s", path);
	else if (!strcmp(class, "mapped_lun"))
		r = unmap(b, path, node, initiator, lun, e);
	else if (!strcmp(class, "storage"))
		r = take_only(json_field(node, "luns"), path, lun, e);
	else if (*a)
		r = look_below(b, path, lun, e);
	else
		r = err_set(e, -EINVAL,
			    "'%.200s' is not a LUN (such as /iscsi/TARGET/tpg1/luns/lun0)", path);
	json_object_put(node);
	return r;
}

int boot_find(struct boot *b, const char *path, const char *initiator, struct err *e)
{
	char lun[BOOT_PATH_SIZE];
	struct json_object *node = NULL;
	int r = find_lun(b, path, &initiator, lun, e);
	if (!r)
		r = take_path(b, lun, e);
	if (!r && initiator && initiator != b->initiator)
		r = take_initiator(b, initiator, e);
	else if (initiator)
		b->is_known = true;
	if (!r)
		r = shell_call(b->s, "tree.info", params_at(lun), &node, e);
	if (r < 0)
		return r;
	snprintf(b->storage, sizeof b->storage, "%s", text_field(node, "storage_object"));
	if (!initiator)
		choose_initiator(b, json_field(node, "mapped_luns"));
	look_at_acl(b, json_field(node, "mapped_luns"));
	json_object_put(node);
	return 0;
}
