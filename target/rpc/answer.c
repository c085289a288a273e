// SPDX-License-Identifier: BSD-2-Clause
// From a line of text to the response (JSON-RPC 2.0, sections 4 to 6).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "target/rpc/method.h"

enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	METHOD_NOT_FOUND = -32601,
	INVALID_PARAMS = -32602,
};

static struct json_object *new_answer(struct json_object *id)
{
	struct json_object *o = json_object_new_object();
	json_put_text(o, "jsonrpc", "2.0");
	json_object_object_add(o, "id", json_object_get(id));
	return o;
}

static struct json_object *new_error(struct json_object *id, int code, const struct err *e)
{
	struct json_object *o = new_answer(id), *error = json_object_new_object();
	rpc_put_error(error, code, e);
	json_object_object_add(o, "error", error);
	return o;
}

static const struct rpc_method *find_method(const char *name)
{
	for (const struct rpc_method *m = rpc_methods; m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

static bool is_of_type(struct json_object *v, const char *type)
{
	switch (json_object_get_type(v)) {
	case json_type_string:
		return !strcmp(type, "string");
	case json_type_int:
		return !strcmp(type, "number");
	case json_type_boolean:
		return !strcmp(type, "boolean");
	case json_type_object:
		return !strcmp(type, "object");
	case json_type_array:
		return !strcmp(type, "array");
	default:
		return false;
	}
}

static const struct rpc_param *find_param(const struct rpc_method *m, const char *name)
{
	for (const struct rpc_param *p = m->params; p && p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static int check_params(const struct rpc_method *m, struct json_object *params, struct err *e)
{
	json_object_object_foreach(params, key, value)
	{
		const struct rpc_param *p = find_param(m, key);
		if (!p)
			return err_set(e, -EBADRQC, "%s: no parameter '%.60s'", m->name, key);
		if (!is_of_type(value, p->type))
			return err_set(e, -EBADRQC, "%s: %s: must be of type %s", m->name, key,
				       p->type);
	}
	for (const struct rpc_param *p = m->params; p && p->name; p++)
		if (p->is_required && !json_field(params, p->name))
			return err_set(e, -EBADRQC, "%s: %s is missing", m->name, p->name);
	return 0;
}

static int run(const struct rpc_call *c, struct json_object **ret, struct err *e)
{
	struct config *config = c->x->config;
	struct json_object *revision = json_field(c->params, "revision");
	if (!config && !c->method->needs_no_config)
		return err_set(e, -EAGAIN, "farblockd is shutting down");
	int r = config && revision
			? config_check_revision(config, json_object_get_uint64(revision), e)
			: 0;
	return r < 0 ? r : c->method->fn(c, ret, e);
}

static struct json_object *call(const struct rpc_call *c, struct json_object *id)
{
	struct json_object *result = NULL;
	struct err e = { 0 };
	if (!c->method->is_readonly && !c->is_admin) {
		err_set(&e, -EPERM, "%s: permission denied: read-only access", c->method->name);
		return new_error(id, RPC_FAILED, &e);
	}
	if (check_params(c->method, c->params, &e) < 0)
		return new_error(id, INVALID_PARAMS, &e);
	int r = run(c, &result, &e);
	if (r < 0) {
		if (!e.code)
			err_errno(&e, r, "%s", c->method->name);
		json_object_put(result); // objects built before the failure
		return new_error(id, RPC_FAILED, &e);
	}
	struct json_object *o = new_answer(id);
	json_object_object_add(o, "result", result);
	return o;
}

// One request; NULL: no response wanted.
static struct json_object *answer_one(struct rpc_context *x, struct json_object *request,
				      bool is_admin)
{
	struct err e = { 0 };
	struct json_object *id = NULL, *params = json_field(request, "params"), *answer;
	const char *version = json_text(request, "jsonrpc"), *name = json_text(request, "method");
	bool has_id = json_object_is_type(request, json_type_object) &&
		      json_object_object_get_ex(request, "id", &id);
	bool is_id = !id || json_object_is_type(id, json_type_string) ||
		     json_object_is_type(id, json_type_int);
	if (!version || strcmp(version, "2.0") || !name || !is_id) {
		err_set(&e, -EBADRQC, "not a JSON-RPC 2.0 request (it needs jsonrpc, method, id)");
		return new_error(is_id ? id : NULL, INVALID_REQUEST, &e);
	}
	const struct rpc_method *m = find_method(name);
	if (!m) {
		err_set(&e, -ENOSYS, "no method %.60s", name);
		return has_id ? new_error(id, METHOD_NOT_FOUND, &e) : NULL;
	}
	if (params && !json_object_is_type(params, json_type_object)) {
		err_set(&e, -EBADRQC, "%s: params: must be an object", name);
		return has_id ? new_error(id, INVALID_PARAMS, &e) : NULL;
	}
	params = params ? json_object_get(params) : json_object_new_object();
	answer = call(&(struct rpc_call){ x, m, params, is_admin }, id);
	json_object_put(params);
	if (has_id)
		return answer;
	json_object_put(answer);
	return NULL;
}

static struct json_object *answer_batch(struct rpc_context *x, struct json_object *batch,
					bool is_admin)
{
	size_t n = json_object_array_length(batch);
	struct err e = { 0 };
	if (!n || n > RPC_BATCH_MAX) {
		err_set(&e, -EBADRQC, "batch: must hold 1 to %d requests", RPC_BATCH_MAX);
		return new_error(NULL, INVALID_REQUEST, &e);
	}
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < n; i++) {
		struct json_object *one =
			answer_one(x, json_object_array_get_idx(batch, i), is_admin);
		if (one)
			json_object_array_add(list, one);
	}
	if (json_object_array_length(list))
		return list;
	json_object_put(list);
	return NULL;
}

// As one line with its newline, for free(); takes over o.
static char *line_of(struct json_object *o, size_t *ret_len)
{
	const char *s = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE);
	size_t n = s ? strlen(s) : 0;
	char *out = s ? malloc(n + 2) : NULL;
	*ret_len = out ? n + 1 : 0;
	if (out)
		memcpy(mempcpy(out, s, n), "\n", 2);
	json_object_put(o);
	return out;
}

char *rpc_refusal(const struct err *e, size_t *ret_len)
{
	return line_of(new_error(NULL, RPC_FAILED, e), ret_len);
}

char *rpc_answer(struct rpc_context *x, const char *text, size_t len, bool is_admin,
		 size_t *ret_len)
{
	struct err e = { 0 };
	struct json_object *request = json_read_request(text, len, &e), *answer;
	char *out = NULL;
	if (!request)
		answer = new_error(NULL, PARSE_ERROR, &e);
	else if (json_object_is_type(request, json_type_array))
		answer = answer_batch(x, request, is_admin);
	else
		answer = answer_one(x, request, is_admin);
	if (answer)
		out = line_of(answer, ret_len);
	json_object_put(request);
	return out;
}
