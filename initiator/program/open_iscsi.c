// SPDX-License-Identifier: BSD-2-Clause
// See open_iscsi.h.
#include "initiator/program/open_iscsi.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/whole_file.h"

#define FILE_MAX (256 << 10) // bytes

// ---- lines ----

#define AT(field)                                                                                  \
	offsetof(struct open_iscsi_auth, field), sizeof((struct open_iscsi_auth *)0)->field
static const struct {
	const char *key;
	size_t at, size;
} values[] = {
	{"username",     AT(user)	       },
	    { "password",	  AT(secret)	     },
	{ "username_in", AT(mutual_user)	 },
	    { "password_in", AT(mutual_secret)},
	{ "chap_algs",   AT(algs)		},
};

static bool is(const char *a, size_t len, const char *b)
{
	return strlen(b) == len && !memcmp(a, b, len);
}

static int take_value(struct open_iscsi_auth *a, const char *key, size_t key_len, const char *value,
		      size_t len, struct err *e)
{
	if (is(key, key_len, "authmethod")) {
		a->has_method = true;
		a->is_chap = is(value, len, "CHAP");
		return 0;
	}
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char *to = (char *)a + values[i].at;
		if (!is(key, key_len, values[i].key))
			continue;
		if (len >= values[i].size)
			return err_set(e, -EINVAL, "%s: longer than %zu bytes", values[i].key,
				       values[i].size - 1);
		memcpy(to, value, len);
		to[len] = 0;
	}
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int take_line(struct open_iscsi_auth *a, const char *p, const char *end, const char *prefix,
		     struct err *e)
{
	size_t n = strlen(prefix);
	while (p < end && is_blank(*p))
		p++;
	while (end > p && is_blank(end[-1]))
		end--;
	if ((size_t)(end - p) < n || memcmp(p, prefix, n))
		return 0;
	p += n;
	const char *eq = memchr(p, '=', (size_t)(end - p));
	if (!eq)
		return 0;
	const char *value = eq + 1, *key_end = eq;
	while (key_end > p && is_blank(key_end[-1]))
		key_end--;
	while (value < end && is_blank(*value))
		value++;
	if (is(value, (size_t)(end - value), "<empty>"))
		value = end;
	return take_value(a, p, (size_t)(key_end - p), value, (size_t)(end - value), e);
}

int open_iscsi_parse(struct open_iscsi_auth *ret, const char *text, size_t len, const char *prefix,
		     const char *what, struct err *e)
{
	const char *p = text, *end = text + len;
	*ret = (struct open_iscsi_auth){ 0 };
	if (len > FILE_MAX || memchr(text, 0, len))
		return err_set(e, -EINVAL, "%s: longer than %d bytes, or binary", what, FILE_MAX);
	for (unsigned line = 1; p < end; line++) {
		const char *next = memchr(p, '\n', (size_t)(end - p));
		int r = take_line(ret, p, next ? next : end, prefix, e);
		if (r)
			return err_prefix(e, "%s: line %u", what, line), r;
		p = next ? next + 1 : end;
	}
	return 0;
}

// ---- files ----

static int read_file(struct open_iscsi_auth *ret, const char *path, const char *prefix,
		     struct err *e)
{
	char *text;
	size_t len;
	*ret = (struct open_iscsi_auth){ 0 };
	int r = whole_file_read(path, &text, &len, e);
	if (r)
		return r;
	r = open_iscsi_parse(ret, text, len, prefix, path, e);
	chap_wipe(text, len);
	free(text);
	return r;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

// A record of TARGET is nodes/TARGET/HOST,PORT,TPGT/IFACE, of old versions nodes/TARGET/HOST,PORT.
static bool is_of_portal(const char *path, const char *portal)
{
	const char *at = strstr(path, portal);
	size_t n = strlen(portal);
	return at && at > path && at[-1] == '/' && (!at[n] || at[n] == ',' || at[n] == '/');
}

// The first record, or that of the portal. -ENOENT: none.
static int read_records(struct open_iscsi_auth *ret, const char *folder, const char *portal,
			struct err *e)
{
	char *const paths[] = { (char *)folder, NULL };
	struct open_iscsi_auth found;
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	int r = -ENOENT;
	for (FTSENT *n; tree && (n = fts_read(tree));) {
		bool is_preferred = is_of_portal(n->fts_path, portal);
		if (n->fts_level > 2)
			fts_set(tree, n, FTS_SKIP);
		if (n->fts_info != FTS_F || n->fts_level > 2 || (!r && !is_preferred))
			continue;
		r = read_file(&found, n->fts_path, "node.session.auth.", e);
		*ret = found;
		if (r || is_preferred)
			break;
	}
	if (tree)
		fts_close(tree);
	chap_wipe(&found, sizeof found);
	return r;
}

int open_iscsi_auth(struct open_iscsi_auth *ret, const char *dir, const char *target,
		    const char *portal, struct err *e)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/nodes/%s", dir, target);
	int r = target[0] ? read_records(ret, path, portal, e) : -ENOENT;
	if (r == -ENOENT || (!r && !ret->has_method)) {
		snprintf(path, sizeof path, "%s/iscsid.conf", dir);
		r = read_file(ret, path,
			      target[0] ? "node.session.auth." : "discovery.sendtargets.auth.", e);
	}
	if (r == -ENOENT)
		*ret = (struct open_iscsi_auth){ 0 };
	return r == -ENOENT ? 0 : r;
}
