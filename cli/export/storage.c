// SPDX-License-Identifier: BSD-2-Clause
// export: a storage object that exists already.
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shell/client.h"
#include "cli/export/export.h"

static const char top[] = "/backstores/";

static struct json_object *ask(struct shell *s, const char *method, struct json_object *params)
{
	struct json_object *o = NULL;
	struct err ignored;
	return shell_call(s, method, params, &o, &ignored) < 0 ? NULL : o;
}

static bool is_storage(struct shell *s, const char *path)
{
	struct json_object *o = ask(s, "tree.info", params_at(path));
	bool is_it = o && !strcmp(text_field(o, "class"), "storage");
	json_object_put(o);
	return is_it;
}

// Uses the storage object if it has this name.
static int try_type(struct shell *s, struct export *x, const char *type, struct err *e)
{
	char path[256];
	size_t n = (size_t)snprintf(path, sizeof path, "%s%s/%s", top, type, x->given);
	if (n >= sizeof path || !is_storage(s, path))
		return 0;
	if (*x->storage)
		return err_set(e, -EEXIST, "export: %.60s is ambiguous: %s or %.100s", x->given,
			       path, x->storage);
	snprintf(x->storage, sizeof x->storage, "%s", path);
	return 0;
}

static int find_name(struct shell *s, struct export *x, struct err *e)
{
	struct json_object *o = ask(s, "tree.ls", params_of_ls("/backstores", 1));
	int r = 0;
	json_each (type, json_field(o, "children"))
		r = r ? r : try_type(s, x, text_field(type, "name"), e);
	json_object_put(o);
	return r;
}

// Permits only its name, no values for a new one.
static int take(struct export *x, struct err *e)
{
	const char *slash = strrchr(x->storage, '/');
	if (x->size || x->asked || x->cache)
		return err_set(e, -EBADRQC, "%s: %.120s already exists",
			       x->size	  ? "size"
			       : x->cache ? "cache"
					  : "name",
			       x->storage);
	snprintf(x->name, sizeof x->name, "%s", slash + 1);
	return 0;
}

int export_find_storage(struct shell *s, struct export *x, struct err *e)
{
	bool is_path = !strncmp(x->given, top, strlen(top));
	int r = 0;
	if (!is_path && (x->size || !access(x->device, F_OK)))
		return 0;
	if (is_path || strchr(x->given, '/')) {
		size_t n = (size_t)snprintf(x->storage, sizeof x->storage, "%s%s",
					    is_path ? "" : top, x->given);
		if (n >= sizeof x->storage || !is_storage(s, x->storage))
			x->storage[0] = 0;
	} else {
		r = find_name(s, x, e);
	}
	if (!r && is_path && !*x->storage)
		return err_set(e, -ENOENT, "export: no storage object %.160s", x->given);
	return r || !*x->storage ? r : take(x, e);
}

int export_find_lun(struct shell *s, struct export *x, struct err *e)
{
	char luns[EXPORT_PATH_SIZE];
	struct json_object *o = ask(s, "tree.info", params_at(x->storage)),
			   *list = json_field(o, "luns");
	export_path(x, "/luns/lun", luns);
	size_t len = strlen(luns);
	json_each (one, list) {
		const char *path = json_object_get_string(one);
		if (!*x->lun && !strncmp(path, luns, len))
			snprintf(x->lun, sizeof x->lun, "%.7s", path + len);
	}
	json_object_put(o);
	return *x->lun ? 0
		       : err_set(e, -ENOENT, "export: %s has no LUN of %s", x->target, x->storage);
}
