// SPDX-License-Identifier: BSD-2-Clause
// A file of another target as text, and its document.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/import/import.h"
#include "core/json/json.h"

static struct json_object *doc, *notes; // of the last take()
static struct err error;

static int forget(void **state)
{
	json_object_put(doc);
	json_object_put(notes);
	doc = notes = NULL;
	return 0;
}

// Converts text as a file with this name.
static void take_file(const struct import_kind *kind, const char *file, const char *text)
{
	char *copy = strdup(text);
	forget(NULL);
	notes = json_object_new_array();
	error = (struct err){ 0 };
	doc = import_text(kind, file, copy, strlen(text), true, notes, &error);
	free(copy);
}

// The value at a path of keys and places: "targets/0/wwn".
static struct json_object *at(const char *path)
{
	struct json_object *o = NULL;
	char pointer[200];
	snprintf(pointer, sizeof pointer, "/%s", path);
	return json_pointer_get(doc, pointer, &o) < 0 ? NULL : o;
}

static const char *text_at(const char *path)
{
	return json_object_get_string(at(path));
}

static int number_at(const char *path)
{
	if (!at(path))
		fail_msg("%s: is not there in %s", path, json_object_to_json_string(doc));
	return json_object_get_int(at(path));
}

static int count_at(const char *path)
{
	return at(path) ? (int)json_object_array_length(at(path)) : -1;
}

// A setting of the object at a path of the tree.
static const char *own(const char *path, const char *name)
{
	struct json_object *all = json_field(json_field(doc, "farblock"), "objects");
	return json_text(json_field(json_field(all, path), "attribute"), name);
}

// Whether a note begins with start and has part in it.
static bool is_told(const char *start, const char *part)
{
	for (size_t i = 0; i < json_object_array_length(notes); i++) {
		const char *line = json_object_get_string(json_object_array_get_idx(notes, i));
		if (!strncmp(line, start, strlen(start)) && strstr(line, part))
			return true;
	}
	return false;
}

static const char *all_notes(void)
{
	return json_object_to_json_string(notes);
}

// The text is refused with a message that begins with start.
static void refused(const struct import_kind *kind, const char *text, const char *start)
{
	take_file(kind, "f.conf", text);
	if (doc || strncmp(error.text, start, strlen(start)))
		fail_msg("%s: '%s' instead of '%s'", text, error.text, start);
}
