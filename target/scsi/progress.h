// SPDX-License-Identifier: BSD-2-Clause
// Progress of long commands: copies of EXTENDED COPY and ROD tokens. (SANITIZE uses lu->sanitize.)
// Each worker has its own list.
#pragma once

#include <stdint.h>

#include "core/list.h"

struct lu;

// A running command; the data worker that begins it also ends it. lu must exist until then.
struct progress {
	struct list link;
	const char *operation; // "COPY"
	const struct lu *lu;   // the destination
	uint64_t start_ns, total;
	const uint64_t *done; // of total, written by the same worker
};

void progress_begin(struct progress *p, const char *operation, const struct lu *lu, uint64_t total,
		    const uint64_t *done);
void progress_end(struct progress *p);

struct progress_info {
	const char *operation;
	char storage_object[160]; // "fileio/disk0"
	uint64_t done, total, elapsed_ms;
};
// The running commands, at most max entries. Control thread; visits the workers and blocks until
// they respond.
unsigned progress_list(struct progress_info *out, unsigned max);
