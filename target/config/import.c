// SPDX-License-Identifier: BSD-2-Clause
// import KIND FILE: converts the configuration of another target to a document in the form of the
// saved file and applies it like `apply FILE`. Control thread; blocks.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/file.h"
#include "cli/import/import.h"
#include "target/config/plan.h"

// Objects of a document whose names are in use.
static int refuse_twins(struct config *c, struct json_object *doc, const char *list,
			const char *const id[2], const char *folder, struct err *e)
{
	struct json_object *all = json_field(doc, list);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *o = json_object_array_get_idx(all, i);
		char path[600];
		snprintf(path, sizeof path, "%s%s/%s", folder, json_text(o, id[0]),
			 json_text(o, id[1]));
		if (node_at(&c->names, &c->root, path))
			return err_set(e, -EEXIST,
				       "%.300s: already exists; nothing changed (delete it, or "
				       "clear_existing=true)",
				       path);
	}
	return 0;
}

static int refuse_existing(struct config *c, struct json_object *doc, struct err *e)
{
	static const char *const disk[] = { "plugin", "name" }, *const target[] = { "fabric",
										    "wwn" };
	int code = refuse_twins(c, doc, "storage_objects", disk, "/backstores/", e);
	return code ? code : refuse_twins(c, doc, "targets", target, "/", e);
}

// Masks passwords as everywhere.
static void mask(struct json_object *o)
{
	if (json_object_is_type(o, json_type_array))
		for (size_t i = 0; i < json_object_array_length(o); i++)
			mask(json_object_array_get_idx(o, i));
	if (!json_object_is_type(o, json_type_object))
		return;
	json_object_object_foreach(o, key, value)
	{
		if (json_object_is_type(value, json_type_string) && strstr(key, "password"))
			json_object_set_string(value, "********");
		else
			mask(value);
	}
}

static int read_document(const struct args *a, struct json_object *notes, struct json_object **ret,
			 struct err *e)
{
	const struct import_kind *kind = import_kind_find(arg(a, "kind"));
	const char *file = arg(a, "file");
	char *text;
	size_t len;
	if (!kind)
		return err_set(e, -EINVAL, "kind: invalid value '%.60s' (use tgt or scst)",
			       arg(a, "kind"));
	int code = file_read(file, &text, &len, e);
	if (code < 0)
		return code;
	*ret = import_text(kind, file, text, len, true, notes, e);
	free(text);
	return *ret ? 0 : e->code;
}

static int save_as(struct json_object *doc, const char *file, struct reply *r, struct err *e)
{
	int code = config_write_document(doc, file, e);
	if (!code)
		reply_say(r, "Written to %s; nothing changed (apply it).", file);
	return code;
}

static int take(struct config *c, struct json_object *doc, const struct args *a, struct reply *r,
		struct err *e)
{
	struct restore_options o = {
		.is_running = true,
		.is_apply = arg_bool(a, "clear_existing", false),
		.is_dry = arg_bool(a, "plan", false),
		.is_forced = arg_bool(a, "force", false),
	};
	int code = o.is_apply ? 0 : refuse_existing(c, doc, e);
	return code ? code : plan_run(c, doc, arg(a, "file"), &o, r, e);
}

int plan_import(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e)
{
	struct json_object *doc = NULL, *notes = json_object_new_array(), *shown = NULL;
	const char *to = arg(a, "savefile");
	int code = read_document(a, notes, &doc, e);
	if (!code && json_object_deep_copy(doc, &shown, NULL) < 0)
		code = err_set(e, -ENOMEM, "out of memory");
	if (!code)
		code = to ? save_as(doc, to, r, e) : take(c, doc, a, r, e);
	for (size_t i = 0; code >= 0 && i < json_object_array_length(notes); i++)
		reply_say(r, "%s", json_object_get_string(json_object_array_get_idx(notes, i)));
	mask(shown);
	if (code >= 0)
		r->data = shown;
	else
		json_object_put(shown);
	json_object_put(doc);
	json_object_put(notes);
	if (code >= 0 && (to || arg_bool(a, "plan", false)))
		return 0;
	return plan_finish(c, code, e);
}
