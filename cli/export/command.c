// SPDX-License-Identifier: BSD-2-Clause
// export: a command of the daemon, its path and its warnings.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"

void export_path(const struct export *x, const char *below, char ret[EXPORT_PATH_SIZE])
{
	snprintf(ret, EXPORT_PATH_SIZE, "%s/%s%s%s", x->protocol->fabric, x->target,
		 x->protocol->group, below);
}

static void keep_warnings(struct export *x, struct json_object *messages,
			  struct json_object *levels)
{
	for (size_t i = 0; i < json_count(messages) && i < json_count(levels); i++) {
		struct json_object *one = json_object_array_get_idx(messages, i);
		const char *level = json_object_get_string(json_object_array_get_idx(levels, i));
		if (!level || !strcmp(level, "info"))
			continue;
		if (!x->warnings)
			x->warnings = json_object_new_array();
		json_object_array_add(x->warnings, json_object_get(one));
	}
}

int export_command(struct shell *s, struct export *x, char **ret, struct err *e, const char *path,
		   const char *name, ...)
{
	struct json_object *list = json_object_new_array(), *named = json_object_new_object();
	struct json_object *o;
	const char *word, *value;
	va_list ap;
	va_start(ap, name);
	while ((word = va_arg(ap, const char *)))
		json_object_array_add(list, json_object_new_string(word));
	while ((word = va_arg(ap, const char *))) {
		value = va_arg(ap, const char *);
		if (value)
			json_object_object_add(named, word, json_object_new_string(value));
	}
	va_end(ap);
	int r = shell_call(s, "tree.run", run_params(path, name, list, named), &o, e);
	if (r < 0)
		return r;
	if (!x->is_quiet)
		keep_warnings(x, json_field(o, "messages"), json_field(o, "levels"));
	struct json_object *created = json_field(o, "created");
	if (ret)
		*ret = created ? strdup(json_object_get_string(created)) : NULL;
	json_object_put(o);
	return 0;
}
