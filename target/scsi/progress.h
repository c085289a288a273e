// SPDX-License-Identifier: BSD-2-Clause
// Commands that take long, for who wants to see how far they are: the copies of EXTENDED COPY and
// ROD tokens. (SANITIZE tells by lu->sanitize.) Each worker keeps a list of its own.
#pragma once

#include <stdint.h>

#include "core/list.h"

struct lu;

// Part of what is under way; the data worker that begins it also ends it. lu stays until then.
struct progress {
	struct list link;
	const char *operation; // "COPY"
	const struct lu *lu;   // what is written
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
// What is under way, at most max entries. Control thread; visits the workers and blocks for their
// answer.
unsigned progress_list(struct progress_info *out, unsigned max);
