// SPDX-License-Identifier: BSD-2-Clause
// The methods of the control socket, one row each.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json/json.h"
#include "target/fabric/sessions.h"
#include "target/rpc/method.h"

static int need_config(const struct rpc_context *x, struct err *e)
{
	return x->config ? 0 : err_set(e, -EAGAIN, "farblockd is shutting down");
}

// Runs a command of the tree; the result is {messages, data}.
static int run(struct rpc_context *x, const char *path, const char *command,
	       struct json_object *positional, struct json_object *named, bool is_admin,
	       struct json_object **ret, struct err *e)
{
	struct reply reply;
	int r = need_config(x, e);
	if (!r)
		r = config_run(x->config, path, command, positional, named, is_admin, &reply, e);
	if (r < 0)
		return r;
	*ret = rpc_reply_json(&reply);
	rpc_put_state(x, *ret);
	return 0;
}

// As run(), but returns only the command's data.
static int run_for_data(struct rpc_context *x, const char *path, const char *command,
			struct json_object *named, struct json_object **ret, struct err *e)
{
	struct json_object *whole;
	int r = run(x, path, command, NULL, named, true, &whole, e);
	if (r < 0)
		return r;
	*ret = json_object_get(json_field(whole, "data"));
	json_object_put(whole);
	return 0;
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

static int data_of(struct rpc_context *x, struct json_object *params, const char *command,
		   struct json_object **ret, struct err *e)
{
	struct json_object *named = without_path(params);
	const char *path = json_text(params, "path");
	int r = run_for_data(x, path ? path : "/", command, named, ret, e);
	json_object_put(named);
	return r;
}

static int tree_ls(struct rpc_context *x, struct json_object *p, bool is_admin,
		   struct json_object **ret, struct err *e)
{
	return data_of(x, p, "ls", ret, e);
}

static int tree_get(struct rpc_context *x, struct json_object *p, bool is_admin,
		    struct json_object **ret, struct err *e)
{
	return data_of(x, p, "get", ret, e);
}

static int tree_info(struct rpc_context *x, struct json_object *p, bool is_admin,
		     struct json_object **ret, struct err *e)
{
	return data_of(x, p, "info", ret, e);
}

static int tree_run(struct rpc_context *x, struct json_object *p, bool is_admin,
		    struct json_object **ret, struct err *e)
{
	return run(x, json_text(p, "path"), json_text(p, "command"), json_field(p, "positional"),
		   json_field(p, "named"), is_admin, ret, e);
}

static int tree_complete(struct rpc_context *x, struct json_object *p, bool is_admin,
			 struct json_object **ret, struct err *e)
{
	const char *prefix = json_text(p, "prefix");
	int r = need_config(x, e);
	if (r < 0)
		return r;
	*ret = config_complete(x->config, json_text(p, "path"), json_text(p, "command"),
			       json_text(p, "parameter"), prefix ? prefix : "", e);
	return *ret ? 0 : e->code;
}

static int session_list(struct rpc_context *x, struct json_object *p, bool is_admin,
			struct json_object **ret, struct err *e)
{
	int r = need_config(x, e);
	if (r < 0)
		return r;
	*ret = report_sessions(json_object_get_uint64(json_field(p, "sid")));
	return *ret ? 0 : err_set(e, -ENOMEM, "sessions: out of memory");
}

static int session_drop_method(struct rpc_context *x, struct json_object *p, bool is_admin,
			       struct json_object **ret, struct err *e)
{
	int r = need_config(x, e);
	if (r < 0)
		return r;
	struct json_object *limit = json_field(p, "seconds");
	int64_t seconds = limit ? json_object_get_int64(limit) : SESSION_DRAIN_S;
	if (seconds < 1 || seconds > SESSION_DRAIN_MAX_S)
		return err_set(e, -EINVAL, "seconds: must be 1 to %d", SESSION_DRAIN_MAX_S);
	bool drains = json_object_get_boolean(json_field(p, "drain")), was_asked = false;
	r = session_drop(json_object_get_uint64(json_field(p, "sid")),
			 drains ? (unsigned)seconds : 0, &was_asked, e);
	if (r < 0)
		return r;
	*ret = json_object_new_object();
	json_object_object_add(*ret, "asked", json_object_new_boolean(was_asked));
	return 0;
}

static int session_ended_method(struct rpc_context *x, struct json_object *p, bool is_admin,
				struct json_object **ret, struct err *e)
{
	int r = need_config(x, e);
	if (!r)
		*ret = report_ended(json_object_get_uint64(json_field(p, "sid")));
	return r;
}

static int login_refusals_method(struct rpc_context *x, struct json_object *p, bool is_admin,
				 struct json_object **ret, struct err *e)
{
	int r = need_config(x, e);
	if (!r)
		*ret = report_refusals();
	return r;
}

static int stats_get(struct rpc_context *x, struct json_object *p, bool is_admin,
		     struct json_object **ret, struct err *e)
{
	int r = need_config(x, e);
	if (!r)
		*ret = config_stats(x->config);
	return r;
}

static int status_get(struct rpc_context *x, struct json_object *p, bool is_admin,
		      struct json_object **ret, struct err *e)
{
	int r = need_config(x, e);
	if (!r)
		*ret = report_status(x->config, json_object_get_boolean(json_field(p, "tree")));
	return r;
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

static int schema(struct rpc_context *x, struct json_object *p, bool is_admin,
		  struct json_object **ret, struct err *e)
{
	int r = need_config(x, e);
	if (r < 0)
		return r;
	*ret = config_schema(x->config);
	json_object_object_add(*ret, "methods", methods_json());
	return 0;
}

static int version(struct rpc_context *x, struct json_object *p, bool is_admin,
		   struct json_object **ret, struct err *e)
{
	*ret = json_object_new_object();
	json_put_text(*ret, "version", FARBLOCK_VERSION);
	json_object_object_add(*ret, "pid", json_object_new_int64(getpid()));
	return 0;
}

static int daemon_stop(struct rpc_context *x, struct json_object *p, bool is_admin,
		       struct json_object **ret, struct err *e)
{
	if (!x->stop)
		return err_set(e, -EAGAIN, "farblockd is shutting down");
	*ret = json_object_new_object();
	x->stop(x->stop_arg);
	return 0;
}

#define PATH                                                                                       \
	{                                                                                          \
		"path", "string", true, "absolute path of a node"                                  \
	}

// clang-format off
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
	{ "tree.ls", ls_params, true, "Lists the tree with summaries.", tree_ls },
	{ "tree.info", path_params, true, "Shows details of a node.", tree_info },
	{ "tree.get", get_params, true, "Shows settings.", tree_get },
	// Each command's row defines whether it only reads; config_run() checks that.
	{ "tree.run", run_params, true, "Runs any command of a node.", tree_run },
	// results: replies of the commands that were run and saved; error: why the next one failed.
	// Without an error and with fewer results, the client sends the rest again.
	{ "tree.batch", batch_params, true, "Runs commands until one fails; saves once.",
	  rpc_tree_batch },
	{ "tree.complete", complete_params, true, "Lists possible values of a parameter.",
	  tree_complete },
	{ "session.list", sid_params, true, "Lists sessions.", session_list },
	{ "session.drop", drop_params, false, "Ends a session.", session_drop_method },
	{ "session.ended", sid_params, true, "Lists sessions that ended recently, newest first.",
	  session_ended_method },
	{ "login.refusals", NULL, true, "Lists refused logins, newest first.",
	  login_refusals_method },
	{ "stats.get", NULL, true, "Shows counters of storage objects, sessions, portals and workers.",
	  stats_get },
	{ "status.get", status_params, true,
	  "Shows the state of sessions, disks, workers and long operations.",
	  status_get },
	{ "schema", NULL, true, "Describes every class, command, setting and method.", schema },
	{ "version", NULL, true, "Shows version and process ID of the daemon.", version },
	{ "daemon.stop", NULL, false, "Stops the daemon.", daemon_stop },
	{ 0 },
};
// clang-format on
