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
	struct json_object *all = json_field(doc, list);
	if (!json_object_is_type(all, json_type_array)) {
		all = json_object_new_array();
		json_object_object_add(doc, list, all);
	}
	size_t i = 0, n = json_object_array_length(all);
	while (i < n && !(is_same(json_object_array_get_idx(all, i), entry, first) &&
			  is_same(json_object_array_get_idx(all, i), entry, second)))
		i++;
	json_object_array_put_idx(all, i, json_object_get(entry));
}

// A kept target of another fabric may contain anything.
static size_t length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

static bool exports(struct json_object *target, const char *path)
{
	struct json_object *tpgs = json_field(target, "tpgs");
	for (size_t i = 0; i < length(tpgs); i++) {
		struct json_object *luns = json_field(json_object_array_get_idx(tpgs, i), "luns");
		for (size_t j = 0; j < length(luns); j++) {
			const char *its =
				json_text(json_object_array_get_idx(luns, j), "storage_object");
			if (its && !strcmp(its, path))
				return true;
		}
	}
	return false;
}

// Content unknown to rtslib is in our section, by path.
static void put_own(struct json_object *doc, struct json_object *now, const char *path)
{
	struct json_object *own = json_field(doc, SAVED_SECTION);
	if (!json_object_is_type(own, json_type_object)) {
		own = json_object_new_object();
		json_object_object_add(own, "version", json_object_new_int64(SAVED_VERSION));
		json_object_object_add(doc, SAVED_SECTION, own);
	}
	struct json_object *objects = json_field(own, "objects");
	if (!json_object_is_type(objects, json_type_object)) {
		objects = json_object_new_object();
		json_object_object_add(own, "objects", objects);
	}
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
	struct json_object *targets = json_field(now, "targets");
	for (size_t i = 0; i < json_object_array_length(targets); i++) {
		struct json_object *t = json_object_array_get_idx(targets, i);
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
	struct json_object *now = save_document(c), *all = json_field(now, "storage_objects");
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *o = json_object_array_get_idx(all, i);
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
