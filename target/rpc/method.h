// SPDX-License-Identifier: BSD-2-Clause
// JSON-RPC 2.0: methods as rows, requests to answers. Control thread.
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

// What a method works on.
struct rpc_context {
	struct config *config;	 // NULL in the fuzzer: methods that need it refuse
	void (*stop)(void *arg); // ends the daemon
	void *stop_arg;
};

struct rpc_method {
	const char *name;
	const struct rpc_param *params; // ends with a NULL name
	bool is_readonly;		// for clients that may only look
	const char *help;
	// params: an object that fits the rows. 0 with *ret (one reference), or a negative
	// errno with text.
	int (*fn)(struct rpc_context *x, struct json_object *params, bool is_admin,
		  struct json_object **ret, struct err *e);
};
extern const struct rpc_method rpc_methods[];

// Answers one document: a request or a batch. Returns the answer as one line with its newline,
// for free(), or NULL when there is nothing to answer (notifications) or no memory.
char *rpc_answer(struct rpc_context *x, const char *text, size_t len, bool is_admin,
		 size_t *ret_len);
