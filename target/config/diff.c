// SPDX-License-Identifier: BSD-2-Clause
// Differences between two documents in the form of the saved file, as text. Objects of a list are
// identified by their name, not their position.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "target/config/plan.h"
#include "target/config/saved.h"

// The lists of a document: the key that names an object, and its path below the list's owner.
static const struct list_row {
	const char *key, *id[2];
	const char *before; // prefix of the name, and separator
	const char *between;
} lists[] = {
	{"storage_objects", { "plugin", "name" },	   "/backstores/", "/"},
	{ "targets",	     { "fabric", "wwn" },	  "/",	       "/"},
	{ "fabric_modules", { "name", NULL },	      "/",		   "" },
	{ "tpgs",		  { "tag", NULL },	   "/tpg",	   "" },
	{ "luns",		  { "index", NULL },	     "/luns/lun",	  "" },
	{ "portals",	     { "ip_address", "port" }, "/portals/",    ":"},
	{ "node_acls",      { "node_wwn", NULL },     "/acls/",       "" },
	{ "mapped_luns",	 { "index", NULL },	    "/mapped_lun",  "" },
	{ "alua_tpgs",      { "name", NULL },	 "/alua/",	   "" },
};

enum { PATH_SIZE = 1200 };

struct diff {
	struct json_object *lines;
	struct json_object *whole; // paths of added or removed objects
};

static void compare(struct diff *d, const char *path, const char *part, struct json_object *from,
		    struct json_object *to);

static const struct list_row *list_of(const char *key)
{
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (!strcmp(lists[i].key, key))
			return &lists[i];
	return NULL;
}

static void say(struct diff *d, const char *mark, const char *path, const char *rest)
{
	struct json_text t = { 0 };
	json_text_put(&t, mark);
	json_text_put(&t, path);
	json_text_put(&t, rest);
	if (t.text) {
		utf8_tame(t.text); // values were truncated
		json_object_array_add(d->lines, json_object_new_string(t.text));
	}
	free(t.text);
}

// An object: its settings are not reported.
static void say_whole(struct diff *d, const char *mark, const char *path)
{
	say(d, mark, path, "");
	json_object_object_add(d->whole, path, NULL);
}

static bool is_secret(const char *key)
{
	return strstr(key, "password") && !strstr(key, "password_file"); // is a path
}

static const char *shown(struct json_object *v, const char *key)
{
	const char *text = v ? json_scalar(v) : NULL;
	if (!v || (text && !*text))
		return "nothing";
	if (is_secret(key))
		return "********";
	return text ? text : json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN);
}

static void say_change(struct diff *d, const char *path, const char *part, const char *key,
		       struct json_object *from, struct json_object *to)
{
	char rest[700], old[256];
	snprintf(old, sizeof old, "%s", shown(from, key));
	snprintf(rest, sizeof rest, ": %s%s%s: %s -> %.256s", part, *part ? " " : "", key, old,
		 is_secret(key) && from && to ? "another ********" : shown(to, key));
	say(d, "  ", path, rest);
}

// An SRP target is its portal group: one node.
static bool is_group_of_srpt(const struct list_row *row, const char *path)
{
	return !strcmp(row->key, "tpgs") && !strncmp(path, "/srpt/", strlen("/srpt/"));
}

// The path of an entry, "": no name.
static void entry_path(const struct list_row *row, const char *path, struct json_object *o,
		       char out[PATH_SIZE])
{
	const char *a = json_scalar(json_field(o, row->id[0]));
	const char *b = row->id[1] ? json_scalar(json_field(o, row->id[1])) : "";
	*out = 0;
	if (a && b && is_group_of_srpt(row, path))
		snprintf(out, PATH_SIZE, "%s", path);
	else if (a && b)
		snprintf(out, PATH_SIZE, "%.600s%s%.250s%s%.250s", path, row->before, a,
			 row->between, b);
}

// Entries by their path; the first of several with one name counts.
static struct json_object *index_of(const struct list_row *row, const char *path,
				    struct json_object *list)
{
	struct json_object *o = json_object_new_object();
	char name[PATH_SIZE];
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	for (size_t i = 0; i < n; i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);
		entry_path(row, path, entry, name);
		if (*name && !json_object_object_get_ex(o, name, NULL))
			json_object_object_add(o, name, json_object_get(entry));
	}
	return o;
}

// An object that is only kept is one node, whatever its content.
static bool is_kept(const struct list_row *row, struct json_object *o)
{
	const char *kind = json_text(o, row->id[0]);
	if (row == &lists[0])
		return kind && !backstore_type_find(kind);
	return row == &lists[1] && kind && strcmp(kind, "iscsi") && strcmp(kind, "srpt");
}

static void compare_entry(struct diff *d, const struct list_row *row, const char *path,
			  struct json_object *from, struct json_object *to)
{
	if (!is_kept(row, to))
		compare(d, path, "", from, to);
	else if (from && !json_object_equal(from, to))
		say(d, "  ", path, ": another content");
}

static void compare_lists(struct diff *d, const struct list_row *row, const char *path,
			  struct json_object *from, struct json_object *to)
{
	struct json_object *a = index_of(row, path, from), *b = index_of(row, path, to);
	json_object_object_foreach(a, gone, old)
	{
		(void)old;
		if (!json_object_object_get_ex(b, gone, NULL) && strcmp(gone, path))
			say_whole(d, "- ", gone);
	}
	json_object_object_foreach(b, name, entry)
	{
		struct json_object *before = json_field(a, name);
		if (!before && strcmp(name, path))
			say_whole(d, "+ ", name);
		compare_entry(d, row, name, before, entry);
	}
	json_object_put(a);
	json_object_put(b);
}

static void compare_field(struct diff *d, const char *path, const char *part, const char *key,
			  struct json_object *from, struct json_object *to, bool is_new)
{
	const struct list_row *row = *part ? NULL : list_of(key);
	if (row)
		compare_lists(d, row, path, from, to);
	else if (json_object_is_type(from ? from : to, json_type_object))
		compare(d, path, key, from, is_new ? NULL : to);
	else if (!is_new && !json_object_equal(from, to))
		say_change(d, path, part, key, from, to);
}

// from NULL: a new object; only its lists are reported.
static void compare(struct diff *d, const char *path, const char *part, struct json_object *from,
		    struct json_object *to)
{
	bool is_new = !from;
	if (json_object_is_type(from, json_type_object)) {
		json_object_object_foreach(from, key, value)
		{
			if (!json_object_object_get_ex(to, key, NULL))
				compare_field(d, path, part, key, value, NULL, false);
		}
	}
	if (!json_object_is_type(to, json_type_object))
		return;
	json_object_object_foreach(to, name, now)
	{
		compare_field(d, path, part, name, json_field(from, name), now, is_new);
	}
}

// Our section: settings that rtslib does not know, by the path of their object. The number of saves
// and the port numbers of groups are not user settings.
static void compare_own_of(struct diff *d, const char *path, struct json_object *from,
			   struct json_object *to)
{
	struct json_object *none = json_object_new_object();
	json_object_object_foreach(from, gone, old)
	{
		if (!json_object_object_get_ex(to, gone, NULL) && strcmp(gone, "relative_port"))
			compare_field(d, path, "", gone, old, NULL, false);
	}
	json_object_object_foreach(to, group, values)
	{
		struct json_object *before = json_field(from, group);
		bool is_first = !before && json_object_is_type(values, json_type_object);
		if (strcmp(group, "relative_port"))
			compare_field(d, path, "", group, is_first ? none : before, values, false);
	}
	json_object_put(none);
}

// Objects that exist before and after: those with own settings after, then those with own settings
// before.
static void compare_own(struct diff *d, struct json_object *from, struct json_object *to)
{
	struct json_object *a = json_field(from, "objects"), *b = json_field(to, "objects");
	struct json_object *none = json_object_new_object(), *all[] = { b, a };
	for (int i = 0; i < 2; i++) {
		if (!json_object_is_type(all[i], json_type_object))
			continue;
		json_object_object_foreach(all[i], path, entry)
		{
			struct json_object *before = json_field(a, path),
					   *after = json_field(b, path);
			(void)entry;
			if ((!i || !after) && !json_object_object_get_ex(d->whole, path, NULL))
				compare_own_of(d, path, before ? before : none,
					       after ? after : none);
		}
	}
	struct json_object *x = json_field(from, SAVED_PREFS), *y = json_field(to, SAVED_PREFS);
	compare(d, "/", SAVED_PREFS, x ? x : none, y ? y : none);
	json_object_put(none);
}

void diff_documents(struct json_object *from, struct json_object *to, struct json_object *lines)
{
	struct diff d = { lines, json_object_new_object() };
	for (size_t i = 0; i < 3; i++)
		compare_lists(&d, &lists[i], "", json_field(from, lists[i].key),
			      json_field(to, lists[i].key));
	compare_own(&d, json_field(from, SAVED_SECTION), json_field(to, SAVED_SECTION));
	json_object_put(d.whole);
}

int plan_diff(struct config *c, struct node *n, const struct args *a, struct reply *r,
	      struct err *e)
{
	const char *file = arg(a, "savefile") ? arg(a, "savefile") : c->file;
	struct json_object *from = NULL;
	int code = document_get(c, a, "savefile", &from, e);
	if (code < 0 && (code != -ENOENT || arg(a, "savefile")))
		return code;
	struct json_object *to = save_document(c), *lines = json_object_new_array();
	diff_documents(from, to, lines);
	json_object_put(from);
	json_object_put(to);
	r->messages = lines;
	if (!json_object_array_length(lines))
		reply_say(r, "No differences from %s.", file);
	return 0;
}
