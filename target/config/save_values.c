// SPDX-License-Identifier: BSD-2-Clause
// Settings and names in the saved file, and kept unknown content.
#include <stdio.h>
#include <string.h>

#include "target/config/save.h"

// Attributes unknown to older kernels: written only if they are set.
static const char *const newer[] = { "emulate_rsoc", "submit_type", "netif_timeout", NULL };

bool save_is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

void save_append(struct json_object *to, struct json_object *list)
{
	for (size_t i = 0; i < json_object_array_length(list); i++)
		json_object_array_add(to, json_object_get(json_object_array_get_idx(list, i)));
}

void save_merge(struct json_object *to, struct json_object *kept)
{
	if (!kept)
		return;
	json_object_object_foreach(kept, key, value)
	{
		struct json_object *there = json_field(to, key);
		if (!there)
			json_object_object_add(to, key, json_object_get(value));
		else if (json_object_is_type(there, json_type_object) &&
			 json_object_is_type(value, json_type_object))
			save_merge(there, value);
		else if (json_object_is_type(there, json_type_array) &&
			 json_object_is_type(value, json_type_array))
			save_append(there, value);
	}
}

struct json_object *save_own_of(struct save *s, const struct node *n)
{
	char path[600];
	node_path(n, path, sizeof path);
	struct json_object *own = json_field(s->objects, path);
	if (!own) {
		own = json_object_new_object();
		json_object_object_add(s->objects, path, own);
	}
	return own;
}

struct json_object *save_own_part(struct save *s, const struct node *n, const char *part)
{
	struct json_object *own = save_own_of(s, n), *o = json_field(own, part);
	if (!o) {
		o = json_object_new_object();
		json_object_object_add(own, part, o);
	}
	return o;
}

bool save_is_default(const struct attr_row *row, const char *text)
{
	return !strcmp(text, row->default_text ? row->default_text : "");
}

struct json_object *save_values(struct save *s, const struct group_row *g, struct node *n,
				const char *const *only)
{
	struct json_object *o = json_object_new_object();
	bool are_params = !strcmp(g->name, "parameter");
	struct json_object *kept = json_field(n->kept, are_params ? "parameters" : "attributes");
	for (const struct attr_row *row = group_rows(g); row->name; row++) {
		char text[1024];
		if (row->flags & ATTR_READONLY || (are_params && row->flags & ATTR_IGNORED))
			continue;
		group_get(g, n, row, text, sizeof text);
		bool is_own = row->flags & ATTR_OWN;
		bool is_silent = is_own || save_is_in(newer, row->name) ||
				 (only && !save_is_in(only, row->name)) ||
				 (are_params && !strcmp(row->name, "TargetAlias"));
		if (is_silent && save_is_default(row, text))
			continue;
		// Our own setting, or one that rtslib does not have for this plugin.
		struct json_object *to = is_own || (only && !save_is_in(only, row->name))
						 ? save_own_part(s, n, g->name)
						 : o;
		if (to == o && json_field(kept, row->name)) // an invalid value: see save_merge()
			continue;
		json_object_object_add(to, row->name,
				       are_params ? json_object_new_string(text)
						  : json_number_or_text(text));
	}
	return o;
}

void save_put_auth(struct json_object *o, const char *prefix, const struct view_auth *v)
{
	const struct {
		const char *name, *text;
	} rows[] = {
		{"userid",	    v->userid	      },
		{ "password",	      v->password	  },
		{ "mutual_userid",   v->mutual_userid  },
		{ "mutual_password", v->mutual_password}
	};
	for (int i = 0; i < 4; i++) {
		char key[64];
		snprintf(key, sizeof key, "%s_%s", prefix, rows[i].name);
		if (rows[i].text[0])
			json_put_text(o, key, rows[i].text);
	}
}

void save_put_own_auth(struct save *s, struct node *n, const char *group)
{
	const struct group_row *g = group_find(n->class, group);
	for (const struct attr_row *row = group_rows(g); row->name; row++) {
		char text[300];
		if (!(row->flags & ATTR_OWN))
			continue;
		group_get(g, n, row, text, sizeof text);
		if (*text)
			json_put_text(save_own_part(s, n, g->name), row->name, text);
	}
}
