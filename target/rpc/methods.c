// SPDX-License-Identifier: BSD-2-Clause
// The methods of the control socket, one row each.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json/json.h"
#include "target/fabric/sessions.h"
#include "target/rpc/method.h"

// Runs a command of the tree; the result is {messages, data}.
static int run(const struct rpc_call *c, const struct config_call *command, bool is_admin,
	       struct json_object **ret, struct err *e)
{
	struct reply reply;
	int r = config_run(c->x->config, command->path, command->command, command->positional,
			   command->named, is_admin, &reply, e);
	if (r < 0)
		return r;
	*ret = rpc_reply_json(&reply);
	rpc_put_state(c->x, *ret);
	return 0;
}

static int tree_run(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	const struct config_call command = {
		json_text(c->params, "path"),
		json_text(c->params, "command"),
		json_field(c->params, "positional"),
		json_field(c->params, "named"),
	};
	return run(c, &command, c->is_admin, ret, e);
}

// The parameters of the method without path: those of the command.
static struct json_object *without_path(struct json_object *params)
{
	struct json_object *named = json_object_new_object();
	json_object_object_foreach(params, key, value)
	{
		if (strcmp(key, "path"))
			json_object_object_add(named, key, json_object_get(value));
	}
	return named;
}

// The data of the row's command, which only reads.
static int tree_data(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	const char *path = json_text(c->params, "path");
	struct json_object *named = without_path(c->params), *whole = NULL;
	const struct config_call command = { path ? path : "/", c->method->command, NULL, named };
	int r = run(c, &command, true, &whole, e);
	*ret = json_object_get(json_field(whole, "data"));
	json_object_put(whole);
	json_object_put(named);
	return r;
}

static int tree_complete(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	const char *prefix = json_text(c->params, "prefix");
	*ret = config_complete(c->x->config, json_text(c->params, "path"),
			       json_text(c->params, "command"), json_text(c->params, "parameter"),
			       prefix ? prefix : "", e);
	return *ret ? 0 : e->code;
}

static uint64_t sid_of(const struct rpc_call *c)
{
	return json_object_get_uint64(json_field(c->params, "sid"));
}

static int sessions(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	*ret = report_sessions(sid_of(c));
	return *ret ? 0 : err_set(e, -ENOMEM, "sessions: out of memory");
}

static int drop(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	struct json_object *limit = json_field(c->params, "seconds");
	int64_t seconds = limit ? json_object_get_int64(limit) : SESSION_DRAIN_S;
	if (seconds < 1 || seconds > SESSION_DRAIN_MAX_S) {
		err_set(e, -EINVAL, "seconds: must be 1 to %d", SESSION_DRAIN_MAX_S);
		return err_at(e, ERR_PART_NAME, 0, "seconds");
	}
	bool drains = json_object_get_boolean(json_field(c->params, "drain")), was_asked = false;
	int r = session_drop(sid_of(c), drains ? (unsigned)seconds : 0, &was_asked, e);
	if (r < 0)
		return r;
	*ret = json_object_new_object();
	json_object_object_add(*ret, "asked", json_object_new_boolean(was_asked));
	return 0;
}

static int ended_sessions(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	*ret = report_ended(sid_of(c));
	return 0;
}

static int refusals(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	*ret = report_refusals();
	return 0;
}

static int stats(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	*ret = config_stats(c->x->config);
	return 0;
}

static int status(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	*ret = report_status(c->x->config, json_object_get_boolean(json_field(c->params, "tree")));
	return 0;
}

static struct json_object *methods_json(void)
{
	struct json_object *list = json_object_new_object();
	for (const struct rpc_method *m = rpc_methods; m->name; m++) {
		struct json_object *o = json_object_new_object(), *params = json_object_new_array();
		json_put_text(o, "help", m->help);
		json_object_object_add(o, "readonly", json_object_new_boolean(m->is_readonly));
		for (const struct rpc_param *p = m->params; p && p->name; p++) {
			struct json_object *one = json_object_new_object();
			json_put_text(one, "name", p->name);
			json_put_text(one, "type", p->type);
			json_put_text(one, "help", p->help);
			json_object_object_add(one, "required",
					       json_object_new_boolean(p->is_required));
			json_object_array_add(params, one);
		}
		json_object_object_add(o, "params", params);
		json_object_object_add(list, m->name, o);
	}
	return list;
}

static int schema(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	*ret = config_schema(c->x->config);
	json_object_object_add(*ret, "methods", methods_json());
	return 0;
}

static int version(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	*ret = json_object_new_object();
	json_put_text(*ret, "version", FARBLOCK_VERSION);
	json_object_object_add(*ret, "pid", json_object_new_int64(getpid()));
	return 0;
}

static int stop(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	if (!c->x->stop)
		return err_set(e, -EAGAIN, "farblockd is shutting down");
	*ret = json_object_new_object();
	c->x->stop(c->x->stop_arg);
	return 0;
}

// clang-format off
#define PATH { "path", "string", true, "absolute path of a node" }
static const struct rpc_param ls_params[] = {
	{ "path", "string", false, "absolute path (default /)" },
	{ "depth", "number", false, "levels, 0 all" },
	{ "serials", "boolean", false, "with serial numbers" },
	{ 0 },
};
static const struct rpc_param path_params[] = {
	PATH,
	{ 0 },
};
static const struct rpc_param get_params[] = {
	PATH,
	{ "group", "string", false, "group of settings; absent: list the groups" },
	{ "parameter", "string", false, "a setting of the group" },
	{ 0 },
};
#define REVISION \
	{ "revision", "number", false, "revision the client has seen; fails if it is not the current one" }
static const struct rpc_param run_params[] = {
	PATH,
	REVISION,
	{ "command", "string", true, "a command of the node's class or of every node" },
	{ "positional", "array", false, "parameters in the order of the command's row" },
	{ "named", "object", false, "parameters by name" },
	{ 0 },
};
static const struct rpc_param complete_params[] = {
	PATH,
	{ "command", "string", true, "a command of the node's class or of every node" },
	{ "parameter", "string", true, "one of its parameters" },
	{ "prefix", "string", false, "prefix of the values" },
	{ 0 },
};
static const struct rpc_param batch_params[] = {
	REVISION,
	{ "commands", "array", true,
	  "1 to 256 objects with the parameters of tree.run, in order" },
	{ 0 },
};
static const struct rpc_param sid_params[] = {
	{ "sid", "number", false, "show only this session" },
	{ 0 },
};
static const struct rpc_param drop_params[] = {
	{ "sid", "number", true, "session id" },
	{ "drain", "boolean", false, "request a logout first" },
	{ "seconds", "number", false, "how long to wait for the logout, 1 to 3600 (default 10)" },
	{ 0 },
};

static const struct rpc_param status_params[] = {
	{ "tree", "boolean", false, "include the tree" },
	{ 0 },
};

const struct rpc_method rpc_methods[] = {
	{ "tree.ls", ls_params, true, "Lists the tree with summaries.", tree_data, "ls" },
	{ "tree.info", path_params, true, "Shows details of a node.", tree_data, "info" },
	{ "tree.get", get_params, true, "Shows settings.", tree_data, "get" },
	// Each command's row defines whether it only reads; config_run() checks that.
	{ "tree.run", run_params, true, "Runs any command of a node.", tree_run },
	// results: replies of the commands that were run and saved; error: why the next one failed.
	// Without an error and with fewer results, the client sends the rest again.
	{ "tree.batch", batch_params, true, "Runs commands until one fails; saves once.",
	  rpc_tree_batch, .needs_no_config = true },
	{ "tree.complete", complete_params, true, "Lists possible values of a parameter.",
	  tree_complete },
	{ "session.list", sid_params, true, "Lists sessions.", sessions },
	{ "session.drop", drop_params, false, "Ends a session.", drop },
	{ "session.ended", sid_params, true, "Lists sessions that ended recently, newest first.",
	  ended_sessions },
	{ "login.refusals", NULL, true, "Lists refused logins, newest first.", refusals },
	{ "stats.get", NULL, true, "Shows counters of storage objects, sessions, portals and workers.",
	  stats },
	{ "status.get", status_params, true,
	  "Shows the state of sessions, disks, workers and long operations.", status },
	{ "schema", NULL, true, "Describes every class, command, setting and method.", schema },
	{ "version", NULL, true, "Shows version and process ID of the daemon.", version,
	  .needs_no_config = true },
	{ "daemon.stop", NULL, false, "Stops the daemon.", stop, .needs_no_config = true },
	{ 0 },
};
// clang-format on
