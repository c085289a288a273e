// SPDX-License-Identifier: BSD-2-Clause
// The tree and its statistics as JSON: sessions, ended sessions, refused logins, the schema,
// completion. Control thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

struct config;
struct json_object;
struct node;

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

// The tree as JSON: name, class, summary, healthy, warning, serial, children; depth 0 is
// everything. The name comes first, the children last. serial: on request, of storage objects and
// of nodes that stand for them.
struct json_object *config_tree(struct config *c, const struct node *n, int depth,
				bool has_serials);
// Known values of a command's parameter, as an array of {"text", "note"}; at most 1000 of those
// that begin with prefix. NULL with text in e: no such path, command or parameter. Reads interfaces
// and sysfs.
struct json_object *config_complete(struct config *c, const char *path, const char *command,
				    const char *parameter, const char *prefix, struct err *e);
// All rows as JSON: classes with their commands and groups.
struct json_object *config_schema(struct config *c);
// Statistics: storage objects and sessions with their counters, portals, the iSCSI target's sums.
struct json_object *config_stats(struct config *c);
