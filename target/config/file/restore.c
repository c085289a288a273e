// SPDX-License-Identifier: BSD-2-Clause
// From a document in rtslib's form to the tree. Nothing is lost: unknown, unsupported or invalid
// content is kept in its place and saved again, and reported to the user. Objects that cannot be
// opened wait.
#include <errno.h>
#include <string.h>

#include "target/config/file/kept.h"
#include "target/config/file/restore.h"

// ---- the fabrics ----

static int read_fabric(struct restore *r, struct node *n, const struct node_class *class,
		       struct json_object *o, struct err *e)
{
	const char *name = json_text(o, "name");
	if (!name)
		return err_set(e, -EINVAL, "missing 'name'");
	struct node *fabric = node_child(&r->c->names, n, name);
	if (!fabric || !saved_is_fabric(fabric)) {
		restore_keep_entry(n, "fabric_modules", o);
		return 0;
	}
	saved_each_group(g, fabric->class) restore_group(r, fabric, g, o, true);
	restore_keep_unknown(r, fabric, o);
	return 0;
}

// Their settings are defaults, unless the document has values.
static int forget_fabrics(struct restore *r, bool is_whole_apply)
{
	int code = txn_kept(r->c, &r->c->root, !is_whole_apply);
	list_each (struct node, n, &r->c->root.children, link) {
		if (code || !saved_is_fabric(n))
			continue;
		code = txn_kept(r->c, n, !is_whole_apply);
		if (is_whole_apply)
			saved_each_group(g, n->class) restore_group(r, n, g, NULL, true);
	}
	return code;
}

// ---- the preferences ----

static void restore_pref(struct restore *r, const char *name, struct json_object *value)
{
	const struct attr_row *row = attr_find(r->c->root.class->groups->rows, name);
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
		attr_defaults(r->c->root.class->groups->rows, &r->c->prefs);
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
	struct node *n = kept_kind(r->c, &r->c->root, fabric, e);
	if (!n)
		return e->code;
	int code = restore_foreign(r, n, &foreign_class, wwn, o, e);
	if (code > 0)
		restore_complain(r, "target %s: fabric '%s' is not supported, kept", wwn, fabric);
	return code;
}

static int read_target(struct restore *r, struct node *n, const struct node_class *class,
		       struct json_object *o, struct err *e)
{
	const char *fabric = json_text(o, "fabric"), *wwn = json_text(o, "wwn");
	if (!fabric || !wwn)
		return err_set(e, -EINVAL, "missing 'fabric' or 'wwn'");
	if (r->options->only_target && strcmp(r->options->only_target, wwn))
		return 0;
	struct node *kind = node_child(&r->c->names, n, fabric);
	bool is_ours = kind && kind->class->saved && kind->class->saved->targets;
	return is_ours ? restore_entry(r, kind, kind->class->saved->targets, o, e)
		       : keep_unsupported(r, fabric, wwn, o, e);
}

// ---- the document ----

struct sweep {
	struct restore *r;
	struct err *e;
};

// Kinds of unsupported objects that became empty are removed, too.
static int sweep_kind(struct config *c, struct node *kind, void *arg)
{
	struct sweep *s = arg;
	int code = restore_sweep(s->r, kind, s->e);
	if (code || kind->class != &fabric_class || kind->child_count)
		return code;
	return tree_remove(c, kind, s->e);
}

// Clears the marks of a partial or failed restore.
static int forget_named(struct config *c, struct node *kind, void *arg)
{
	list_each (struct node, n, &kind->children, link)
		n->is_named = false;
	return 0;
}

// Reads a list of the document. fn NULL: as the class of its entries does.
static void read_list(struct restore *r, struct json_object *doc, const char *list,
		      restore_entry_fn *fn)
{
	const struct node_class *class = saved_class_of(r->c, list);
	restore_each(r, &r->c->root, doc, list, fn ? fn : class->saved->entry, class);
}

int restore_check(struct config *c, struct json_object *doc, const struct restore_options *o,
		  struct json_object *notes, struct err *e)
{
	int code = 0;
	for (int i = 0; i < SAVED_LISTS && o->is_apply; i++) {
		const struct saved_class *k = saved_class_of(c, saved_lists[i])->saved;
		json_each (entry, json_field(doc, saved_lists[i]))
			if (k->check && !code)
				code = k->check(c, entry, o, notes, e);
	}
	return code;
}

int restore_document(struct config *c, struct json_object *doc, const struct restore_options *o,
		     struct json_object *errors, struct err *e)
{
	struct restore r = { .c = c, .options = o, .errors = errors };
	bool is_partial = o->only_target || o->only_storage;
	if (!json_object_is_type(doc, json_type_object))
		return err_set(e, -EINVAL, "not an object with storage_objects and targets");
	for (int i = 0; i < SAVED_LISTS; i++)
		if (json_field(doc, saved_lists[i]) &&
		    !json_object_is_type(json_field(doc, saved_lists[i]), json_type_array))
			return err_set(e, -EINVAL, "'%s' is not an array", saved_lists[i]);
	int code = restore_check(c, doc, o, errors, e);
	if (code < 0)
		return code;
	struct json_object *own = json_field(doc, SAVED_SECTION);
	r.objects = json_field(own, "objects");
	r.is_exact = own != NULL;
	r.told = json_object_new_object();
	bool is_whole_apply = o->is_apply && !is_partial;
	code = forget_fabrics(&r, is_whole_apply);
	if (code < 0)
		err_set(e, code, "out of memory");
	if (!code && !is_partial)
		code = restore_prefs(&r, json_field(own, SAVED_PREFS), e);
	if (!is_partial)
		read_list(&r, doc, "fabric_modules", read_fabric);
	if (!o->only_target)
		read_list(&r, doc, "storage_objects", NULL);
	if (!o->only_storage)
		read_list(&r, doc, "targets", read_target);
	if (!code && r.has_no_memory)
		code = err_set(e, -ENOMEM, "out of memory");
	if (!code && is_whole_apply)
		code = tree_each_kind(c, sweep_kind, &(struct sweep){ &r, e });
	if (!is_partial) {
		restore_keep_unknown(&r, &c->root, doc);
		uint64_t generation = json_object_get_uint64(json_field(own, "generation"));
		if (generation > c->generation) // each number is allocated once
			c->generation = generation;
	}
	tree_each_kind(c, forget_named, NULL);
	map_done(&r.serials);
	map_done(&r.leaving);
	json_object_put(r.told);
	return code;
}
