// SPDX-License-Identifier: BSD-2-Clause
// The root: its commands, and those of every node.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/change/commit.h"
#include "target/config/change/plan.h"
#include "target/config/classes.h"
#include "target/config/file/document.h"
#include "target/config/file/kept.h"
#include "target/config/file/saved_file.h"
#include "target/config/report/report.h"
#include "target/config/storage/lost_data.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/targets.h"
#include "target/config/tree/settings.h"
#include "target/fabric/sessions.h"

static int saveconfig(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	const char *file = config_named_file(c, arg(a, "savefile"));
	int code =
		c->change->transaction.is_open
			? err_set(e, -EBUSY, "saveconfig: a transaction is open (commit saves it)")
		: file == c->file ? config_save(c, false, e)
				  : config_copy(c, a, r, e);
	if (!code)
		reply_say(r, "Configuration saved to %s", file);
	return code;
}

static void info_root(struct config *c, const struct node *n, struct json_object *ret)
{
	json_put_text(ret, "saved_file", c->file);
	json_put_text(ret, "state_dir", c->state_dir);
}

static int remove_kind(struct config *c, struct node *kind, void *e)
{
	return kind->class == &fabric_class ? tree_remove(c, kind, e)
					    : tree_remove_children(c, kind, e);
}

// Removes everything, within the transaction.
static int remove_all(struct config *c, struct err *e)
{
	struct auth_group *discovery = &c->targets->iscsi.discovery;
	int r = txn_memory(c, discovery, sizeof *discovery);
	r = r ? r : txn_kept(c, &c->root, false);
	r = r ? r : txn_kept(c, &c->targets->iscsi.node, false);
	r = r ? r : txn_kept(c, &c->targets->srpt.node, false);
	*discovery = (struct auth_group){ 0 };
	c->targets->is_view_dirty = true;
	return r ? r : tree_each_kind(c, remove_kind, e);
}

void config_drop_all(struct config *c)
{
	struct err e;
	if (remove_all(c, &e) < 0 || config_commit(c, false, &e) < 0)
		log_error("shutdown: %s", e.text);
}

static int clearconfig(struct config *c, struct node *n, const struct args *a, struct reply *r,
		       struct err *e)
{
	if (!arg_bool(a, "confirm", false))
		return err_set(e, -EINVAL, "As a precaution, confirm=True needs to be set");
	int code = remove_all(c, e);
	c->txn.has_removed = 1;
	c->txn.is_forced = true; // confirmed
	reply_say(r, "All configuration cleared");
	return code;
}

static void say_restored(const char *file, struct json_object *errors, struct reply *r)
{
	size_t n = json_object_array_length(errors);
	if (!n) {
		reply_say(r, "Configuration restored from %s", file);
		return;
	}
	r->recoverable = (unsigned)n;
	reply_say(r, "Configuration restored, %zu recoverable errors:", n);
	json_each (line, errors)
		reply_say(r, "%s", json_object_get_string(line));
}

static bool is_target(struct json_object *o, const char *wanted)
{
	const char *wwn = json_text(o, "wwn");
	return wwn && !strcmp(wwn, wanted);
}

static bool is_storage(struct json_object *o, const char *wanted)
{
	const char *plugin = json_text(o, "plugin"), *name = json_text(o, "name");
	return plugin && name && storage_is_meant(wanted, plugin, name);
}

static int expect_entry(struct json_object *doc, const char *list,
			bool (*is_it)(struct json_object *o, const char *wanted), const char *name,
			const char *file, struct err *e)
{
	json_each (entry, json_field(doc, list))
		if (is_it(entry, name))
			return 0;
	return err_set(e, -ENOENT, "%s: no '%s' in %s", file, name, list);
}

// Checked before anything is removed for it.
static int check_named(struct json_object *doc, const struct restore_options *o, const char *file,
		       struct err *e)
{
	if (o->only_target && o->only_storage)
		return err_set(e, -EINVAL, "target and storage_object exclude each other");
	if (o->only_target)
		return expect_entry(doc, "targets", is_target, o->only_target, file, e);
	if (o->only_storage)
		return expect_entry(doc, "storage_objects", is_storage, o->only_storage, file, e);
	return 0;
}

static int restoreconfig(struct config *c, struct node *n, const struct args *a, struct reply *r,
			 struct err *e)
{
	const char *file = arg(a, "savefile") ? arg(a, "savefile") : c->file;
	struct restore_options o = {
		.only_target = arg(a, "target"),
		.only_storage = arg(a, "storage_object"),
		.is_running = true,
	};
	struct json_object *doc = NULL, *errors = json_object_new_array();
	int code = document_get(c, a, "savefile", &doc, e);
	if (code == -ENOENT)
		err_set(e, code, "Restore file %s not found", file);
	if (!code)
		code = check_named(doc, &o, file, e);
	// The named object is changed to match the file; its LUNs and sessions continue.
	bool is_clear = arg_bool(a, "clear_existing", false);
	o.is_apply = is_clear && (o.only_target || o.only_storage);
	bool is_whole = is_clear && !o.is_apply;
	if (!code && is_whole)
		code = plan_refuse_nothing(c, doc, file, e);
	if (!code && is_whole)
		code = remove_all(c, e);
	struct txn_mark mark = txn_mark(c);
	const char *first;
	if (!code)
		code = restore_document(c, doc, &o, errors, e);
	c->txn.is_forced |= arg_bool(a, "force", false);
	if (!code)
		code = change_refuse_used(c, e);
	if (!code) {
		lost_data(c, mark, errors, &first);
		say_restored(file, errors, r);
		txn_touch(c);
	}
	json_object_put(doc);
	json_object_put(errors);
	return code;
}

static int parse_sid(const char *text, uint64_t *ret, struct err *e)
{
	errno = 0;
	*ret = isdigit((unsigned char)*text) ? strtoull(text, NULL, 10) : 0;
	if (*ret && !errno)
		return 0;
	return err_set(e, -EINVAL, "invalid session id: '%.20s' (see sessions)", text);
}

static int drop(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e)
{
	const char *sid = arg(a, "sid");
	bool was_asked;
	uint64_t id;
	int code = parse_sid(sid, &id, e);
	if (!code)
		code = session_drop(id, arg_bool(a, "drain", false) ? SESSION_DRAIN_S : 0,
				    &was_asked, e);
	if (!code && was_asked)
		reply_say(r, "Asked session %s to log out; it is dropped after %d s.", sid,
			  SESSION_DRAIN_S);
	else if (!code)
		reply_say(r, "Dropped session %s.", sid);
	return code;
}

static int refusals(struct config *c, struct node *n, const struct args *a, struct reply *r,
		    struct err *e)
{
	r->data = report_refusals();
	r->view = "refusals";
	return 0;
}

static int stats(struct config *c, struct node *n, const struct args *a, struct reply *r,
		 struct err *e)
{
	r->data = config_stats(c);
	return 0;
}

static int version(struct config *c, struct node *n, const struct args *a, struct reply *r,
		   struct err *e)
{
	reply_say(r, "farblock version " FARBLOCK_VERSION);
	return 0;
}

// ---- commands of every node ----

static int ls(struct config *c, struct node *n, const struct args *a, struct reply *r,
	      struct err *e)
{
	int depth = number_of(arg(a, "depth"), "", 1000);
	if (depth < 0)
		return err_set(e, -EINVAL, "depth: 0..1000");
	r->data = config_tree(c, n, depth, arg_bool(a, "serials", false));
	return r->data ? 0 : err_set(e, -ENOMEM, "the tree: out of memory");
}

static int info(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e)
{
	char path[600];
	struct summary s;
	node_path(n, path, sizeof path);
	r->data = json_object_new_object();
	json_put_text(r->data, "path", path);
	json_put_text(r->data, "name", n->parent ? n->name : "/");
	json_put_text(r->data, "class", n->class->name);
	tree_summary(c, n, &s);
	json_put_text(r->data, "summary", s.text);
	json_put_text(r->data, "warning", s.warning);
	if (n->class->info)
		n->class->info(c, n, r->data);
	return 0;
}

static int status(struct config *c, struct node *n, const struct args *a, struct reply *r,
		  struct err *e)
{
	char path[600];
	struct summary s;
	node_path(n, path, sizeof path);
	tree_summary(c, n, &s);
	reply_say(r, "Status for %s: %s", path, s.text);
	return 0;
}

static int refresh(struct config *c, struct node *n, const struct args *a, struct reply *r,
		   struct err *e)
{
	retry_waiting(c);
	return 0;
}

// clang-format off
const struct command_row every_node_commands[] = {
	{ "ls", PARAMS(
		{ "depth", PARAM_NUMBER, false, "0", "levels to show, 0 all" },
		{ "serials", PARAM_BOOL, false, "false", "true: with serial numbers" }),
	  "Show the tree below a node.", true, ls },
	{ "get", PARAMS(
		{ "group", PARAM_STRING, false, NULL, "group of settings; none: list the groups" },
		{ "parameter", PARAM_STRING, false, NULL, "setting of the group" }),
	  "Show settings.", true, config_get },
	// Its values have free names: config_run() passes them to config_set().
	{ "set", PARAMS(
		{ "group", PARAM_GROUP, true, NULL, "group of settings, then name=value ..." }),
	  "Change settings atomically.", false, NULL },
	{ "info", NULL, "Show all properties of this object.", true, info },
	{ "status", NULL, "Show the summary of this object.", true, status },
	{ "refresh", NULL, "Retry missing files, devices and addresses now.", false, refresh, .is_report = true },
	{ "version", NULL, "Show the version.", true, version },
	{ 0 },
};

static const struct command_row root_commands[] = {
	{ "saveconfig", PARAMS(
		{ "savefile", PARAM_COPY, false, NULL, "file (default: the daemon's own)" }),
	  "Save the configuration; every change also does this.", false, saveconfig },
	{ "restoreconfig", PARAMS(
		{ "savefile", PARAM_DOCUMENT, false, NULL, "file (default: the daemon's own)" },
		{ "clear_existing", PARAM_BOOL, false, "false",
		  "true: first delete the existing objects, or the named one" },
		{ "target", PARAM_STRING, false, NULL, "only this target" },
		{ "storage_object", PARAM_STRING, false, NULL, "only this storage object" },
		{ "force", PARAM_BOOL, false, "false", "true: also take disks from sessions that use them" }),
	  "Restore a saved configuration.", false, restoreconfig, .is_report = true },
	{ "clearconfig", PARAMS(
		{ "confirm", PARAM_BOOL, false, "false", "true: required to confirm" }),
	  "Delete the whole configuration.", false, clearconfig },
	{ "begin", PARAMS(
		{ "seconds", PARAM_NUMBER, false, "300", "time until the transaction is undone" }),
	  "Begin a transaction.", false, plan_begin, .is_whole = true, .is_report = true,
	  .is_unrecorded = true },
	{ "commit", PARAMS(
		{ "backup", PARAM_BOOL, false, "true", "false: keep no backup for undo" },
		{ "force", PARAM_BOOL, false, "false", "true: also take disks from sessions that use them" }),
	  "Save a transaction and put it into effect.", false, plan_commit, .is_whole = true,
	  .is_report = true, .is_unrecorded = true },
	{ "abort", NULL, "Undo a transaction.", false, plan_abort, .is_whole = true, .is_report = true, .is_unrecorded = true },
	{ "diff", PARAMS(
		{ "savefile", PARAM_DOCUMENT, false, NULL, "file (default: the daemon's own)" }),
	  "Show differences from the saved configuration.", true, plan_diff, .is_whole = true },
	{ "plan", PARAMS(
		{ "file", PARAM_DOCUMENT, true, NULL, "configuration file" }),
	  "Show what apply would change.", false, plan_plan, .is_whole = true, .is_report = true },
	{ "apply", PARAMS(
		{ "file", PARAM_DOCUMENT, true, NULL, "configuration file" },
		{ "force", PARAM_BOOL, false, "false",
		  "true: discard RAM disks' data, take disks from sessions that use them, keep invalid values unused" }),
	  "Make the configuration equal to a file, changing only what differs.", false, plan_apply,
	  .is_whole = true, .is_report = true },
	{ "import", PARAMS(
		{ "kind", PARAM_STRING, true, NULL, "kind of configuration file", NULL, "tgt|scst" },
		{ "file", PARAM_DOCUMENT, true, NULL, "that file, with those that it includes" },
		{ "plan", PARAM_BOOL, false, "false", "true: only show what would change" },
		{ "clear_existing", PARAM_BOOL, false, "false",
		  "true: delete what is not in the file; false: add to the configuration" },
		{ "savefile", PARAM_COPY, false, NULL,
		  "only write the result to this file, for apply" },
		PARAM_FORCE_LOSS),
	  "Import the configuration of tgt or SCST.", false, plan_import, .is_whole = true,
	  .is_report = true },
	{ "undo", PARAMS(
		{ "steps", PARAM_NUMBER, false, "1", "number of generations to go back" },
		PARAM_FORCE_LOSS),
	  "Return to an older generation of the saved file.", false, plan_undo, .is_whole = true,
	  .is_report = true },
	{ "generations", NULL, "List the generations of the saved file, with the change that replaced each.", true, plan_generations, .is_whole = true },
	{ "drop", PARAMS(
		{ "sid", PARAM_SESSION, true, NULL, "session id (see sessions)" },
		{ "drain", PARAM_BOOL, false, "false", "true: ask the initiator to log out first" }),
	  "End a session.", false, drop, .is_report = true },
	{ "refusals", NULL, "Show refused logins and their causes.", true, refusals },
	{ "stats", NULL, "Show counters of storage objects, sessions, portals and workers.", true, stats },
	{ 0 },
};
// clang-format on

static const char *const lists[] = { "storage_objects", "targets", "fabric_modules", SAVED_SECTION,
				     NULL };
static const struct saved_class saved = { .ignored = lists };

const struct node_class root_class = {
	.name = "root",
	.help = "The configuration",
	.saved = &saved,
	.commands = root_commands,
	.groups = root_groups,
	.info = info_root,
};
