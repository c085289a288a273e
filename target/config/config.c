// SPDX-License-Identifier: BSD-2-Clause
// The configuration as a whole: start, load, commands, tree, end.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/change/commit.h"
#include "target/config/change/plan.h"
#include "target/config/classes.h"
#include "target/config/config.h"
#include "target/config/file/document.h"
#include "target/config/file/file.h"
#include "target/config/file/saved_file.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/portal.h"
#include "target/config/targets/publish.h"
#include "target/config/targets/srpt.h"
#include "target/config/tree/settings.h"

enum { LOAD_LINES_MAX = 20 }; // of errors in the log; `ls` shows the rest

static int init_nodes(struct config *c, struct err *e)
{
	int r = node_init(&c->root, &root_class, "");
	if (!r)
		r = node_init(&c->backstores, &backstores_class, "backstores");
	if (!r)
		r = node_init(&c->targets->iscsi.node, &iscsi_class, "iscsi");
	if (!r)
		r = node_init(&c->targets->srpt.node, &srpt_class, "srpt");
	if (!r)
		r = node_attach(&c->names, &c->root, &c->backstores);
	if (!r)
		r = node_attach(&c->names, &c->root, &c->targets->iscsi.node);
	if (!r && fabric_find("srpt"))
		r = node_attach(&c->names, &c->root, &c->targets->srpt.node);
	return r < 0 ? err_set(e, r, "configuration: out of memory") : storage_types_new(c, e);
}

struct whole {
	struct config config;
	struct config_saved saved;
	struct config_storage storage;
	struct config_targets targets;
	struct config_change change;
};

int config_new(struct config **ret, const struct config_options *options, struct err *e)
{
	struct whole *w = calloc(1, sizeof *w);
	if (!w)
		return err_set(e, -ENOMEM, "configuration: out of memory");
	struct config *c = &w->config;
	iscsi_rows_use();
	srpt_rows_use();
	w->storage.config = w->change.config = c;
	c->saved = &w->saved;
	c->storage = &w->storage;
	c->targets = &w->targets;
	c->change = &w->change;
	c->control = options->control;
	c->every_node = every_node_commands;
	c->classes = node_classes;
	c->file = strdup(options->file);
	attr_defaults(pref_rows, &c->prefs);
	c->state_dir = options->state_dir ? strdup(options->state_dir) : NULL;
	c->socket = options->socket ? strdup(options->socket) : NULL;
	list_init(&c->targets->dirty);
	list_init(&c->storage->waiting);
	timer_init(&c->storage->retry, storage_retry);
	storage_look_init(c);
	begin_init(c);
	c->saved->commands = json_object_new_array();
	int r = c->file ? init_nodes(c, e) : err_set(e, -ENOMEM, "configuration: out of memory");
	if (!r)
		r = config_publish(c, e);
	if (r < 0) {
		config_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

static void stop_timers(struct config *c)
{
	timer_cancel(c->control, &c->storage->retry);
	timer_cancel(c->control, &c->storage->look);
}

void config_free(struct config *c)
{
	if (!c)
		return;
	stop_timers(c);
	timer_cancel(c->control, &c->change->transaction.limit);
	storage_types_free(c);
	node_done(&c->targets->iscsi.node);
	node_done(&c->targets->srpt.node);
	node_done(&c->backstores);
	node_done(&c->root);
	map_done(&c->names);
	map_done(&c->storage->paths);
	explicit_bzero(&c->targets->iscsi.discovery, sizeof c->targets->iscsi.discovery);
	json_object_put(c->saved->commands);
	json_object_put(c->saved->origin);
	free(c->file);
	free(c->state_dir);
	free(c->socket);
	free(container_of(c, struct whole, config));
}

void config_stop_listening(struct config *c)
{
	begin_done(c);
	c->is_shutting_down = true;
	stop_timers(c);
	portal_each (p, c) {
		c->targets->lost_portals += p->open != NULL;
		portal_close(p->open, p->opened_for);
		p->open = NULL;
	}
}

void config_shutdown(struct config *c, void (*idle)(void *arg), void *arg)
{
	c->is_shutting_down = true;
	stop_timers(c);
	config_drop_all(c);
	config_on_quiet(c, idle, arg);
	if (!c->storage->closing)
		idle(arg);
}

unsigned config_closing(const struct config *c)
{
	return c->storage->closing;
}

void config_on_quiet(struct config *c, void (*told)(void *arg), void *arg)
{
	c->storage->quiet = told;
	c->storage->quiet_arg = arg;
}

void config_retry(struct config *c)
{
	retry_waiting(c);
}

struct node *config_root(struct config *c)
{
	return &c->root;
}

// ---- load ----

static void log_errors(const char *file, struct json_object *errors)
{
	size_t n = 0;
	json_each (line, errors)
		if (n++ < LOAD_LINES_MAX)
			log_warn("%s: %s", file, json_object_get_string(line));
	if (n > LOAD_LINES_MAX)
		log_warn("%s: and %zu more (see farblock ls)", file, n - LOAD_LINES_MAX);
}

static int refuse_damaged(const char *file, struct err *e)
{
	char aside[4200];
	struct err other;
	int code = e->code;
	size_t used = strlen(e->text);
	if (file_keep_aside(file, aside, sizeof aside, &other) < 0)
		return code;
	const char *slash = strrchr(aside, '/');
	snprintf(e->text + used, sizeof e->text - used,
		 " (kept as %s; repair it, or use a file from backup/)", slash ? slash + 1 : aside);
	return code;
}

// Builds the text of every object now, so that the first change costs no more than others.
static void keep_texts(struct config *c)
{
	size_t len = 0;
	char *text = save_text(c, &len);
	if (text)
		explicit_bzero(text, len);
	free(text);
}

int config_load(struct config *c, struct err *e)
{
	struct restore_options o = { 0 };
	struct json_object *doc = NULL;
	int r = document_read(c->file, &doc, e);
	if (r == -ENOENT) {
		log_info("%s: not found, starting with an empty configuration", c->file);
		return 0;
	}
	if (r < 0)
		return r == -EINVAL ? refuse_damaged(c->file, e) : r;
	struct json_object *errors = json_object_new_array();
	r = restore_document(c, doc, &o, errors, e);
	if (r < 0)
		err_prefix(e, "%s", c->file);
	else
		c->saved->origin =
			json_object_get(json_field(json_field(doc, SAVED_SECTION), "change"));
	json_object_put(doc);
	if (!r)
		r = config_commit(c, false, e);
	if (r < 0)
		txn_undo(c);
	if (r == -EINVAL)
		r = refuse_damaged(c->file, e);
	if (!r) {
		log_errors(c->file, errors);
		config_note_file(c);
		keep_texts(c);
	}
	json_object_put(errors);
	return r;
}

// ---- commands ----

// set GROUP name=value ...: the group is positional or named, all other names are values.
static int run_set(struct config *c, struct node *n, struct json_object *positional,
		   struct json_object *named, struct reply *out, struct err *e)
{
	struct json_object *first = json_object_is_type(positional, json_type_array)
					    ? json_object_array_get_idx(positional, 0)
					    : NULL;
	const char *group = first ? json_scalar(first) : json_text(named, "group");
	if (!group)
		return err_set(e, -EBADRQC, "Missing required parameter group");
	if (first && json_object_array_length(positional) > 1)
		return err_set(e, -EBADRQC, "set: expected name=value after the group");
	struct json_object *values = json_object_new_object();
	if (json_object_is_type(named, json_type_object)) {
		json_object_object_foreach(named, key, value)
		{
			if (first || strcmp(key, "group"))
				json_object_object_add(values, key, json_object_get(value));
		}
	}
	int r = json_object_object_length(values)
			? config_set(c, n, group, values, out, e)
			: err_set(e, -EINVAL, "set: nothing to set (name=value)");
	json_object_put(values);
	return r;
}

static int at_part(struct err *e, enum err_part part, int code)
{
	err_at(e, part, 0, NULL);
	return code;
}

// Paths of targetcli, and their counterparts here.
static int no_such_path(const char *path, struct err *e)
{
	static const char *const elsewhere[][2] = {
		{"/backstores/user:",
		  "handlers of tcmu-runner work with the kernel's target only; "
		  "farblock has block, fileio, pscsi, ramdisk and null"				},
		{ "/loopback",	       "for local disks use farblock-initiator"			},
		{ "/vhost",	    "a fabric of the kernel's target; farblock has iscsi and srpt"},
		{ "/xen-pvscsi",	 "a fabric of the kernel's target; farblock has iscsi and srpt"},
		{ "/qla2xxx",	      "Fibre Channel is not supported; farblock has iscsi and srpt" },
		{ "/efct",		   "Fibre Channel is not supported; farblock has iscsi and srpt" },
		{ "/tcm_fc",	     "Fibre Channel is not supported; farblock has iscsi and srpt" },
		{ "/sbp",		  "FireWire is not supported; farblock has iscsi and srpt"	   },
	};
	const char *why = NULL;
	for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0] && !why; i++)
		if (!strncmp(path, elsewhere[i][0], strlen(elsewhere[i][0])))
			why = elsewhere[i][1];
	int code = err_set(e, -ENOENT, "No such path %.200s%s%s", path, why ? ": " : "",
			   why ? why : "");
	return at_part(e, ERR_PART_PATH, code);
}

// targetcli's users may use a node one level higher: a target for its portal group.
static int no_such_command(const struct config *c, const struct node *n, const char *command,
			   struct err *e)
{
	char hint[600] = "";
	list_each (const struct node, child, &n->children, link)
		if (!*hint && command_find(c, child->class, command))
			node_hint(child, hint, sizeof hint);
	return at_part(e, ERR_PART_COMMAND,
		       err_set(e, -ENOSYS, "Command not found %.60s%s", command, hint));
}

static void tell_created(struct config *c, struct reply *out)
{
	char path[700];
	if (!c->created.node)
		return;
	node_path(c->created.node, path, sizeof path);
	out->created = json_object_new_string(path);
}

void config_tell_replaced(struct config *c, struct reply *r)
{
	if (!c->saved->has_replaced_edit)
		return;
	c->saved->has_replaced_edit = false;
	reply_say(r,
		  "Warning: replaced %s, which had been edited; undo applies the edited version "
		  "(plan "
		  "and apply read edited files)",
		  c->file);
}

// What differs from a document tells its secrets; others open files that the caller may not.
static int refuse_files(const struct args *a, struct err *e)
{
	const struct param_row *rows = a->rows;
	for (unsigned i = 0; rows && rows[i].name; i++)
		if ((rows[i].type == PARAM_FILE || param_is_of_client(&rows[i])) && a->is_given[i])
			return err_set(e, -EPERM,
				       "%s: permission denied: read-only access may not name files",
				       rows[i].name);
	return 0;
}

static int run_command(struct config *c, const char *path, const char *command,
		       struct json_object *positional, struct json_object *named, bool is_admin,
		       struct reply *out, struct err *e)
{
	const struct command_row *row = command_whole(c, command);
	struct node *n = row ? &c->root : config_node(c, path);
	struct args args;
	*out = (struct reply){ 0 };
	own_files_forget(c);
	if (!n) {
		const struct config_call call = { path, command, positional, named };
		int code;
		return acl_group_run(c, &call, is_admin, config_run, &code, out, e)
			       ? code
			       : no_such_path(path, e);
	}
	row = row ? row : command_find(c, n->class, command);
	if (!row)
		return no_such_command(c, n, command, e);
	if (!row->is_readonly && !is_admin)
		return err_set(e, -EPERM, "%s: permission denied: read-only access", command);
	int r = row->is_readonly || row->run == plan_abort ? 0 : begin_check(c, e);
	if (r < 0)
		return r;
	char where[600] = ""; // a kept fabric is removed with its last object
	if (!row->is_readonly)
		node_path(n, where, sizeof where);
	change_add(c, where, row, positional, named);
	c->created.in = strcmp(command, "create") ? NULL : n;
	c->created.node = NULL;
	struct txn_mark mark = txn_mark(c);
	if (row->run) {
		r = args_parse(row->params, positional, named, &args, e);
		if (!r && !is_admin)
			r = refuse_files(&args, e);
		if (!r)
			r = row->run(c, n, &args, out, e);
	} else {
		r = run_set(c, n, positional, named, out, e);
	}
	if (!row->is_readonly && (r < 0 || txn_has_changed(c, mark)))
		r = config_finish(c, r, e);
	if (r < 0) {
		part_find(row, positional, named, e);
		reply_done(out);
	} else {
		tell_created(c, out);
		config_tell_replaced(c, out);
		reply_levels(out, row);
		audit_change(c, where, row, positional, named);
	}
	c->created.in = c->created.node = NULL;
	return r;
}

int config_run(struct config *c, const char *path, const char *command,
	       struct json_object *positional, struct json_object *named, bool is_admin,
	       struct reply *out, struct err *e)
{
	unsigned mark = change_mark(c);
	int r = run_command(c, path, command, positional, named, is_admin, out, e);
	change_end(c, mark, r, c->change->together.is_open);
	return r;
}
