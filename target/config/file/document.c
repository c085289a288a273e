// SPDX-License-Identifier: BSD-2-Clause
// Documents that commands work with: the client sends those of its user's files, since the daemon
// would read them with its own rights; the daemon reads its saved file and the generations of it.
// Control thread; blocks.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/whole_file.h"
#include "target/config/file/document.h"
#include "target/config/file/file.h"

int document_read(const char *file, struct json_object **ret, struct err *e)
{
	char *text;
	size_t len;
	int code = file_read(file, &text, &len, e);
	if (code < 0)
		return code;
	*ret = json_read(text, len, file, e);
	explicit_bzero(text, len);
	free(text);
	return *ret ? 0 : e->code;
}

// Whether real, a path without links, is in the directory of the generations.
static bool is_generation(const struct config *c, const char *real)
{
	char folder[PATH_MAX], dir[PATH_MAX + 8], backups[PATH_MAX];
	whole_file_folder(c->file, folder);
	snprintf(dir, sizeof dir, "%s/backup", folder);
	if (!realpath(dir, backups))
		return false;
	size_t n = strlen(backups);
	return !strncmp(real, backups, n) && real[n] == '/' && !strchr(real + n + 1, '/');
}

// Whether the path leads to the saved file, which exists.
static bool is_saved_file(const struct config *c, const char *path)
{
	char real[PATH_MAX], own[PATH_MAX];
	return realpath(path, real) && realpath(c->file, own) && !strcmp(real, own);
}

const char *config_named_file(const struct config *c, const char *path)
{
	return !path || is_saved_file(c, path) ? c->file : path;
}

bool document_is_own(const struct config *c, const char *path, char ret[PATH_MAX])
{
	if (strcmp(path, c->file) && !is_saved_file(c, path))
		return realpath(path, ret) && is_generation(c, ret);
	snprintf(ret, PATH_MAX, "%s", c->file);
	return true;
}

int document_want(const struct args *a, const char *name, const char *format, struct err *e)
{
	int code =
		err_set(e, -EREMOTE, "%.120s: farblockd opens only its own files: send the content",
			arg(a, name));
	arg_at(a, name, e);
	if (e)
		snprintf(e->wants, sizeof e->wants, "%s", format);
	return code;
}

int document_get(const struct config *c, const struct args *a, const char *name,
		 struct json_object **ret, struct err *e)
{
	char own[PATH_MAX];
	const char *file = arg(a, name);
	struct json_object *content = arg_content(a, name);
	*ret = NULL;
	if (!file)
		return document_read(c->file, ret, e);
	if (!content)
		return document_is_own(c, file, own) ? document_read(own, ret, e)
						     : document_want(a, name, "json", e);
	*ret = json_object_get(json_field(content, "document"));
	return *ret ? 0 : err_errno(e, -ENOENT, "%s: cannot open", file);
}
