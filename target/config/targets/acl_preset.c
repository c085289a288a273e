// SPDX-License-Identifier: BSD-2-Clause
// Presets of an ACL: values of its attributes for a purpose, which are set and saved like others.
#include <errno.h>
#include <string.h>

#include "target/config/targets/acl.h"
#include "target/config/tree/settings.h"

static const struct fabric_settings *settings_of(const struct acl *a)
{
	return &tpg_of(&a->node)->kind->fabric()->acl;
}

// A value of the preset as attr_get() has it, of the row in rows.
static const char *value_of(const struct attr_row *rows, const struct fabric_preset_value *v)
{
	const struct attr_row *row = attr_find(rows, v->name);
	return v->text ? v->text : row ? row->default_text : "";
}

static bool is_value(const struct attr_row *rows, const void *own,
		     const struct fabric_preset_value *v)
{
	const struct attr_row *row = attr_find(rows, v->name);
	char text[64] = "";
	if (row)
		attr_get(row, own, text, sizeof text);
	return !strcmp(text, value_of(rows, v));
}

const char *acl_preset(const struct acl *a)
{
	const struct fabric_settings *s = settings_of(a);
	for (const struct fabric_preset *p = s->presets; p && p->name; p++) {
		const struct fabric_preset_value *v = p->values;
		while (v->name && is_value(s->rows, a->own, v))
			v++;
		if (!v->name)
			return p->name;
	}
	return NULL;
}

// What the ACL cannot set: of the portal group, for all its initiators.
static void say_group(const struct acl *a, const struct fabric_preset *p, struct reply *r)
{
	const struct tpg *tpg = tpg_of(&a->node);
	const struct attr_row *rows = tpg->kind->fabric()->group.rows;
	char path[600], text[64];
	node_path(&tpg->node, path, sizeof path);
	for (const struct fabric_preset_value *v = p->of_group; v && v->name; v++) {
		const struct attr_row *row = attr_find(rows, v->name);
		if (!row || is_value(rows, tpg->own, v))
			continue;
		attr_get(row, tpg->own, text, sizeof text);
		reply_say(
			r,
			"Note: %s is %s, an attribute of the portal group (%s set attribute %s=%s)",
			v->name, text, path, v->name, v->text);
	}
}

int acl_set_preset(struct config *c, struct acl *a, const char *name, struct reply *r,
		   struct err *e)
{
	const struct fabric_settings *s = settings_of(a);
	const struct fabric_preset *p = s->presets;
	while (p && p->name && strcmp(p->name, name))
		p++;
	if (!p)
		return err_set(e, -EOPNOTSUPP, "preset: ACLs of this protocol have no attributes");
	if (!p->name)
		return err_set(e, -EINVAL, "unknown preset: '%.40s' (" ACL_PRESETS ")", name);
	struct json_object *values = json_object_new_object();
	for (const struct fabric_preset_value *v = p->values; v->name; v++)
		json_put_text(values, v->name, value_of(s->rows, v));
	int code = config_set(c, &a->node, "attribute", values, r, e);
	json_object_put(values);
	if (!code)
		say_group(a, p, r);
	return code;
}

int acl_preset_command(struct config *c, struct node *n, const struct args *a, struct reply *r,
		       struct err *e)
{
	return acl_set_preset(c, NODE_OF(struct acl, n), arg(a, "name"), r, e);
}
