// SPDX-License-Identifier: BSD-2-Clause
// What each worker has for its iSCSI connections. The worker's thread, but for the counters.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/worker.h"
#include "target/fabric/fabric.h"
#include "target/fabric/memory_trim.h"

// Free commands of a worker's connections whose movers need the same room.
struct cmd_pool {
	uint32_t task_size; // of the movers; 0: not used yet
	struct list free;
	unsigned count;
};
enum { CMD_POOLS = 2 }; // TCP, iSER

struct iscsi_worker {
	struct worker *worker;
	struct list conns;
	struct list greetings; // of iWARP, first_byte.c
	struct list texts;     // responses to build, text.c
	struct msg text_msg;   // builds a part of the first
	bool is_text_posted;
	uint64_t text_unread; // bytes of responses in movers
	bool is_short;	      // of memory: a session has had none for a second
	struct timer tick;    // every second while there are connections
	struct memory_trim trim;
	struct cmd_pool cmds[CMD_POOLS];
	struct fabric_counters counters;
};
// The pool for commands with that much room.
static inline struct cmd_pool *cmd_pool_of(struct iscsi_worker *iw, uint32_t task_size)
{
	struct cmd_pool *p = iw->cmds;
	while (p->task_size && p->task_size != task_size)
		p++;
	p->task_size = task_size;
	return p;
}

struct iscsi_worker *iscsi_worker(void); // of the calling worker
struct iscsi_worker *iscsi_worker_at(unsigned index);
