// SPDX-License-Identifier: BSD-2-Clause
// What each worker has for its iSCSI connections. The worker's thread, but for the counters.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/offload.h"
#include "core/worker.h"
#include "target/fabric/fabric.h"

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
	struct offload trim;  // returns freed memory to the system
	bool is_trimming;
	unsigned most_conns;   // most connections at a tick, since few were there
	struct list free_cmds; // free commands
	unsigned free_count;
	struct fabric_counters counters;
};
struct iscsi_worker *iscsi_worker(void); // of the calling worker
struct iscsi_worker *iscsi_worker_at(unsigned index);
