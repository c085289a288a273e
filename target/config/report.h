// SPDX-License-Identifier: BSD-2-Clause
// What administrators are told, as JSON: sessions, their ends, refused logins. Control thread.
#pragma once

#include <stdint.h>

#include "target/iscsi/sessions.h"

struct config;
struct json_object;

// Adds what commands did, by kind, with their latencies.
void report_operations(struct json_object *to, const struct lu_counters *k);
// Adds what one session did, or those of a portal.
void report_traffic(struct json_object *to, const struct session_traffic *t);
// An array, one object a session; id 0 is all. NULL: no memory.
struct json_object *report_sessions(uint64_t id);
// What is under way and takes long (SANITIZE, copies), an array.
struct json_object *report_progress(struct config *c);
// What live views draw: sessions, disks, workers, progress with the counters rates are made of, and
// the clock they were read at; the tree, too, when it is wanted.
struct json_object *report_status(struct config *c, bool wants_tree);
// Arrays, the newest first; id 0 is all.
struct json_object *report_ended(uint64_t id);
struct json_object *report_refusals(void);
