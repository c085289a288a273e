// SPDX-License-Identifier: BSD-2-Clause
// The socket of an attachment's process. The program's thread; a client has a second for its
// request, one client is served at a time.
#pragma once

#include "core/err.h"

struct json_object;

enum holder_request { HOLDER_STATUS, HOLDER_DETACH, HOLDER_DETACH_FORCE, HOLDER_REQUEST_COUNT };

// The request in len bytes with a newline at the end; -EINVAL: none of those.
int control_parse(const char *line, unsigned len);

// Listens, with mode 0600; a socket that a dead process left is replaced. The descriptor, or
// negative with a text.
int control_listen(const char *path, struct err *e);
// Accepts a client and reads its request: a descriptor for control_answer(), or negative: none.
int control_accept(int listener, enum holder_request *ret);
// Sends the answer and closes fd.
void control_answer(int fd, struct json_object *answer);
