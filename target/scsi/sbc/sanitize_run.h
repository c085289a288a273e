// SPDX-License-Identifier: BSD-2-Clause
// A sanitize operation in the background of a logical unit. Used by sanitize.c only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/sbc/sanitize_mark.h"

struct lu;
struct sanitize;

enum sanitize_method { SANITIZE_OVERWRITE, SANITIZE_BLOCK_ERASE };
enum sanitize_state { SANITIZE_STARTING, SANITIZE_RUNNING, SANITIZE_DONE, SANITIZE_BROKEN };

struct sanitize_plan {
	enum sanitize_method method;
	unsigned passes;
	bool inverts; // the pattern, from one pass to the next
	bool ause;    // EXIT FAILURE MODE can end a failure
	const uint8_t *pattern;
	uint32_t pattern_len;
};

// A new operation with one reference; copies the pattern. NULL: no memory. Any worker.
struct sanitize *sanitize_new(const struct sanitize_plan *plan);
void sanitize_put(struct sanitize *s);				 // any worker; NULL is fine
enum sanitize_state sanitize_state_of(const struct sanitize *s); // any worker

// Starts s, which holds its own references. False: another one is running. Home worker.
bool sanitize_start(struct lu *lu, struct sanitize *s);

// EXIT FAILURE MODE. Its memory must stay valid until done runs.
struct sanitize_exit {
	struct sanitize_mark mark; // private; mark.result: negative errno: the unit stays in
				   // failure mode
	bool is_allowed;	   // false if the failed operation had AUSE=0
	void (*done)(struct sanitize_exit *x);
};

// Ends the failure mode, if the unit is in it; then x->done runs. Home worker; the caller holds a
// reference of the unit.
void sanitize_exit_failure(struct sanitize_exit *x, struct lu *lu);
