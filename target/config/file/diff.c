// SPDX-License-Identifier: BSD-2-Clause
// Differences between two documents in the form of the saved file, as text. Objects of a list are
// identified by their name, not their position.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "target/config/file/document.h"
#include "target/config/file/kept.h"
#include "target/config/file/saved.h"

struct diff {
	const struct config *c;
	struct json_object *lines;
	struct json_object *whole; // paths of added or removed objects
	struct json_object *none;  // an empty object
	bool is_own;		   // compares our section
};

static void compare(struct diff *d, const char *path, const char *part, struct json_object *from,
		    struct json_object *to);

static void say(struct diff *d, const char *mark, const char *path, const char *rest)
{
	struct json_text t = { 0 };
	json_text_put(&t, mark);
	json_text_put(&t, path);
	json_text_put(&t, rest);
	if (t.text) {
		utf8_tame(t.text); // values were truncated
		json_add_text(d->lines, t.text);
	}
	free(t.text);
}

// An object: its settings are not reported.
static void say_whole(struct diff *d, const char *mark, const char *path)
{
	say(d, mark, path, "");
	json_object_object_add(d->whole, path, NULL);
}

static const char *shown(const struct diff *d, struct json_object *v, const char *key)
{
	const char *text = v ? json_scalar(v) : NULL;
	if (!v || (text && !*text))
		return "nothing";
	if (saved_is_secret(d->c, key))
		return "********";
	return text ? text : json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN);
}

static void say_change(struct diff *d, const char *path, const char *part, const char *key,
		       struct json_object *from, struct json_object *to)
{
	char rest[700], old[256];
	snprintf(old, sizeof old, "%s", shown(d, from, key));
	snprintf(rest, sizeof rest, ": %s%s%s: %s -> %.256s", part, *part ? " " : "", key, old,
		 saved_is_secret(d->c, key) && from && to ? "another ********" : shown(d, to, key));
	say(d, "  ", path, rest);
}

// Entries by their path; the first of several with one name counts.
static struct json_object *index_of(const struct saved_class *k, const char *path,
				    struct json_object *list)
{
	struct json_object *o = json_object_new_object();
	char name[SAVED_PATH_SIZE];
	json_each (entry, list) {
		saved_path(k, path, entry, name);
		if (*name && !json_object_object_get_ex(o, name, NULL))
			json_object_object_add(o, name, json_object_get(entry));
	}
	return o;
}

// An object that is only kept is one node, whatever its content.
static bool is_kept(const struct diff *d, const struct saved_class *k, struct json_object *o)
{
	const char *name = json_text(o, k->id[0]);
	const struct node *above = !strcmp(k->list, "storage_objects") ? &d->c->backstores
				   : !strcmp(k->list, "targets")       ? &d->c->root
								       : NULL;
	const struct node *kind = above && name ? node_child(&d->c->names, above, name) : NULL;
	return above && name && (!kind || kind->class == &fabric_class);
}

static void compare_entry(struct diff *d, const struct saved_class *k, const char *path,
			  struct json_object *from, struct json_object *to)
{
	if (!is_kept(d, k, to))
		compare(d, path, "", from, to);
	else if (from && !json_object_equal(from, to))
		say(d, "  ", path, ": another content");
}

static void compare_lists(struct diff *d, const struct saved_class *k, const char *path,
			  struct json_object *from, struct json_object *to)
{
	struct json_object *a = index_of(k, path, from), *b = index_of(k, path, to);
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
		compare_entry(d, k, name, before, entry);
	}
	json_object_put(a);
	json_object_put(b);
}

static void compare_field(struct diff *d, const char *path, const char *part, const char *key,
			  struct json_object *from, struct json_object *to, bool is_new)
{
	const struct node_class *class = *part ? NULL : saved_class_of(d->c, key);
	bool is_of_own = d->is_own && !*part;
	if (is_of_own && !strcmp(key, "relative_port")) // of a group: not a setting
		return;
	// There a new group of settings is reported with its values.
	if (is_of_own && !from && json_object_is_type(to, json_type_object))
		from = d->none;
	if (class)
		compare_lists(d, class->saved, path, from, to);
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
// is not a user setting. Objects that exist before and after: those with own settings after, then
// those with own settings before.
static void compare_own(struct diff *d, struct json_object *from, struct json_object *to)
{
	struct json_object *a = json_field(from, "objects"), *b = json_field(to, "objects");
	struct json_object *all[] = { b, a };
	for (int i = 0; i < 2; i++) {
		if (!json_object_is_type(all[i], json_type_object))
			continue;
		json_object_object_foreach(all[i], path, entry)
		{
			struct json_object *before = json_field(a, path),
					   *after = json_field(b, path);
			(void)entry;
			if ((!i || !after) && !json_object_object_get_ex(d->whole, path, NULL))
				compare(d, path, "", before ? before : d->none,
					after ? after : d->none);
		}
	}
	struct json_object *x = json_field(from, SAVED_PREFS), *y = json_field(to, SAVED_PREFS);
	compare(d, "/", SAVED_PREFS, x ? x : d->none, y ? y : d->none);
}

void diff_documents(const struct config *c, struct json_object *from, struct json_object *to,
		    struct json_object *lines)
{
	struct diff d = { c, lines, json_object_new_object(), json_object_new_object(), false };
	for (size_t i = 0; i < 3; i++)
		compare_lists(&d, saved_class_of(c, saved_lists[i])->saved, "",
			      json_field(from, saved_lists[i]), json_field(to, saved_lists[i]));
	d.is_own = true;
	compare_own(&d, json_field(from, SAVED_SECTION), json_field(to, SAVED_SECTION));
	json_object_put(d.whole);
	json_object_put(d.none);
}
