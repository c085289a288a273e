// SPDX-License-Identifier: BSD-2-Clause
// Saves one storage object, with the targets that export it, into a file without changing its other
// content. Control thread; blocks.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/file.h"
#include "target/config/model.h"
#include "target/config/saved.h"

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

// The file's document, or an empty one if the file does not exist.
static int read_document(const char *file, struct json_object **ret, struct err *e)
{
	char *text;
	size_t len;
	int r = file_read(file, &text, &len, e);
	if (r == -ENOENT) {
		*ret = json_object_new_object();
		return 0;
	}
	if (r < 0)
		return r;
	*ret = json_read(text, len, file, e);
	explicit_bzero(text, len);
	free(text);
	if (*ret && !json_object_is_type(*ret, json_type_object)) {
		json_object_put(*ret);
		return err_set(e, -EINVAL, "%s: not an object with storage_objects and targets",
			       file);
	}
	return *ret ? 0 : -EINVAL;
}

int config_write_document(struct json_object *doc, const char *file, struct err *e)
{
	size_t len;
	char *text = json_write(doc, &len);
	if (!text)
		return err_set(e, -ENOMEM, "%s: out of memory", file);
	int r = file_write(file, text, len, FILE_ELSEWHERE, e);
	explicit_bzero(text, len);
	free(text);
	return r;
}

int config_save_part(struct config *c, struct storage *s, const char *file, struct err *e)
{
	char path[NAME_MAX_LEN + 80];
	struct json_object *doc;
	if (!strcmp(file, c->file)) // which always contains everything
		return config_save(c, file, false, e);
	int r = read_document(file, &doc, e);
	if (r < 0)
		return r;
	struct json_object *now = save_document(c), *all = json_field(now, "storage_objects");
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *o = json_object_array_get_idx(all, i);
		const char *plugin = json_text(o, "plugin"), *name = json_text(o, "name");
		if (plugin && name && !strcmp(plugin, s->type->name) && !strcmp(name, s->node.name))
			put_entry(doc, "storage_objects", o, "plugin", "name");
	}
	node_path(&s->node, path, sizeof path);
	put_own(doc, now, path);
	put_targets(doc, now, path);
	r = config_write_document(doc, file, e);
	json_object_put(now);
	json_object_put(doc);
	return r;
}
