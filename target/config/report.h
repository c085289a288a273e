// SPDX-License-Identifier: BSD-2-Clause
// What administrators are told, as JSON: sessions, refused logins. Control thread.
#pragma once

#include <stdint.h>

struct json_object;

// An array, one object a session; id 0 is all. NULL: no memory.
struct json_object *report_sessions(uint64_t id);
// An array, the newest first.
struct json_object *report_refusals(void);
