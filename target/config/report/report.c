// SPDX-License-Identifier: BSD-2-Clause
// Tree and schema as JSON.

#include <stdlib.h>
#include <string.h>

#include "target/config/report/report.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/targets.h"
#include "target/config/tree/settings.h"

// ---- tree ----

static void put_key(struct json_text *t, const char *key, const char *text)
{
	json_text_put(t, key);
	json_text_string(t, text);
}

// The unit serial of the node or of the object it stands for; NULL: none.
static const char *serial_of(const struct node *n)
{
	const struct lun *l = n->class == &lun_class ? NODE_OF(const struct lun, n) : NULL;
	if (n->class == &mapped_lun_class)
		l = NODE_OF(const struct mapped_lun, n)->lun;
	if (n->class == &storage_class)
		return NODE_OF(const struct storage, n)->wwn;
	return l && l->storage ? l->storage->wwn : NULL;
}

// depth: levels below n, negative: all.
static void tree(struct config *c, const struct node *n, int depth, bool has_serials,
		 struct json_text *t)
{
	struct summary s;
	tree_summary(c, n, &s);
	const char *serial = has_serials ? serial_of(n) : NULL;
	put_key(t, "{\"name\":", n->parent ? n->name : "/");
	put_key(t, ",\"class\":", n->class->name);
	put_key(t, ",\"summary\":", s.text);
	if (s.is_healthy || s.is_broken)
		json_text_put(t, s.is_healthy ? ",\"healthy\":true" : ",\"healthy\":false");
	if (s.warning)
		put_key(t, ",\"warning\":", s.warning);
	if (serial && *serial)
		put_key(t, ",\"serial\":", serial);
	if (depth) {
		json_text_put(t, ",\"children\":[");
		struct node **list = node_sorted(n);
		for (unsigned i = 0; list && i < n->child_count; i++) {
			json_text_put(t, i ? "," : "");
			tree(c, list[i], depth - 1, has_serials, t);
		}
		free(list);
		json_text_put(t, "]");
	}
	json_text_put(t, "}");
}

struct json_object *config_tree(struct config *c, const struct node *n, int depth, bool has_serials)
{
	struct json_text t = { 0 };
	tree(c, n, depth ? depth : -1, has_serials, &t);
	return json_of_text(&t);
}

// ---- schema ----

static struct json_object *params_json(const struct param_row *rows)
{
	static const char *const types[] = {
		[PARAM_STRING] = "string",   [PARAM_NUMBER] = "number",
		[PARAM_BOOL] = "bool",	     [PARAM_SIZE] = "size",
		[PARAM_FILE] = "file",	     [PARAM_DOCUMENT] = "file",
		[PARAM_COPY] = "file",	     [PARAM_NODE] = "node",
		[PARAM_CHILD] = "child",     [PARAM_STORAGE] = "storage",
		[PARAM_LUN] = "lun",	     [PARAM_PORTAL] = "portal",
		[PARAM_ADDRESS] = "address", [PARAM_SRP_PORT] = "srp_port",
		[PARAM_SESSION] = "session", [PARAM_INITIATOR] = "initiator",
		[PARAM_GROUP] = "group",
	};
	struct json_object *list = json_object_new_array();
	for (const struct param_row *row = rows; row && row->name; row++) {
		struct json_object *o = json_add_object(list);
		json_put_text(o, "name", row->name);
		json_put_text(o, "type", types[row->type]);
		if (param_is_of_client(row))
			json_put_text(o, "of", "client");
		json_put_bool(o, "required", row->is_required);
		json_put_text(o, "default", row->default_text);
		json_put_text(o, "choices", row->choices);
		json_put_text(o, "alias", row->alias);
		json_put_text(o, "help", row->help);
	}
	return list;
}

static struct json_object *commands_json(const struct command_row *rows)
{
	struct json_object *list = json_object_new_array();
	for (const struct command_row *row = rows; row && row->name; row++) {
		struct json_object *o = json_add_object(list);
		json_put_text(o, "name", row->name);
		json_put_text(o, "help", row->help);
		json_put_bool(o, "readonly", row->is_readonly);
		if (row->is_whole)
			json_put_bool(o, "whole", true);
		json_object_object_add(o, "params", params_json(row->params));
	}
	return list;
}

static void put_groups(const struct node_class *class, struct json_object *to)
{
	for (const struct group_row *g = class->groups; g && g->name; g++)
		json_object_object_add(to, g->name, group_schema(g));
}

static struct json_object *class_json(const struct node_class *class)
{
	struct json_object *o = json_object_new_object();
	json_put_text(o, "help", class->help);
	json_object_object_add(o, "commands", commands_json(class->commands));
	put_groups(class, json_part(o, "groups"));
	return o;
}

struct json_object *config_schema(struct config *c)
{
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "every_node", commands_json(c->every_node));
	put_groups(c->root.class, json_part(o, "every_node_groups"));
	struct json_object *list = json_part(o, "classes");
	for (const struct node_class *const *class = c->classes; *class; class ++)
		json_object_object_add(list, (*class)->name, class_json(*class));
	for (unsigned i = 0; i < c->storage->type_count; i++)
		json_object_object_add(list, c->storage->types[i].class_name,
				       class_json(&c->storage->types[i].class));
	return o;
}
