// SPDX-License-Identifier: BSD-2-Clause
// Copies of the configuration for files of the client: all of it, or one storage object with the
// targets that export it, put into the file's content without changing the rest. Control thread.
#include <errno.h>
#include <string.h>

#include "target/config/file/document.h"
#include "target/config/file/saved.h"
#include "target/config/file/saved_file.h"

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

// Replaces the entry of the same path, or adds it.
static void put_entry(struct json_object *doc, struct json_object *now, const struct saved_class *k,
		      struct json_object *entry)
{
	struct json_object *all = json_list(doc, k->list);
	size_t i = 0, n = json_object_array_length(all);
	char path[SAVED_PATH_SIZE], its[SAVED_PATH_SIZE] = "";
	saved_path(k, "", entry, path);
	for (; i < n; i++) {
		saved_path(k, "", json_object_array_get_idx(all, i), its);
		if (!strcmp(its, path))
			break;
	}
	json_object_array_put_idx(all, i, json_object_get(entry));
	put_own(doc, now, path);
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
	const struct saved_class *disks = saved_class_of(c, "storage_objects")->saved;
	const struct saved_class *targets = saved_class_of(c, "targets")->saved;
	char path[NAME_MAX_LEN + 80], its[SAVED_PATH_SIZE];
	struct json_object *doc;
	int code = present(a, &doc, e);
	if (code < 0)
		return code;
	struct json_object *now = save_document(c);
	node_path(storage, path, sizeof path);
	json_each (disk, json_field(now, "storage_objects")) {
		saved_path(disks, "", disk, its);
		if (!strcmp(its, path))
			put_entry(doc, now, disks, disk);
	}
	json_each (target, json_field(now, "targets"))
		if (exports(target, path))
			put_entry(doc, now, targets, target);
	json_object_put(now);
	size_t len;
	code = reply_file(r, arg(a, "savefile"), json_write(doc, &len), e);
	json_object_put(doc);
	return code;
}
