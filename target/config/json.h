// SPDX-License-Identifier: BSD-2-Clause
// JSON the way the saved file needs it: read with a position for every mistake, written with
// sorted keys and two blanks, as rtslib writes it. Pure functions over json-c objects.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

enum { JSON_DEPTH_MAX = 32 };

// Parses one document that is exactly text. Returns a new object or NULL with a text that
// names line and column; -EINVAL in e. what begins the text ("FILE").
struct json_object *json_read(const char *text, size_t len, const char *what, struct err *e);

// The document as text, newline at the end; for free(). NULL: no memory.
char *json_write(struct json_object *doc, size_t *ret_len);

// A new object that stands for v where it lies so deep in a document (0: the whole of it): only
// json_write() can do something with it, and writes v's text of now. NULL: no memory.
struct json_object *json_frozen(struct json_object *v, int depth);

// Text of JSON made piece by piece, for answers of which the objects would cost too much.
struct json_text {
	char *text;
	size_t len, size;
	bool has_failed; // no memory
};
void json_text_put(struct json_text *t, const char *piece); // as it is
void json_text_string(struct json_text *t, const char *s);  // with quotes and escapes
// A part of a string, escaped; control characters become blanks, so that it stays within a line.
void json_text_line(struct json_text *t, const char *s);
// What t holds as a value in a document: json-c prints it as it is, and can do nothing else with
// it. Takes over the text; NULL: no memory.
struct json_object *json_of_text(struct json_text *t);

// Fields of an object; obj may be NULL or no object: then the field is absent. Borrowed.
const char *json_text(struct json_object *obj, const char *key); // NULL unless a string
struct json_object *json_field(struct json_object *obj, const char *key);
// Any scalar as text ("1", "true", "abc"), NULL for absent, null, arrays and objects. Good
// until the object changes.
const char *json_scalar(struct json_object *value);

// obj[key] = text, when text is not NULL.
void json_put_text(struct json_object *obj, const char *key, const char *text);
// A new number object when text is a decimal integer, else a string.
struct json_object *json_number_or_text(const char *text);
