// SPDX-License-Identifier: BSD-2-Clause
#include "cli/tree_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"

enum { DEPTH_MAX = 64 };

// ---- reading JSON [RFC 8259] ----

static const char *blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

// Behind the string at its quote; NULL: it does not end.
static const char *string_end(const char *at)
{
	for (at++; *(at += strcspn(at, "\"\\")) == '\\'; at += 2)
		if (!at[1])
			return NULL;
	return *at ? at + 1 : NULL;
}

// Behind any value; NULL: it does not end.
static const char *value_end(const char *at)
{
	unsigned open = 0;
	at = blanks(at);
	do {
		if (*at == '"') {
			at = string_end(at);
			if (!at)
				return NULL;
		} else if (*at == '{' || *at == '[') {
			open++;
			at++;
		} else if (*at == '}' || *at == ']') {
			if (!open--)
				return NULL;
			at++;
		} else {
			size_t n = strcspn(at, open ? "\"{}[]" : ",}] \t\r\n");
			if (!n)
				return NULL;
			at += n;
		}
	} while (open && *at);
	return open ? NULL : at;
}

struct member {
	const char *name; // after its quote
	size_t len;
	const char *value;
};

// Reads the member at *at, after '{' or ','. False: no member.
static bool member_at(const char **at, struct member *ret)
{
	const char *p = blanks(*at), *end = *p == '"' ? string_end(p) : NULL;
	if (!end)
		return false;
	*ret = (struct member){ p + 1, (size_t)(end - p - 2), NULL };
	p = blanks(end);
	if (*p != ':')
		return false;
	*at = ret->value = blanks(p + 1);
	return true;
}

static bool is_called(const struct member *m, const char *name)
{
	return strlen(name) == m->len && !memcmp(m->name, name, m->len);
}

const char *json_text_member(const char *text, const char *name)
{
	struct member m;
	const char *at = blanks(text);
	bool goes_on = *at == '{';
	while (goes_on && (at++, member_at(&at, &m))) {
		if (is_called(&m, name))
			return m.value;
		at = value_end(at);
		at = at ? blanks(at) : "";
		goes_on = *at == ',';
	}
	return NULL;
}

// ---- rows ----

struct rows {
	struct json_text t;
	size_t mark[DEPTH_MAX]; // of the last row at each depth: where its '.' stands
};

static void put(struct rows *r, const char *s, size_t n)
{
	json_text_bytes(&r->t, s, n);
}

// One escape at its backslash; returns its length.
static size_t put_escape(struct rows *r, const char *at)
{
	if (at[1] == 'u' && strspn(at + 2, "0123456789abcdefABCDEF") >= 4) {
		char digits[5] = { at[2], at[3], at[4], at[5], 0 };
		long c = strtol(digits, NULL, 16);
		char plain = c >= ' ' && c < 0x7f ? (char)c : c < ' ' ? ' ' : '?';
		put(r, &plain, 1);
		return 6;
	}
	put(r, strchr("\"\\/", at[1]) ? at + 1 : " ", 1);
	return 2;
}

// The text of a string at its quote, on one line.
static void put_string(struct rows *r, const char *at)
{
	for (at++; *at && *at != '"';) {
		size_t n = strcspn(at, "\"\\\n");
		put(r, at, n);
		at += n;
		if (*at == '\\') {
			at += put_escape(r, at);
		} else if (*at == '\n') {
			put(r, " ", 1);
			at++;
		}
	}
}

// What is known of a node before its children.
struct node {
	const char *name, *summary, *serial, *healthy;
};

static void put_row(struct rows *r, const struct node *n, unsigned depth)
{
	static const char levels[DEPTH_MAX + 1] = "                                "
						  "                                ";
	char health = !n->healthy ? '=' : *n->healthy == 't' ? '+' : '-';
	put(r, levels, depth);
	put(r, &health, 1);
	r->mark[depth] = r->t.len;
	put(r, ".", 1);
	if (strncmp(n->name, "\"/\"", 3))
		put_string(r, n->name);
	put(r, "/", 1);
	if (n->serial)
		put_string(r, n->serial);
	put(r, "/", 1);
	if (n->summary)
		put_string(r, n->summary);
	put(r, "\n", 1);
}

static const char *node_rows(struct rows *r, const char *at, unsigned depth);

static const char *children_rows(struct rows *r, const char *at, unsigned depth)
{
	at = *at == '[' ? blanks(at + 1) : NULL;
	if (!at || depth == DEPTH_MAX)
		return NULL;
	for (bool is_first = true; *at != ']'; is_first = false) {
		if (!is_first && *at++ != ',')
			return NULL;
		if (!is_first && !r->t.has_failed)
			r->t.text[r->mark[depth]] = '|';
		at = node_rows(r, at, depth);
		if (!at)
			return NULL;
		at = blanks(at);
	}
	return at + 1;
}

static void take_member(struct node *n, const struct member *m)
{
	bool is_text = *m->value == '"';
	if (is_called(m, "name") && is_text)
		n->name = m->value;
	else if (is_called(m, "summary") && is_text)
		n->summary = m->value;
	else if (is_called(m, "serial") && is_text)
		n->serial = m->value;
	else if (is_called(m, "healthy"))
		n->healthy = m->value;
}

// Adds the rows of a node and its children; returns the end of its text, NULL: it is malformed.
static const char *node_rows(struct rows *r, const char *at, unsigned depth)
{
	struct node n = { 0 };
	struct member m;
	bool has_row = false;
	at = blanks(at);
	if (*at != '{')
		return NULL;
	do {
		at++;
		if (!member_at(&at, &m))
			return NULL;
		if (is_called(&m, "children") && n.name && !has_row) {
			put_row(r, &n, depth);
			has_row = true;
			at = children_rows(r, at, depth + 1);
		} else {
			take_member(&n, &m);
			at = value_end(at);
		}
		if (!at)
			return NULL;
		at = blanks(at);
	} while (*at == ',');
	if (!has_row && n.name)
		put_row(r, &n, depth);
	return *at == '}' && n.name ? at + 1 : NULL;
}

int tree_rows_of(const char *json, char **ret, struct err *e)
{
	struct rows r = { 0 };
	const char *end = node_rows(&r, json, 0);
	*ret = r.t.text;
	if (end && !r.t.has_failed)
		return 0;
	free(r.t.text);
	*ret = NULL;
	return r.t.has_failed ? err_set(e, -ENOMEM, "out of memory")
			      : err_set(e, -EPROTO, "ls: farblockd's answer is not a tree");
}
