// SPDX-License-Identifier: BSD-2-Clause
// Reports for administrators as JSON: sessions, ended sessions, refused logins. Control thread.
#pragma once

#include <stdint.h>

#include "target/fabric/sessions.h"

struct config;
struct json_object;

// Adds statistics of commands by kind, with latencies.
void report_operations(struct json_object *to, const struct lu_counters *k);
// Adds statistics of a session, or of the sessions of a portal.
void report_traffic(struct json_object *to, const struct session_traffic *t);
// An array with one object per session; id 0: all. NULL: no memory.
struct json_object *report_sessions(uint64_t id);
// Long commands in progress (SANITIZE, copies), an array.
struct json_object *report_progress(struct config *c);
// Data of live views: sessions, disks, workers, progress, with the counters of rates and the time
// of reading; on request also the tree.
struct json_object *report_status(struct config *c, bool wants_tree);
// Arrays, newest first; id 0: all.
struct json_object *report_ended(uint64_t id);
struct json_object *report_refusals(void);
