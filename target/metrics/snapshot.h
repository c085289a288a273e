// SPDX-License-Identifier: BSD-2-Clause
// A copy of all counters of the daemon: taken on the control thread, which must not be delayed, and
// formatted on the HTTP thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/worker.h"
#include "target/fabric/fabric.h"
#include "target/fabric/sessions.h"
#include "target/scsi/progress.h"

struct config;

enum { SNAPSHOT_NAME = 240, SNAPSHOT_PROGRESS = 64 };

struct snapshot_disk {
	char path[SNAPSHOT_NAME]; // "/backstores/fileio/disk0"
	bool is_up;
	uint64_t size;	   // bytes
	uint32_t sanitize; // state of medium.h
	unsigned ended_writes;
	struct lu_counters counters;
};
struct snapshot_lun {
	char target[SNAPSHOT_NAME], disk[SNAPSHOT_NAME];
	unsigned tpg;
	uint32_t number;
};
struct snapshot_portal {
	char target[SNAPSHOT_NAME], name[SNAPSHOT_NAME];
	unsigned tpg;
	bool is_up;
};
struct snapshot_target {
	const struct fabric_ops *fabric;
	char name[SNAPSHOT_NAME];
};
struct snapshot_worker {
	struct worker_counters counters;
	uint64_t cpu_ns;
};

struct snapshot {
	struct snapshot_disk *disks;
	struct snapshot_lun *luns;
	struct snapshot_portal *portals;
	struct snapshot_target *targets;
	struct session_info *sessions;
	unsigned disk_count, lun_count, portal_count, target_count, session_count;
	struct snapshot_worker workers[WORKER_MAX];
	unsigned worker_count;
	struct fabric_counters logins; // of all fabrics
	struct progress_info progress[SNAPSHOT_PROGRESS];
	unsigned progress_count;
};

// NULL: no memory. Control thread; visits the workers.
struct snapshot *snapshot_take(struct config *c);
void snapshot_free(struct snapshot *s); // any thread; NULL is fine
