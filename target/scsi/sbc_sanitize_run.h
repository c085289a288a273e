// SPDX-License-Identifier: BSD-2-Clause
// A sanitize operation in the background of a logical unit. Used by sbc_sanitize.c only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/sbc_sanitize_mark.h"

struct lu;
struct sanitize;

enum sanitize_method { SANITIZE_OVERWRITE, SANITIZE_BLOCK_ERASE };
enum sanitize_state { SANITIZE_STARTING, SANITIZE_RUNNING, SANITIZE_DONE, SANITIZE_BROKEN };

struct sanitize_plan {
	enum sanitize_method method;
	unsigned passes;
	bool inverts; // the pattern, from one pass to the next
	bool ause;    // a failure can be left by EXIT FAILURE MODE
	const uint8_t *pattern;
	uint32_t pattern_len;
};

// A new operation with one reference; copies the pattern. NULL: no memory. Any worker.
struct sanitize *sanitize_new(const struct sanitize_plan *plan);
void sanitize_put(struct sanitize *s);				 // any worker; NULL is fine
enum sanitize_state sanitize_state_of(const struct sanitize *s); // any worker

// Starts s, which lives on by references of its own. False: another one is running. Home
// worker.
bool sanitize_start(struct lu *lu, struct sanitize *s);

// EXIT FAILURE MODE. Its memory is used until done runs.
struct sanitize_exit {
	struct sanitize_mark mark; // private; mark.result: negative errno, the mode is not left
	bool is_allowed;	   // not if the failed operation had AUSE=0
	void (*done)(struct sanitize_exit *x);
};

// Leaves the failure mode, if the unit is in it; x->done runs then. Home worker; the caller
// holds a reference of the unit.
void sanitize_exit_failure(struct sanitize_exit *x, struct lu *lu);
