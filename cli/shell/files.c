// SPDX-License-Identifier: BSD-2-Clause
#include "cli/shell/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "core/json/json.h"
#include "core/whole_file.h"

// The value of the call that the error is about; NULL: none.
static struct json_object *value_at(struct json_object *params, const struct err *wanted)
{
	struct json_object *list = json_field(params, "positional");
	if (wanted->part == ERR_PART_NAME)
		return json_field(json_field(params, "named"), wanted->name);
	if (wanted->part != ERR_PART_POSITION || wanted->index >= json_object_array_length(list))
		return NULL;
	return json_object_array_get_idx(list, wanted->index);
}

static void put_value(struct json_object *params, const struct err *wanted, struct json_object *v)
{
	if (wanted->part == ERR_PART_NAME)
		json_object_object_add(json_field(params, "named"), wanted->name, v);
	else
		json_object_array_put_idx(json_field(params, "positional"), wanted->index, v);
}

char *files_whole_path(const char *file)
{
	char *folder = *file && *file != '/' ? getcwd(NULL, 0) : NULL, *whole = NULL;
	if (!folder)
		return strdup(file);
	if (asprintf(&whole, "%s/%s", folder, file) < 0)
		whole = NULL;
	free(folder);
	return whole;
}

// The document of a text of this format, and its notes; the text is destroyed.
static struct json_object *document_of(const char *format, const char *file, char *text, size_t len,
				       struct json_object *notes, struct err *e)
{
	const struct import_kind *kind = import_kind_find(format);
	if (kind)
		return import_text(kind, file, text, len, true, notes, e);
	if (!strcmp(format, "json"))
		return json_read(text, len, file, e);
	err_set(e, -EPROTO, "%s: farblockd wants it in the unknown format '%s'", file, format);
	return NULL;
}

static int read_file(const char *file, const char *format, struct json_object *notes,
		     struct json_object **ret, struct err *e)
{
	char *text;
	size_t len;
	int r = whole_file_read(file, &text, &len, e);
	*ret = NULL;
	if (r == -ENOENT) // the daemon has the words for it
		return 0;
	if (r < 0)
		return r;
	*ret = document_of(format, file, text, len, notes, e);
	explicit_bzero(text, len);
	free(text);
	return *ret ? 0 : e->code;
}

int files_send(struct json_object *params, const struct err *refusal, struct err *e)
{
	const struct err copy = *refusal, *wanted = &copy; // e may be the same
	const char *file = json_scalar(value_at(params, wanted));
	if (!file)
		return err_set(e, -EPROTO, "%s", wanted->text);
	if (*file != '/') {
		char *path = files_whole_path(file);
		bool is_whole = path && *path == '/'; // or the directory is gone
		if (is_whole)
			put_value(params, wanted, json_object_new_string(path));
		free(path);
		return is_whole ? 0 : err_set(e, -ENOENT, "%s: no current directory", file);
	}
	struct json_object *doc, *notes = json_object_new_array(), *o = json_object_new_object();
	int r = read_file(file, wanted->wants, notes, &doc, e);
	json_put_text(o, "name", file);
	json_object_object_add(o, "document", doc);
	json_object_object_add(o, "notes", notes);
	if (!r)
		put_value(params, wanted, o);
	else
		json_object_put(o);
	return r;
}

// Whether the user has named this file.
static bool is_value_of(const struct line *l, const char *name)
{
	bool is = false;
	for (unsigned i = 0; !is && i < l->count; i++) {
		char *path = files_whole_path(l->values[i].text);
		is = path && !strcmp(path, name);
		free(path);
	}
	return is;
}

int files_write(const struct line *l, struct json_object *answer, struct err *e)
{
	static const struct whole_file_ways ways = { .suffix = ".farblock-temp" };
	struct json_object *file = json_field(answer, "file");
	const char *name = json_text(file, "name"), *text = json_text(file, "text");
	if (!file)
		return 0;
	if (!name || !text || !is_value_of(l, name))
		return err_set(e, -EPROTO,
			       "farblockd's answer has a file that the command does not name");
	int r = whole_file_replace(name, text, strlen(text), &ways, e);
	json_object_object_del(answer, "file");
	return r < 0 ? r : 0;
}
