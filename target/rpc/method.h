// SPDX-License-Identifier: BSD-2-Clause
// JSON-RPC 2.0: methods as table rows; responses to requests. Control thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "target/config/config.h"

struct json_object;

struct rpc_param {
	const char *name;
	const char *type; // "string", "number", "boolean", "object", "array"
	bool is_required;
	const char *help;
};

// Context of a method.
struct rpc_context {
	struct config *config;	 // NULL while farblockd is shutting down, and in the fuzzer
	void (*stop)(void *arg); // ends the daemon
	void *stop_arg;
};

struct rpc_method;

// A call of a method.
struct rpc_call {
	struct rpc_context *x;
	const struct rpc_method *method;
	struct json_object *params; // an object that matches the method's rows
	bool is_admin;
};

// 0 with *ret (one reference), or a negative errno with text.
typedef int rpc_method_fn(const struct rpc_call *c, struct json_object **ret, struct err *e);

struct rpc_method {
	const char *name;
	const struct rpc_param *params; // ends with a NULL name
	bool is_readonly;		// also for clients with read-only access
	const char *help;
	rpc_method_fn *fn;
	const char *command;  // of the tree, for fn
	bool needs_no_config; // else it fails while farblockd is shutting down
};
extern const struct rpc_method rpc_methods[];

enum { RPC_BATCH_MAX = 256 }; // requests of a batch, commands of tree.batch

// ---- result.c ----
enum { RPC_FAILED = -32000 }; // code of a failure; its data.errno has the cause
// Fills an error object.
void rpc_put_error(struct json_object *o, int code, const struct err *e);
// The reply of a command, {messages, data, created, file}; takes ownership of it.
struct json_object *rpc_reply_json(struct reply *reply);
// The number of the last saved change, and whether the client has an open transaction; x->config
// must exist.
void rpc_put_state(const struct rpc_context *x, struct json_object *to);
// batch.c
rpc_method_fn rpc_tree_batch;

// Processes one document: a request or a batch. Returns the response as one line with its newline,
// for free(); NULL: no response (notifications), or no memory.
char *rpc_answer(struct rpc_context *x, const char *text, size_t len, bool is_admin,
		 size_t *ret_len);

// An error without a request (its id is null), as one line with its newline, for free(); NULL: no
// memory.
char *rpc_refusal(const struct err *e, size_t *ret_len);
