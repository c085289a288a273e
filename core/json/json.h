// SPDX-License-Identifier: BSD-2-Clause
// JSON: parsed with the position of errors, written like the saved file, with sorted keys and two
// blanks, as by rtslib. Pure functions over json-c objects.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

enum { JSON_DEPTH_MAX = 32, JSON_REQUEST_DEPTH_MAX = JSON_DEPTH_MAX + 8 };

// Parses text as a single document. Returns a new object, or NULL with -EINVAL, line and column in
// e. what begins the message ("FILE").
struct json_object *json_read(const char *text, size_t len, const char *what, struct err *e);

// The same for a request that may contain a document.
struct json_object *json_read_request(const char *text, size_t len, struct err *e);

// The document as text, newline at the end; for free(). NULL: no memory.
char *json_write(struct json_object *doc, size_t *ret_len);

// A new object that stands for v at this depth of a document (0: the document): only json_write()
// can use it, and writes the current text of v. NULL: no memory.
struct json_object *json_frozen(struct json_object *v, int depth);

// JSON text built piece by piece, for responses whose objects would cost too much.
struct json_text {
	char *text;
	size_t len, size;
	bool has_failed; // no memory
};
void json_text_put(struct json_text *t, const char *piece); // unescaped
void json_text_bytes(struct json_text *t, const char *piece, size_t len);
void json_text_string(struct json_text *t, const char *s); // with quotes and escapes
// A part of a string, escaped; control characters become blanks, so that it stays on one line.
void json_text_line(struct json_text *t, const char *s);
// The text of t as a value in a document: json-c can only print it, unchanged. Takes over the text;
// NULL: no memory.
struct json_object *json_of_text(struct json_text *t);

// Fields of an object; if obj is NULL or not an object, the field is absent. Borrowed.
const char *json_text(struct json_object *obj, const char *key); // NULL unless a string
struct json_object *json_field(struct json_object *obj, const char *key);
bool json_has(struct json_object *obj, const char *key, struct json_object **ret); // also null
// Any scalar as text ("1", "true", "abc"), NULL for absent, null, arrays and objects. Valid until
// the object changes.
const char *json_scalar(struct json_object *value);
// obj[key] as json_text() and json_scalar() give it; "" in place of NULL.
const char *json_text_or_empty(struct json_object *obj, const char *key);
const char *json_scalar_or_empty(struct json_object *obj, const char *key);

// obj[key], a new object, or list, in place of anything else. Borrowed.
struct json_object *json_part(struct json_object *obj, const char *key);
struct json_object *json_list(struct json_object *obj, const char *key);
// obj[key] = text, if text is not NULL.
void json_put_text(struct json_object *obj, const char *key, const char *text);
void json_put_number(struct json_object *obj, const char *key, uint64_t v);
void json_put_bool(struct json_object *obj, const char *key, bool v);

// Adds to a list: a text; a new object, which is returned, borrowed.
void json_add_text(struct json_object *list, const char *text);
struct json_object *json_add_object(struct json_object *list);
// The number of entries; 0 if it is not a list.
size_t json_count(struct json_object *list);
// Runs through the entries, none if it is not a list. It must not change meanwhile.
#define json_each(entry, list)                                                                     \
	for (struct json_object * entry, **entry##_at = json_entries(list),                        \
					 **entry##_end = entry##_at + json_count(list);            \
	     entry##_at != entry##_end && ((entry = *entry##_at), true); entry##_at++)
struct json_object **json_entries(struct json_object *list);
// A new number object if text is a decimal integer, else a string.
struct json_object *json_number_or_text(const char *text);
