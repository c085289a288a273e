// SPDX-License-Identifier: BSD-2-Clause
// import KIND FILE: applies a document like `apply FILE`, unless its objects exist. The client
// makes the document from the configuration of another target, with notes on what has no
// counterpart. Control thread.
#include <errno.h>
#include <string.h>

#include "target/config/change/plan.h"
#include "target/config/file/document.h"

// Objects of a document whose names are in use; restore_document() reports those without one.
static int refuse_existing(struct config *c, struct json_object *doc, struct err *e)
{
	static const char *const lists[] = { "storage_objects", "targets" };
	for (int i = 0; i < 2; i++)
		json_each (o, json_field(doc, lists[i])) {
			char path[SAVED_PATH_SIZE];
			saved_path(saved_class_of(c, lists[i])->saved, "", o, path);
			if (*path && node_at(&c->names, &c->root, path))
				return err_set(e, -EEXIST,
					       "%.300s: already exists; nothing changed (delete "
					       "it, or clear_existing=true)",
					       path);
		}
	return 0;
}

// Masks secrets as everywhere.
static void mask(const struct config *c, struct json_object *o)
{
	json_each (entry, o)
		mask(c, entry);
	if (!json_object_is_type(o, json_type_object))
		return;
	json_object_object_foreach(o, key, value)
	{
		if (json_object_is_type(value, json_type_string) && saved_is_secret(c, key))
			json_object_set_string(value, "********");
		else
			mask(c, value);
	}
}

static int check_kind(const char *kind, struct err *e)
{
	if (!strcmp(kind, "tgt") || !strcmp(kind, "scst"))
		return 0;
	return err_set(e, -EINVAL, "kind: invalid value '%.60s' (use tgt or scst)", kind);
}

static int read_document(const struct args *a, struct json_object **ret, struct err *e)
{
	struct json_object *content = arg_content(a, "file");
	if (!content)
		return document_want(a, "file", arg(a, "kind"), e);
	*ret = json_object_get(json_field(content, "document"));
	return *ret ? 0 : err_errno(e, -ENOENT, "%s: cannot open", arg(a, "file"));
}

static void say_notes(const struct args *a, struct reply *r)
{
	json_each (note, json_field(arg_content(a, "file"), "notes"))
		if (json_scalar(note))
			reply_say(r, "%s", json_scalar(note));
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
	struct json_object *doc = NULL, *shown = NULL;
	const char *to = arg(a, "savefile");
	size_t len;
	int code = check_kind(arg(a, "kind"), e);
	if (!code)
		code = read_document(a, &doc, e);
	if (code < 0)
		return code;
	if (json_object_deep_copy(doc, &shown, NULL) < 0)
		code = err_set(e, -ENOMEM, "out of memory");
	else if (to)
		code = reply_file(r, to, json_write(doc, &len), e);
	else
		code = take(c, doc, a, r, e);
	if (!code && to)
		reply_say(r, "Written to %s; nothing changed (apply it).", to);
	if (!code)
		say_notes(a, r);
	mask(c, shown);
	r->view = "messages";
	r->data = shown; // an error's reply is freed
	json_object_put(doc);
	return code;
}
