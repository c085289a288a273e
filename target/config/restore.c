// SPDX-License-Identifier: BSD-2-Clause
// From a document in rtslib's form to the tree. Nothing is lost: unknown, unsupported or invalid
// content is kept in its place and saved again, and reported to the user. Objects that cannot be
// opened wait.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/restore.h"

static int add_fabric(struct restore *r, struct node *n, const struct node_class *class,
		      struct json_object *o, struct err *e)
{
	struct config *c = r->c;
	const char *name = json_text(o, "name");
	if (!name)
		return err_set(e, -EINVAL, "missing 'name'");
	if (strcmp(name, "iscsi")) {
		restore_keep_entry(&c->root, "fabric_modules", o);
		return 0;
	}
	int code = txn_memory(c, &c->discovery, sizeof c->discovery);
	if (code < 0)
		return err_set(e, code, "out of memory");
	restore_group(r, &c->iscsi, iscsi_groups, o, false);
	c->is_view_dirty = true;
	restore_keep_unknown(r, &c->iscsi, o);
	return 0;
}

static void restore_pref(struct restore *r, const char *name, struct json_object *value)
{
	const struct attr_row *row = attr_find(pref_rows, name);
	const char *text = json_scalar(value);
	struct err why = { 0 };
	if (!row)
		restore_tell_unknown(r, SAVED_PREFS, name, SAVED_SECTION);
	else if (attr_set(row, &r->c->prefs, text ? text : "", &why) < 0)
		restore_complain(r, "%s: %s", SAVED_PREFS, why.text);
}

// Values absent from another program's file do not change.
static int restore_prefs(struct restore *r, struct json_object *values, struct err *e)
{
	bool is_there = json_object_is_type(values, json_type_object);
	if (!is_there && !r->is_exact)
		return 0;
	int code = txn_memory(r->c, &r->c->prefs, sizeof r->c->prefs);
	if (code < 0)
		return err_set(e, code, "out of memory");
	if (r->options->is_apply)
		attr_defaults(pref_rows, &r->c->prefs);
	if (!is_there)
		return 0;
	json_object_object_foreach(values, key, value) restore_pref(r, key, value);
	return 0;
}

bool restore_leaves_target(struct restore *r, const struct node *n, const char *name)
{
	bool leaves = restore_leaves(r, n, name);
	if (leaves)
		restore_complain(r, "target with wwn %s exist, not restoring", name);
	return leaves;
}

static int keep_unsupported(struct restore *r, const char *fabric, const char *wwn,
			    struct json_object *o, struct err *e)
{
	if (!*fabric || strchr(fabric, '/') || !*wwn || strchr(wwn, '/') || strlen(fabric) > 63 ||
	    strlen(wwn) > 223)
		return err_set(e, -EINVAL, "invalid 'fabric' or 'wwn'");
	struct node *n = fabric_of(r->c, fabric, e);
	if (!n)
		return err_set(e, -EINVAL, "'fabric' cannot be '%s'", fabric);
	int code = restore_foreign(r, n, &foreign_class, wwn, o, e);
	if (code > 0)
		restore_complain(r, "target %s: fabric '%s' is not supported, kept", wwn, fabric);
	return code;
}

static int add_target(struct restore *r, struct node *n, const struct node_class *class,
		      struct json_object *o, struct err *e)
{
	const char *fabric = json_text(o, "fabric"), *wwn = json_text(o, "wwn");
	if (!fabric || !wwn)
		return err_set(e, -EINVAL, "missing 'fabric' or 'wwn'");
	if (r->options->only_target && strcmp(r->options->only_target, wwn))
		return 0;
	if (!strcmp(fabric, "iscsi"))
		return restore_entry(r, &r->c->iscsi, &target_class, o, e);
	if (!strcmp(fabric, "srpt"))
		return restore_entry(r, &r->c->srpt, &srpt_target_class, o, e);
	return keep_unsupported(r, fabric, wwn, o, e);
}

// Default, unless the document has a value.
static int forget_discovery(struct config *c, struct err *e)
{
	static const struct auth_group none;
	int r = txn_change(c, &c->discovery, &none, sizeof none);
	if (r < 0)
		return err_set(e, r, "out of memory");
	c->is_view_dirty |= r;
	return 0;
}

// Removes kinds that became empty too.
static int sweep_kinds(struct restore *r, struct node *n, struct err *e)
{
	int code = 0;
	list_for_each_safe (i, &n->children) {
		struct node *kind = list_entry(i, struct node, link);
		bool is_foreign = kind->class == &fabric_class;
		if (!is_foreign && n == &r->c->root)
			continue;
		code = code ? code : restore_sweep(r, kind, e);
		if (!code && is_foreign && !kind->child_count)
			code = model_remove(r->c, kind, e);
	}
	return code;
}

static int sweep_all(struct restore *r, struct err *e)
{
	int code = restore_sweep(r, &r->c->iscsi, e);
	code = code ? code : restore_sweep(r, &r->c->srpt, e);
	code = code ? code : sweep_kinds(r, &r->c->root, e);
	return code ? code : sweep_kinds(r, &r->c->backstores, e);
}

// Clears the marks of a partial or failed restore at the top.
static void forget_named(struct config *c)
{
	list_for_each (i, &c->iscsi.children)
		list_entry(i, struct node, link)->is_named = false;
	list_for_each (i, &c->srpt.children)
		list_entry(i, struct node, link)->is_named = false;
	list_for_each (i, &c->backstores.children) {
		struct node *type = list_entry(i, struct node, link);
		list_for_each (j, &type->children)
			list_entry(j, struct node, link)->is_named = false;
	}
}

int restore_document(struct config *c, struct json_object *doc, const struct restore_options *o,
		     struct json_object *errors, struct err *e)
{
	static const char *const lists[] = { "storage_objects", "targets", "fabric_modules" };
	struct restore r = { .c = c, .options = o, .errors = errors };
	bool is_partial = o->only_target || o->only_storage;
	if (!json_object_is_type(doc, json_type_object))
		return err_set(e, -EINVAL, "not an object with storage_objects and targets");
	for (int i = 0; i < 3; i++)
		if (json_field(doc, lists[i]) &&
		    !json_object_is_type(json_field(doc, lists[i]), json_type_array))
			return err_set(e, -EINVAL, "'%s' is not an array", lists[i]);
	int code = restore_check_sizes(c, doc, o, errors, e);
	if (code < 0)
		return code;
	struct json_object *own = json_field(doc, SAVED_SECTION);
	r.objects = json_field(own, "objects");
	r.is_exact = own != NULL;
	r.told_keys = json_object_new_array();
	bool is_whole_apply = o->is_apply && !is_partial;
	code = txn_kept(c, &c->root, !is_whole_apply);
	code = code ? code : txn_kept(c, &c->iscsi, !is_whole_apply);
	if (!code && is_whole_apply)
		code = forget_discovery(c, e);
	if (!code && !is_partial)
		code = restore_prefs(&r, json_field(own, SAVED_PREFS), e);
	if (!is_partial)
		restore_each(&r, &c->root, doc, "fabric_modules", add_fabric, &iscsi_class);
	if (!o->only_target)
		restore_each(&r, &c->root, doc, "storage_objects", restore_storage, &storage_class);
	if (!o->only_storage)
		restore_each(&r, &c->root, doc, "targets", add_target, &target_class);
	if (!code && is_whole_apply)
		code = sweep_all(&r, e);
	if (!is_partial) {
		restore_keep_unknown(&r, &c->root, doc);
		uint64_t generation = json_object_get_uint64(json_field(own, "generation"));
		if (generation > c->generation) // each number is allocated once
			c->generation = generation;
	}
	forget_named(c);
	map_done(&r.told);
	map_done(&r.serials);
	map_done(&r.leaving);
	json_object_put(r.told_keys);
	return code;
}
