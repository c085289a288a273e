// SPDX-License-Identifier: BSD-2-Clause
// tree.batch: many commands in one request, saved together. Control thread.
#include <errno.h>

#include "core/json/json.h"
#include "target/rpc/method.h"

// Fills calls with pointers into commands. -EBADRQC.
static int take_calls(struct json_object *commands, struct config_call *calls, size_t count,
		      struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		struct json_object *o = json_object_array_get_idx(commands, i);
		calls[i] = (struct config_call){
			.path = json_text(o, "path"),
			.command = json_text(o, "command"),
			.positional = json_field(o, "positional"),
			.named = json_field(o, "named"),
		};
		if (!calls[i].path || !calls[i].command)
			return err_set(e, -EBADRQC, "commands[%zu]: path or command is missing", i);
	}
	return 0;
}

// Runs calls until one fails, all are done, or the response must wait for storage that is closing.
static void run_all(struct config *c, const struct config_call *calls, unsigned count,
		    bool is_admin, struct json_object *result)
{
	struct json_object *list = json_object_new_array(), *error;
	struct reply replies[RPC_BATCH_MAX];
	unsigned closing = config_closing(c);
	struct err e = { 0 };
	int r = 0;
	json_object_object_add(result, "results", list);
	bool is_whole = true; // replies do not contain errors: the client handles them
	for (unsigned at = 0, done; !r && is_whole && at < count && config_closing(c) <= closing;
	     at += done) {
		r = config_run_together(c, calls + at, count - at, is_admin, replies, &done, &e);
		for (unsigned i = 0; i < done; i++) {
			is_whole &= !replies[i].recoverable;
			json_object_array_add(list, rpc_reply_json(&replies[i]));
		}
	}
	if (!r)
		return;
	error = json_object_new_object();
	rpc_put_error(error, RPC_FAILED, &e);
	json_object_object_add(result, "error", error);
}

int rpc_tree_batch(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	struct json_object *commands = json_field(c->params, "commands");
	struct config_call calls[RPC_BATCH_MAX];
	size_t count = json_object_array_length(commands);
	if (!count || count > RPC_BATCH_MAX)
		return err_set(e, -EBADRQC, "commands: must hold 1 to %d commands", RPC_BATCH_MAX);
	int r = take_calls(commands, calls, count, e);
	if (!r && !c->x->config)
		r = err_set(e, -EAGAIN, "farblockd is shutting down");
	if (r < 0)
		return r;
	*ret = json_object_new_object();
	run_all(c->x->config, calls, (unsigned)count, c->is_admin, *ret);
	rpc_put_state(c->x, *ret);
	return 0;
}
