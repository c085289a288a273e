// SPDX-License-Identifier: BSD-2-Clause
// The daemon at the other end of the control socket. Blocks.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#include "core/err.h"

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

enum { ANSWER_MAX = 1 << 28 }; // bytes; 10,000 disks with all they have are a tenth

struct client {
	int fd;		// -1: not connected
	int timeout_ms; // for an answer; 0: as long as it takes
	bool is_exact;	// answers stay as they are; otherwise tame_json() has gone over them
	unsigned next_id;
	char *in; // what was read and not yet used
	size_t in_len, in_size;
};

// Fills c but for timeout_ms and is_exact. -ECONNREFUSED when nobody answers, -EACCES.
int client_open(struct client *c, const char *path, struct err *e);
void client_close(struct client *c);
// Before a call: closes a connection that the daemon has ended, as it does with who was silent for
// longest of too many, or when it starts again; the next call is to open it anew.
void client_check(struct client *c);

// Calls a method. params are taken over (NULL: none). 0 with *ret for json_object_put(); or a
// negative errno as the daemon gave it, with its text. -ENOTCONN: the daemon is gone; -EINTR:
// Ctrl-C while it was waited for, -ETIMEDOUT, and -EPROTO: no answer to this, or longer than
// ANSWER_MAX; these close the connection.
int client_call(struct client *c, const char *method, struct json_object *params,
		struct json_object **ret, struct err *e);

enum status status_of(int code); // of a negative errno
// Fills e from an error object of the daemon; returns its negative errno.
int client_error(struct json_object *error, struct err *e);

// Borrowed fields of an object; NULL or 0 when they are not there.
struct json_object *field(struct json_object *o, const char *key);
const char *text_field(struct json_object *o, const char *key); // "" when absent
size_t list_length(struct json_object *list);			// 0 for whatever is no array
