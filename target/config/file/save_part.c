// SPDX-License-Identifier: BSD-2-Clause
// Copies of the configuration for files of the client: all of it, or one storage object with the
// targets that export it, put into the file's content without changing the rest. Control thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/file/document.h"
#include "target/config/file/saved.h"
#include "target/config/file/saved_file.h"

static bool is_same(struct json_object *a, struct json_object *b, const char *key)
{
	const char *x = json_text(a, key), *y = json_text(b, key);
	return x && y && !strcmp(x, y);
}

// Replaces the entry with the same two names, or adds it.
static void put_entry(struct json_object *doc, const char *list, struct json_object *entry,
		      const char *first, const char *second)
{
	struct json_object *all = json_list(doc, list);
	size_t i = 0, n = json_object_array_length(all);
	while (i < n && !(is_same(json_object_array_get_idx(all, i), entry, first) &&
			  is_same(json_object_array_get_idx(all, i), entry, second)))
		i++;
	json_object_array_put_idx(all, i, json_object_get(entry));
}

// A kept target of another fabric may contain anything.
static bool exports(struct json_object *target, const char *path)
{
	json_each (tpg, json_field(target, "tpgs"))
		json_each (lun, json_field(tpg, "luns")) {
			const char *its = json_text(lun, "storage_object");
			if (its && !strcmp(its, path))
				return true;
		}
	return false;
}

// Content unknown to rtslib is in our section, by path.
static void put_own(struct json_object *doc, struct json_object *now, const char *path)
{
	bool has_own = json_object_is_type(json_field(doc, SAVED_SECTION), json_type_object);
	struct json_object *own = json_part(doc, SAVED_SECTION);
	struct json_object *objects = json_part(own, "objects");
	if (!has_own)
		json_put_number(own, "version", SAVED_VERSION);
	size_t len = strlen(path);
	json_object_object_foreach(json_field(json_field(now, SAVED_SECTION), "objects"), key,
				   value)
	{
		if (!strncmp(key, path, len) && (!key[len] || key[len] == '/'))
			json_object_object_add(objects, key, json_object_get(value));
	}
}

static void put_targets(struct json_object *doc, struct json_object *now, const char *path)
{
	json_each (t, json_field(now, "targets")) {
		char own[300];
		if (!exports(t, path))
			continue;
		put_entry(doc, "targets", t, "fabric", "wwn");
		snprintf(own, sizeof own, "/%.60s/%.223s", json_text(t, "fabric"),
			 json_text(t, "wwn"));
		put_own(doc, now, own);
	}
}

// The document of the file that the client will replace; an empty one if there is no such file.
static int present(const struct args *a, struct json_object **ret, struct err *e)
{
	struct json_object *content = arg_content(a, "savefile");
	if (!content)
		return document_want(a, "savefile", "json", e);
	struct json_object *doc = json_field(content, "document");
	if (doc && !json_object_is_type(doc, json_type_object))
		return err_set(e, -EINVAL, "%s: not an object with storage_objects and targets",
			       arg(a, "savefile"));
	*ret = doc ? json_object_get(doc) : json_object_new_object();
	return 0;
}

int config_copy(struct config *c, const struct args *a, struct reply *r, struct err *e)
{
	struct json_object *there = NULL;
	int code = model_is_empty(c) ? present(a, &there, e) : 0;
	if (!code && document_has_objects(there))
		code = config_refuse_empty(arg(a, "savefile"), e);
	json_object_put(there);
	size_t len;
	return code ? code : reply_file(r, arg(a, "savefile"), save_text(c, &len), e);
}

int config_copy_part(struct config *c, struct node *storage, const struct args *a, struct reply *r,
		     struct err *e)
{
	char path[NAME_MAX_LEN + 80];
	struct json_object *doc;
	int code = present(a, &doc, e);
	if (code < 0)
		return code;
	struct json_object *now = save_document(c);
	json_each (o, json_field(now, "storage_objects")) {
		const char *plugin = json_text(o, "plugin"), *name = json_text(o, "name");
		if (plugin && name && !strcmp(plugin, storage->parent->name) &&
		    !strcmp(name, storage->name))
			put_entry(doc, "storage_objects", o, "plugin", "name");
	}
	node_path(storage, path, sizeof path);
	put_own(doc, now, path);
	put_targets(doc, now, path);
	json_object_put(now);
	size_t len;
	code = reply_file(r, arg(a, "savefile"), json_write(doc, &len), e);
	json_object_put(doc);
	return code;
}
