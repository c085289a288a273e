// SPDX-License-Identifier: BSD-2-Clause
// Counters of commands as JSON. Control thread.
#pragma once

#include "target/fabric/traffic.h"

struct json_object;

// Adds statistics of commands by kind, with latencies.
void report_operations(struct json_object *to, const struct lu_counters *k);
// Adds statistics of a session, or of the sessions of a portal.
void report_traffic(struct json_object *to, const struct session_traffic *t);
