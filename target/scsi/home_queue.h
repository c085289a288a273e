// SPDX-License-Identifier: BSD-2-Clause
// Changes of state that all paths of a logical unit share, one after the other on its home worker.
#pragma once

#include <stdbool.h>

#include "core/list.h"

struct lu;

struct home_queue {
	struct list changes; // struct home_change, the first one runs
	bool is_draining;
};

// Embedded in its owner.
struct home_change {
	struct list link;
	struct home_queue *queue;
	struct lu *lu;
	void (*run)(struct home_change *c);   // called on its turn; must call home_change_end()
	void (*ended)(struct home_change *c); // the owner gets the memory back
	bool is_started;
};

// Queues c, whose run and ended are set, and runs it when the earlier ones have ended, possibly
// before this returns. Home worker, with a reference to lu held till ended.
void home_change_start(struct home_change *c, struct lu *lu, struct home_queue *q);
// c has run: ended is called, then the next one runs. Home worker.
void home_change_end(struct home_change *c);
