// SPDX-License-Identifier: BSD-2-Clause
// Parses with positions and writes with sorted keys.
#include "core/json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/printbuf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

static int complain(const char *text, size_t at, const char *what, const char *cause, struct err *e)
{
	unsigned line = 1, column = 1;
	for (size_t i = 0; i < at; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return err_set(e, -EINVAL, "%s: line %u, column %u: %s", what, line, column, cause);
}

// The number of bytes before the first invalid UTF-8, len if all is valid. json-c's check accepts
// overlong forms and surrogates, which other readers of the saved file refuse.
static size_t utf8_part(const char *text, size_t len)
{
	size_t at = 0;
	while (at < len) {
		size_t n = (unsigned char)text[at] < 0x80
				   ? 1
				   : utf8_len((const uint8_t *)text + at, len - at);
		if (!n)
			break;
		at += n;
	}
	return at;
}

void json_text_bytes(struct json_text *o, const char *s, size_t n)
{
	if (o->len + n + 1 > o->size && !o->has_failed) {
		size_t size = (o->len + n + 1) * 2;
		char *grown = realloc(o->text, size);
		o->has_failed = !grown;
		if (grown) {
			o->text = grown;
			o->size = size;
		}
	}
	if (o->has_failed)
		return;
	memcpy(o->text + o->len, s, n);
	o->len += n;
	o->text[o->len] = 0;
}

// ---- parsing ----

// The character at text as an escape of ASCII, which is as many bytes as the return value.
static size_t escape(const char *text, size_t n, char ret[13])
{
	static const uint8_t first_bits[] = { 0, 0, 0x1f, 0x0f, 0x07 };
	uint32_t c = (uint8_t)text[0] & first_bits[n];
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((uint8_t)text[i] & 0x3f);
	if (c < 0x10000)
		return (size_t)snprintf(ret, 13, "\\u%04x", c);
	c -= 0x10000;
	return (size_t)snprintf(ret, 13, "\\u%04x\\u%04x", 0xd800 | c >> 10, 0xdc00 | (c & 0x3ff));
}

// Whether a backslash is before text[at] that another one does not escape.
static bool is_escaped(const char *text, size_t at)
{
	size_t n = 0;
	while (n < at && text[at - n - 1] == '\\')
		n++;
	return n % 2;
}

// The text in ASCII: json-c 0.18 takes bytes from 80h in a string for control characters where char
// is signed. limit: at most so many bytes of it; returns how many of text they stand for.
static size_t to_ascii(const char *text, size_t len, struct json_text *o, size_t limit)
{
	char escaped[13];
	size_t at = 0;
	while (at < len && o->len < limit && !o->has_failed) {
		size_t n = 0;
		while (at + n < len && (uint8_t)text[at + n] < 0x80 && o->len + n < limit)
			n++;
		json_text_bytes(o, text + at, n);
		at += n;
		if (at == len || o->len >= limit)
			break;
		n = utf8_len((const uint8_t *)text + at, len - at);
		if (is_escaped(text, at))
			json_text_bytes(o, "x", 1); // no escape of JSON either
		else
			json_text_bytes(o, escaped, escape(text + at, n, escaped));
		at += n;
	}
	return at;
}

// Where in text the byte is that is at pos of it in ASCII.
static size_t original(const char *text, size_t len, size_t pos)
{
	struct json_text o = { 0 };
	size_t at = to_ascii(text, len, &o, pos);
	free(o.text);
	return at;
}

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((uint8_t)text[i] >= 0x80)
			return false;
	return true;
}

// The whole of an ASCII text. *ret_end: where the mistake is, or the document ends.
static const char *parse_ascii(const char *text, size_t len, int depth, struct json_object **ret,
			       size_t *ret_end)
{
	struct json_tokener *tok = json_tokener_new_ex(depth);
	if (!tok)
		return "out of memory";
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	*ret = json_tokener_parse_ex(tok, text, (int)len);
	enum json_tokener_error error = json_tokener_get_error(tok);
	size_t end = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	*ret_end = error == json_tokener_continue ? len : end;
	if (error == json_tokener_continue)
		return "unexpected end of file (truncated?)";
	if (error != json_tokener_success)
		return json_tokener_error_desc(error);
	while (end < len && strchr(" \t\r\n", text[end]) && text[end])
		end++;
	*ret_end = end;
	return end == len ? NULL : "text after the end of the document";
}

static struct json_object *parse(const char *text, size_t len, int depth, const char *what,
				 struct err *e)
{
	struct json_object *doc = NULL;
	struct json_text ascii = { 0 };
	size_t fine = utf8_part(text, len), end = 0;
	if (fine < len) {
		complain(text, fine, what, "not UTF-8", e);
		return NULL;
	}
	bool is_copied = !is_ascii(text, len);
	if (is_copied)
		to_ascii(text, len, &ascii, SIZE_MAX);
	size_t ascii_len = is_copied ? ascii.len : len;
	if (ascii.has_failed || ascii_len > INT_MAX) {
		err_set(e, ascii.has_failed ? -ENOMEM : -EFBIG, "%s: %s", what,
			ascii.has_failed ? "out of memory" : "longer than 2 GiB");
		free(ascii.text);
		return NULL;
	}
	const char *wrong =
		parse_ascii(is_copied ? ascii.text : text, ascii_len, depth, &doc, &end);
	free(ascii.text);
	if (!wrong && doc)
		return doc;
	json_object_put(doc);
	if (wrong)
		complain(text, is_copied ? original(text, len, end) : end, what, wrong, e);
	else
		complain(text, 0, what, "null is not a document", e);
	return NULL;
}

struct json_object *json_read(const char *text, size_t len, const char *what, struct err *e)
{
	return parse(text, len, JSON_DEPTH_MAX, what, e);
}

struct json_object *json_read_request(const char *text, size_t len, struct err *e)
{
	return parse(text, len, JSON_REQUEST_DEPTH_MAX, "request", e);
}

// ---- writing ----

static void put_indent(struct json_text *o, int depth)
{
	json_text_bytes(o, "\n", 1);
	for (int i = 0; i < depth; i++)
		json_text_bytes(o, "  ", 2);
}

// How many bytes of s need no escape.
static size_t plain_len(const char *s)
{
	size_t n = 0;
	while ((unsigned char)s[n] >= 0x20 && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void put_string(struct json_text *o, const char *s)
{
	json_text_bytes(o, "\"", 1);
	for (;;) {
		char esc[8];
		size_t n = plain_len(s);
		json_text_bytes(o, s, n);
		s += n;
		if (!*s)
			break;
		if ((unsigned char)*s < 0x20)
			json_text_bytes(o, esc, (size_t)snprintf(esc, sizeof esc, "\\u%04x", *s));
		else
			json_text_bytes(o, esc, (size_t)snprintf(esc, sizeof esc, "\\%c", *s));
		s++;
	}
	json_text_bytes(o, "\"", 1);
}

void json_text_put(struct json_text *t, const char *piece)
{
	json_text_bytes(t, piece, strlen(piece));
}

void json_text_line(struct json_text *t, const char *s)
{
	for (;;) {
		size_t n = plain_len(s);
		json_text_bytes(t, s, n);
		s += n;
		if (!*s)
			return;
		if ((unsigned char)*s >= 0x20)
			json_text_bytes(t, "\\", 1);
		json_text_bytes(t, (unsigned char)*s < 0x20 ? " " : s, 1);
		s++;
	}
}

void json_text_string(struct json_text *t, const char *s)
{
	put_string(t, s);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_value(struct json_text *o, struct json_object *v, int depth);

static void put_object(struct json_text *o, struct json_object *v, int depth)
{
	size_t n = (size_t)json_object_object_length(v), i = 0;
	const char **keys = calloc(n + 1, sizeof *keys);
	if (!keys) {
		o->has_failed = true;
		return;
	}
	struct json_object_iterator it = json_object_iter_begin(v), end = json_object_iter_end(v);
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it))
		keys[i++] = json_object_iter_peek_name(&it);
	qsort(keys, n, sizeof *keys, by_key);
	json_text_bytes(o, "{", 1);
	for (i = 0; i < n; i++) {
		if (i)
			json_text_bytes(o, ",", 1);
		put_indent(o, depth + 1);
		put_string(o, keys[i]);
		json_text_bytes(o, ": ", 2);
		put_value(o, json_object_object_get(v, keys[i]), depth + 1);
	}
	free(keys);
	if (n)
		put_indent(o, depth);
	json_text_bytes(o, "}", 1);
}

static void put_array(struct json_text *o, struct json_object *v, int depth)
{
	size_t n = json_object_array_length(v);
	json_text_bytes(o, "[", 1);
	for (size_t i = 0; i < n; i++) {
		if (i)
			json_text_bytes(o, ",", 1);
		put_indent(o, depth + 1);
		put_value(o, json_object_array_get_idx(v, i), depth + 1);
	}
	if (n)
		put_indent(o, depth);
	json_text_bytes(o, "]", 1);
}

// The text behind a frozen object is its user data.
static void drop_text(struct json_object *v, void *text)
{
	free(text);
}

static const char *frozen_text(struct json_object *v)
{
	bool is_object = json_object_is_type(v, json_type_object); // others contain data of json-c
	return is_object ? json_object_get_userdata(v) : NULL;
}

static void put_value(struct json_text *o, struct json_object *v, int depth)
{
	const char *s = frozen_text(v);
	if (s) {
		json_text_bytes(o, s, strlen(s));
		return;
	}
	switch (json_object_get_type(v)) {
	case json_type_object:
		put_object(o, v, depth);
		break;
	case json_type_array:
		put_array(o, v, depth);
		break;
	case json_type_string:
		put_string(o, json_object_get_string(v));
		break;
	case json_type_null:
		json_text_bytes(o, "null", 4);
		break;
	default:
		s = json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN);
		json_text_bytes(o, s, strlen(s));
	}
}

struct json_object *json_frozen(struct json_object *v, int depth)
{
	struct json_text o = { 0 };
	put_value(&o, v, depth);
	struct json_object *f = o.has_failed ? NULL : json_object_new_object();
	char *text = f ? realloc(o.text, o.len + 1) : NULL; // the text is not kept longer than the
							    // object
	if (!text) {
		json_object_put(f);
		free(o.text);
		return NULL;
	}
	json_object_set_userdata(f, text, drop_text);
	return f;
}

static int print_text(struct json_object *v, struct printbuf *to, int level, int flags)
{
	const struct json_text *t = json_object_get_userdata(v);
	return printbuf_memappend(to, t->text, (int)t->len);
}

static void free_text(struct json_object *v, void *text)
{
	struct json_text *t = text;
	free(t->text);
	free(t);
}

struct json_object *json_of_text(struct json_text *t)
{
	struct json_text *copy = t->has_failed || t->len > INT_MAX ? NULL : malloc(sizeof *copy);
	struct json_object *o = copy ? json_object_new_object() : NULL;
	if (!o) {
		free(copy);
		free(t->text);
		return NULL;
	}
	*copy = *t;
	json_object_set_serializer(o, print_text, copy, free_text);
	return o;
}

char *json_write(struct json_object *doc, size_t *ret_len)
{
	struct json_text o = { 0 };
	put_value(&o, doc, 0);
	json_text_bytes(&o, "\n", 1);
	if (o.has_failed) {
		free(o.text);
		return NULL;
	}
	*ret_len = o.len;
	return o.text;
}

bool json_has(struct json_object *obj, const char *key, struct json_object **ret)
{
	return json_object_is_type(obj, json_type_object) &&
	       json_object_object_get_ex(obj, key, ret);
}

struct json_object *json_field(struct json_object *obj, const char *key)
{
	struct json_object *v = NULL;
	if (json_object_is_type(obj, json_type_object))
		json_object_object_get_ex(obj, key, &v);
	return v;
}

const char *json_text(struct json_object *obj, const char *key)
{
	struct json_object *v = json_field(obj, key);
	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

const char *json_scalar(struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_string:
	case json_type_int:
	case json_type_boolean:
	case json_type_double:
		return json_object_get_string(value);
	default:
		return NULL;
	}
}

const char *json_text_or_empty(struct json_object *obj, const char *key)
{
	const char *text = json_text(obj, key);
	return text ? text : "";
}

const char *json_scalar_or_empty(struct json_object *obj, const char *key)
{
	const char *text = json_scalar(json_field(obj, key));
	return text ? text : "";
}

struct json_object *json_part(struct json_object *obj, const char *key)
{
	struct json_object *part = json_field(obj, key);
	if (!json_object_is_type(part, json_type_object)) {
		part = json_object_new_object();
		json_object_object_add(obj, key, part);
	}
	return part;
}

struct json_object *json_list(struct json_object *obj, const char *key)
{
	struct json_object *list = json_field(obj, key);
	if (!json_object_is_type(list, json_type_array)) {
		list = json_object_new_array();
		json_object_object_add(obj, key, list);
	}
	return list;
}

void json_put_text(struct json_object *obj, const char *key, const char *text)
{
	if (text)
		json_object_object_add(obj, key, json_object_new_string(text));
}

void json_put_number(struct json_object *obj, const char *key, uint64_t v)
{
	json_object_object_add(obj, key, json_object_new_uint64(v));
}

void json_put_bool(struct json_object *obj, const char *key, bool v)
{
	json_object_object_add(obj, key, json_object_new_boolean(v));
}

void json_add_text(struct json_object *list, const char *text)
{
	json_object_array_add(list, json_object_new_string(text));
}

struct json_object *json_add_object(struct json_object *list)
{
	struct json_object *o = json_object_new_object();
	json_object_array_add(list, o);
	return o;
}

size_t json_count(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

struct json_object **json_entries(struct json_object *list)
{
	return json_count(list) ? (struct json_object **)json_object_get_array(list)->array : NULL;
}

struct json_object *json_number_or_text(const char *text)
{
	char *end, back[32];
	errno = 0;
	int64_t v = strtoll(text, &end, 10);
	snprintf(back, sizeof back, "%" PRId64, v);
	if (!errno && !*end && !strcmp(back, text))
		return json_object_new_int64(v);
	return json_object_new_string(text);
}
