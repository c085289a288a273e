// SPDX-License-Identifier: BSD-2-Clause
// Work that blocks (fsync of a state file, ioctl, open, lseek), done by a small pool of
// threads so that no worker waits. FIFO; the pool starts with the first submission.
#pragma once

#include "core/worker.h"

struct offload {
	struct msg msg; // private
	struct worker *home;
	void (*work)(struct offload *o); // on a pool thread; may block
	void (*done)(struct offload *o); // back on home, after work
};

// Queues o, whose work and done the caller has set; home becomes the calling worker. The pool owns
// o until done runs. Call on a worker's thread.
void offload_submit(struct offload *o);

// Ends the pool's threads when its queue is empty. Any thread except those of the pool; blocks.
void offload_shutdown(void);
