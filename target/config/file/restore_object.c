// SPDX-License-Identifier: BSD-2-Clause
// Entries of a document's lists, from the description of their class: equal objects remain, with
// their sessions; different settings are changed; in an applied document, objects that it does not
// contain are removed. Control thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/file/kept.h"
#include "target/config/file/restore.h"

void restore_each(struct restore *r, struct node *n, struct json_object *o, const char *key,
		  restore_entry_fn *fn, const struct node_class *class)
{
	struct json_object *list = json_field(o, key);
	if (list && !json_object_is_type(list, json_type_array)) {
		restore_complain(r, "%s: '%s' is not an array, ignored", n->name, key);
		return;
	}
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);
		struct err e = { 0 };
		int code = json_object_is_type(entry, json_type_object)
				   ? fn(r, n, class, entry, &e)
				   : err_set(&e, -EINVAL, "not an object");
		if (code >= 0)
			continue;
		// Its node may exist: nothing of the document is applied.
		r->has_no_memory |= code == -ENOMEM;
		restore_complain_invalid(r, n, key, json_object_to_json_string(entry),
					 "%s: %s[%zu]: %s", n->name, key, i, e.text);
		restore_keep_entry(n, key, entry);
	}
}

int restore_sweep(struct restore *r, struct node *n, struct err *e)
{
	int code = 0;
	if (!r->options->is_apply)
		return 0;
	list_each_safe (struct node, child, &n->children, link) {
		bool is_named = child->is_named;
		child->is_named = false;
		if (!code && !is_named && !child->is_fixed)
			code = tree_remove(r->c, child, e);
	}
	return code;
}

int restore_list(struct restore *r, struct node *n, const struct node_class *class,
		 struct json_object *o, struct err *e)
{
	struct node *folder = saved_folder(r->c, n, class->saved);
	if (!folder && json_object_is_type(json_field(o, class->saved->list), json_type_array))
		restore_keep(n, class->saved->list, json_field(o, class->saved->list));
	if (!folder || (class->saved->is_list_ours && !json_has(o, class->saved->list, NULL)))
		return 0;
	restore_each(r, n, o, class->saved->list, restore_entry, class);
	return restore_sweep(r, folder, e);
}

bool restore_leaves(const struct restore *r, const struct node *n, const char *name)
{
	const struct restore_options *o = r->options;
	return o->is_running && !o->is_apply && node_child(&r->c->names, n, name);
}

// Marks the node as part of the document. is_old: it was in the tree before.
static int mark(struct restore *r, struct node *n, bool is_old)
{
	if (!r->options->is_apply)
		return 0;
	n->is_named = true;
	return is_old ? txn_kept(r->c, n, false) : 0;
}

static int read_content(struct restore *r, struct node *n, struct json_object *o, bool is_old,
			struct err *e)
{
	const struct saved_class *k = n->class->saved;
	int code = 0;
	saved_each_group(g, n->class) restore_group(r, n, g, o, is_old);
	for (const struct node_class *const *l = k->lists; l && *l && !code; l++)
		code = restore_list(r, n, *l, o, e);
	if (!code && k->filled)
		code = k->filled(r, n, o, is_old, e);
	restore_keep_unknown(r, n, o);
	return code;
}

// Of an object whose only entry in a list is the same node: its own unknown keys are separate.
static void keep_outer(struct restore *r, struct node *n, struct json_object *o)
{
	const struct saved_class *k = n->class->saved;
	struct json_object *rest = json_object_new_object();
	json_object_object_foreach(o, key, value)
	{
		if (!strcmp(key, k->id[0]) || !strcmp(key, k->id[1]) || !strcmp(key, k->entries))
			continue;
		restore_tell_unknown(r, "key", key, n->name);
		json_object_object_add(rest, key, json_object_get(value));
	}
	if (json_object_object_length(rest))
		restore_keep(n, SAVED_TARGET, rest);
	json_object_put(rest);
}

static int read_only_entry(struct restore *r, struct node *n, const struct node_class *class,
			   struct json_object *o, struct err *e)
{
	int tag = restore_number_field(o, "tag", 65535, e);
	if (tag < 0)
		return tag;
	if (tag != 1)
		return err_set(e, -EINVAL, "tag: an SRP target has only portal group 1");
	return read_content(r, n, o, true, e);
}

static int fill(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		struct err *e)
{
	const char *entries = n->class->saved->entries;
	if (mark(r, n, is_old) < 0)
		restore_complain(r, "%s: out of memory", n->name);
	if (!entries)
		return read_content(r, n, o, is_old, e);
	restore_each(r, n, o, entries, read_only_entry, n->class);
	keep_outer(r, n, o);
	return 0;
}

// The name of the node for a numbered entry.
static int numbered(const struct saved_class *k, struct json_object *o, char out[SAVED_NAME_SIZE],
		    struct err *e)
{
	int number = restore_number_field(o, k->id[0], 65535, e);
	if (number >= 0)
		snprintf(out, SAVED_NAME_SIZE, "%s%d", k->prefix, number);
	return number < 0 ? number : 0;
}

int restore_entry(struct restore *r, struct node *parent, const struct node_class *class,
		  struct json_object *o, struct err *e)
{
	const struct saved_class *k = class->saved;
	char name[SAVED_NAME_SIZE];
	int code = k->name ? k->name(r, parent, o, name, e) : numbered(k, o, name, e);
	if (code)
		return code < 0 ? code : 0;
	struct node *n = node_child(&r->c->names, saved_folder(r->c, parent, k), name);
	if (n && !r->options->is_apply && !n->is_fixed)
		n = NULL; // to create it again is an error
	if (n && k->is_same && !k->is_same(r, n, o)) {
		code = tree_remove(r->c, n, e);
		n = NULL;
	}
	bool is_old = n;
	if (!code && !n)
		code = k->make(r, parent, name, o, &n, e);
	return code < 0 ? code : fill(r, n, o, is_old, e);
}

int restore_foreign(struct restore *r, struct node *parent, const struct node_class *class,
		    const char *name, struct json_object *o, struct err *e)
{
	struct node *there = node_child(&r->c->names, parent, name);
	if (there && r->options->is_apply && json_object_equal(there->kept, o)) {
		there->is_named = true;
		return 0;
	}
	int code = there && r->options->is_apply ? tree_remove(r->c, there, e) : 0;
	if (code < 0)
		return code;
	struct node *n = foreign_new(r->c, parent, class, name, o, e);
	if (!n)
		return e->code;
	n->is_named = r->options->is_apply;
	return 1;
}
