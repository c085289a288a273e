// SPDX-License-Identifier: BSD-2-Clause
// plan FILE and apply FILE: make the tree match a document. Both do the same; plan undoes it.
#include <errno.h>
#include <string.h>

#include "target/config/change/commit.h"
#include "target/config/change/plan.h"
#include "target/config/file/document.h"
#include "target/config/file/saved_file.h"
#include "target/config/storage/lost_data.h"

// An empty configuration that was saved here, not a file that lost its content.
static bool is_saved_empty(struct json_object *doc)
{
	return json_field(json_field(doc, SAVED_SECTION), "generation") &&
	       json_object_is_type(json_field(doc, "storage_objects"), json_type_array) &&
	       json_object_is_type(json_field(doc, "targets"), json_type_array);
}

int plan_refuse_nothing(const struct config *c, struct json_object *doc, const char *what,
			struct err *e)
{
	if (model_is_empty(c) || document_has_objects(doc))
		return 0;
	return err_set(
		e, -EPERM,
		"%s: no storage_objects and no targets: everything would be deleted (clearconfig "
		"confirm=true does that)",
		what);
}

static void say_all(struct reply *r, struct json_object *lines, const char *before)
{
	json_each (line, lines)
		reply_say(r, "%s%s", before, json_object_get_string(line));
}

static void say_result(struct reply *r, struct json_object *lines, struct json_object *errors,
		       const char *what, bool is_dry)
{
	size_t n = json_object_array_length(lines);
	say_all(r, lines, "");
	say_all(r, errors, "Note: ");
	if (!n)
		reply_say(r, "Nothing to do: the configuration equals %s.", what);
	else if (is_dry)
		reply_say(r, "%zu difference%s; nothing changed.", n, n == 1 ? "" : "s");
	else
		reply_say(r, "Applied %s: %zu difference%s.", what, n, n == 1 ? "" : "s");
}

// -EINVAL for the first entry or value that would be kept without effect, and is not kept so
// already in from, the configuration before.
static int refuse_invalid(struct config *c, struct json_object *invalid, struct json_object *from,
			  struct err *e)
{
	struct json_object *before = json_object_new_object(), *lines = json_object_new_array();
	struct restore_options o = {
		.is_running = true,
		.is_apply = true,
		.is_dry = true,
		.may_be_empty = true,
		.invalid = before,
	};
	struct txn_mark mark = txn_mark(c);
	int code = json_object_object_length(invalid) ? restore_document(c, from, &o, lines, e) : 0;
	txn_undo_to(c, mark);
	json_object_object_foreach(invalid, place,
				   line) if (!code && !json_has(before, place, NULL)) code =
		err_set(e, -EINVAL, "%s (correct it; force=true keeps it without effect)",
			json_object_get_string(line));
	json_object_put(before);
	json_object_put(lines);
	return code;
}

int plan_run(struct config *c, struct json_object *doc, const char *what,
	     const struct restore_options *o, struct reply *r, struct err *e)
{
	bool may_empty = !o->is_apply || o->may_be_empty || (o->is_undo && is_saved_empty(doc));
	int code = may_empty ? 0 : plan_refuse_nothing(c, doc, what, e);
	if (code < 0)
		return code;
	struct txn_mark mark = txn_mark(c);
	struct json_object *lines = json_object_new_array(), *errors = json_object_new_array();
	struct json_object *from = save_document(c);
	const char *first = NULL;
	code = restore_document(c, doc, o, errors, e);
	struct err bad = { 0 };
	int invalid = !code && o->invalid ? refuse_invalid(c, o->invalid, from, &bad) : 0;
	if (invalid && !o->is_dry && !o->is_forced)
		err_set(e, code = invalid, "%s: %s", what, bad.text);
	unsigned lost = lost_data(c, mark, errors, &first);
	if (!code && o->is_undo)
		lost_before(c, mark, errors);
	if (!code && !o->is_dry && !o->is_forced)
		code = lost_data_refuse(lost, first, what, e);
	c->txn.is_forced |= o->is_forced;
	struct err used = { 0 };
	int refused = code ? 0 : change_refuse_used(c, &used);
	if (refused && !o->is_dry) {
		code = refused;
		*e = used;
	}
	struct json_object *to = save_document(c);
	if (!code)
		diff_documents(c, from, to, lines);
	if (!code && o->is_undo && !json_object_array_length(lines)) // only sizes would change
		code = restore_check(c, doc, o, NULL, e);
	if (!code) {
		say_result(r, lines, errors, what, o->is_dry);
		if (lost && o->is_dry)
			reply_say(r, "Requires force=true: data will be lost.");
		if (o->is_dry && (refused || invalid))
			reply_say(r, "apply would be refused: %s", refused ? used.text : bad.text);
	}
	if (o->is_dry || (!code && !json_count(lines))) // no generation without a change
		txn_undo_to(c, mark);
	json_object_put(from);
	json_object_put(to);
	json_object_put(lines);
	json_object_put(errors);
	return code;
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
	diff_documents(c, from, to, lines);
	json_object_put(from);
	json_object_put(to);
	r->messages = lines;
	if (!json_object_array_length(lines))
		reply_say(r, "No differences from %s.", file);
	return 0;
}

static int run_file(struct config *c, const struct args *a, bool is_dry, struct reply *r,
		    struct err *e)
{
	const char *file = arg(a, "file");
	struct restore_options o = {
		.is_running = true,
		.is_apply = true,
		.is_dry = is_dry,
		.is_forced = !is_dry && arg_bool(a, "force", false),
		.invalid = json_object_new_object(),
	};
	struct json_object *doc = NULL;
	int code = document_get(c, a, "file", &doc, e);
	if (!code)
		code = plan_run(c, doc, file, &o, r, e);
	json_object_put(doc);
	json_object_put(o.invalid);
	return code;
}

int plan_plan(struct config *c, struct node *n, const struct args *a, struct reply *r,
	      struct err *e)
{
	return run_file(c, a, true, r, e);
}

int plan_apply(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e)
{
	return run_file(c, a, false, r, e);
}
