// SPDX-License-Identifier: BSD-2-Clause
// The parts of an attachment's process: its disk (opened.c), its state (state.c), what it does
// until the end (serve.c). The program's thread, but for the disk's events, which come on its
// worker and wake it, and the chore.
#pragma once

#include <semaphore.h>
#include <stdatomic.h>

#include "initiator/holder/chore.h"
#include "initiator/holder/control.h"
#include "initiator/holder/holder.h"
#include "initiator/holder/path_log.h"

// What waits for a detach, and since when. serve.c
struct detaching {
	bool is_forced;
	bool is_late;		     // those that waited were told
	bool is_retry;		     // of what a signal asked for
	atomic_bool is_unused;	     // found so: what begins cannot be taken back
	uint64_t begin_ms, until_ms; // until_ms: when they are told; 0: nothing is detached
	int result;		     // of the chore
	struct err why;
};

// A signal asked for the end, and the device was used: it ends as soon as it is not. serve.c
struct stopping {
	bool is_asked, is_told; // who uses it was logged
	uint64_t again_ms;	// the next attempt; 0: none
};

struct holder {
	const struct holder_config *config;
	struct holder_files files;
	struct worker *worker;
	struct disk *disk;
	struct carrier *carrier;
	struct carrier_info info; // of the carrier
	const struct carrier_ops *via;
	sem_t ready, closed;
	bool is_abandoned, has_closed;		   // the disk
	struct err why;				   // of the disk's readiness
	struct path_log path_logs[DISK_PATHS_MAX]; // on the disk's worker
	bool was_no_path_said, was_failing_said;   // ... until a path is up and lasts
	struct control control;
	struct chore chore; // what blocks: start and end of the carrier
	struct detaching detaching;
	struct stopping stopping;
	int lock, claim, signals, wake;
	int removed;			     // inotify(7) of the run directory; -1: not watched
	char claim_name[DISK_IDENTITY_TEXT]; // "": the disk is read only
	atomic_bool is_resized, has_ended, has_no_path, is_stale, is_settled;
	atomic_bool has_inherited, has_new_nexus; // nexuses.c
	atomic_bool has_reserved;
	struct err reserved_why; // set before has_reserved
	bool has_records;	 // what is left of them is recorded at the end
	struct err ended_why;	 // set before has_ended
};

// Each file calls those above it.

// ---- state.c ----
// An object, for json_object_put().
struct json_object *holder_state(struct holder *h);
int holder_write_state(struct holder *h, struct err *e);
void holder_release(int *fd);

// ---- nexuses.c ----
// Until a callback of the disk has set is_over. -ECANCELED with text: a signal, which stays
// pending.
int holder_await(struct holder *h, const atomic_bool *is_over, struct err *e);
// Once the disk is ready and claimed: waits until nothing of a former process can write it, then
// records the nexuses of this one. A signal, which stays pending, ends that.
int holder_fence_former(struct holder *h, struct err *e);
// A path has another nexus: it is used once that is recorded. Makes the run directory if it was
// removed, and watches it.
int holder_record_nexuses(struct holder *h, struct err *e);
// A file of the run directory was removed: records the nexuses again if it was theirs.
void holder_check_record(struct holder *h);
// The disk is closed: forgets the nexuses, or keeps those that may still write.
void holder_nexuses_end(struct holder *h);

// ---- opened.c ----
void holder_wake(struct holder *h); // any thread
// Until the disk is ready, or a signal, which stays pending, ends the attempt.
int holder_open_disk(struct holder *h, struct err *e);
// Once the disk is claimed: reserves it, if that is configured. A signal, which stays pending, ends
// that.
int holder_reserve_disk(struct holder *h, struct err *e);
// Requests fail from now on; does not wait.
void holder_abandon_disk(struct holder *h);
// Waits until its sessions have ended. Also on the chore's thread.
void holder_close_disk(struct holder *h);
void holder_free_disk(struct holder *h); // closes it before

// ---- serve.c ----
uint64_t holder_now_ms(void);
// Answers requests until it is detached, or the carrier has ended (a negative errno with a text).
int holder_serve(struct holder *h, struct err *e);
