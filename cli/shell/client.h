// SPDX-License-Identifier: BSD-2-Clause
// A client of the daemon's control socket. Blocks.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#include "core/err.h"
#include "core/frame.h"
#include "core/json/json.h"

// Exit statuses of the program; explain_own.c has their names.
enum status {
	STATUS_OK,
	STATUS_FAILED,
	STATUS_USAGE,
	STATUS_NOT_FOUND,
	STATUS_EXISTS,
	STATUS_IN_USE,
	STATUS_PERMISSION,
	STATUS_NO_DAEMON,
	STATUS_INVALID,
	STATUS_CHANGED,
};

enum { ANSWER_MAX = 1 << 28 }; // bytes; 10,000 disks with all their objects take a tenth

struct client {
	int fd;		// -1: not connected
	int timeout_ms; // for a response; 0: no limit
	bool is_exact;	// responses are unchanged, else processed by control_mask_json()
	unsigned next_id;
	struct frame in;
};

// Fills c except timeout_ms and is_exact. -ECONNREFUSED: no daemon listens; -EACCES.
int client_open(struct client *c, const char *path, struct err *e);
void client_close(struct client *c);
// Before a call: closes a connection that the daemon has ended, as it does with the idlest of too
// many clients, or at a restart. The caller then reconnects.
void client_check(struct client *c);

// Calls a method. Takes ownership of params (NULL: none). 0 with *ret for json_object_put(); or the
// daemon's negative errno and text. -ENOTCONN: the daemon has ended; -EINTR: Ctrl-C during the
// wait; -ETIMEDOUT; -EPROTO: not a response to this request, or longer than ANSWER_MAX; these close
// the connection.
int client_call(struct client *c, const char *method, struct json_object *params,
		struct json_object **ret, struct err *e);

// Calls a method for the text of its answer, {"id", "result" or "error"}, which is made safe for a
// terminal; for free(). Errors of the connection as above.
int client_text(struct client *c, const char *method, struct json_object *params, char **ret,
		struct err *e);
// Checks such an answer without a usable result: the daemon's error, or -EPROTO; 0: it has a
// result.
int client_refusal(struct client *c, const char *text, struct err *e);

enum status status_of(int code); // of a negative errno
// Fills e from an error object of the daemon, with the part of the request; returns its negative
// errno.
int client_error(struct json_object *error, struct err *e);

// An object of texts: keys and values in pairs, NULL. A NULL value is left out. For
// json_object_put().
struct json_object *text_object(const char *key, ...) __attribute__((sentinel));
// Borrowed fields of an object; NULL or 0 if absent.
const char *text_field(struct json_object *o, const char *key); // "" if absent
bool flag_field(struct json_object *o, const char *key);	// false if absent
int64_t number_field(struct json_object *o, const char *key);	// 0 if absent
