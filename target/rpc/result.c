// SPDX-License-Identifier: BSD-2-Clause
// Results and errors of methods as JSON.
#include <string.h>

#include "core/json/json.h"
#include "target/rpc/method.h"

struct json_object *rpc_reply_json(struct reply *reply)
{
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "messages",
			       reply->messages ? json_object_get(reply->messages)
					       : json_object_new_array());
	if (reply->data)
		json_object_object_add(o, "data", json_object_get(reply->data));
	if (reply->created)
		json_object_object_add(o, "created", json_object_get(reply->created));
	if (reply->file)
		json_object_object_add(o, "file", json_object_get(reply->file));
	if (reply->levels)
		json_object_object_add(o, "levels", json_object_get(reply->levels));
	if (reply->levels && reply->is_report)
		json_object_object_add(o, "report", json_object_new_boolean(true));
	json_put_text(o, "view", reply->view);
	if (reply->recoverable)
		json_object_object_add(o, "recoverable_errors",
				       json_object_new_int64(reply->recoverable));
	reply_done(reply);
	return o;
}

void rpc_put_state(const struct rpc_context *x, struct json_object *to)
{
	json_object_object_add(to, "revision", json_object_new_uint64(config_revision(x->config)));
	if (config_has_transaction(x->config))
		json_object_object_add(to, "transaction", json_object_new_boolean(true));
}

// The part of the call, and what it needs.
static void put_part(struct json_object *data, const struct err *e)
{
	static const char *const parts[] = {
		[ERR_PART_PATH] = "path",
		[ERR_PART_COMMAND] = "command",
		[ERR_PART_POSITION] = "positional",
		[ERR_PART_NAME] = "named",
	};
	json_put_text(data, "part", parts[e->part]);
	if (e->part == ERR_PART_POSITION)
		json_object_object_add(data, "index", json_object_new_int64(e->index));
	if (e->part == ERR_PART_NAME)
		json_put_text(data, "name", e->name);
	if (*e->wants)
		json_put_text(data, "wants", e->wants);
}

void rpc_put_error(struct json_object *o, int code, const struct err *e)
{
	json_object_object_add(o, "code", json_object_new_int(code));
	json_put_text(o, "message", e->text);
	const char *name = e->code ? strerrorname_np(-e->code) : NULL;
	if (name) {
		struct json_object *data = json_object_new_object();
		json_put_text(data, "errno", name);
		put_part(data, e);
		json_object_object_add(o, "data", data);
	}
}
