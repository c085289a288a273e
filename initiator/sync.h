// SPDX-License-Identifier: BSD-2-Clause
// Blocking calls for programs; a worker runs the session. All functions are called on the same
// thread, that of the program, which is not a worker's.
#pragma once

#include <semaphore.h>

#include "initiator/scsi.h"

struct scsi_sync;

// Events for a program's user; absent slots are skipped. On the session's worker.
struct scsi_sync_ops {
	// The session is lost and retried for at most this many seconds. Once per cause.
	void (*waits)(const struct err *why, unsigned seconds);
	// It is restored.
	void (*back)(void);
	// The watched logical unit was restarted or replaced (scsi_watch_ops). Absent: false.
	bool (*changed)(enum scsi_lu_change change, const struct err *why);
};

// Starts a worker and, with open, a session; returns when it is up or has failed. ops must outlive
// it; NULL: no events.
int scsi_sync_open(struct scsi_sync **ret, scsi_open_fn *open, const void *config,
		   const struct scsi_sync_ops *ops, struct err *e);

// Logs out and frees everything. NULL is fine. Wait for all submitted commands first.
void scsi_sync_close(struct scsi_sync *y);

void scsi_sync_info(struct scsi_sync *y, struct scsi_session_info *ret);
unsigned scsi_sync_round_trips(struct scsi_sync *y, uint32_t bytes, bool is_write);

// Watches a logical unit (scsi_watch), one per session; returns when it is identified, or cannot
// be.
int scsi_sync_watch(struct scsi_sync *y, uint16_t lun, struct err *e);

// Why the watched logical unit's commands end with -ESTALE; else why the session ended or was last
// lost; code 0: never.
void scsi_sync_why(struct scsi_sync *y, struct err *ret);

// Ends all running calls, in order: commands that were not sent yet end with -ECANCELED
// (scsi_session_cancel). Any thread, before scsi_sync_close.
void scsi_sync_cancel(struct scsi_sync *y);

// A worker as sessions of a program have one. -ENOMEM, ... with a text.
int scsi_sync_worker_new(struct worker **ret, struct err *e);

// The worker, for worker_call() or worker_post().
struct worker *scsi_sync_worker(struct scsi_sync *y);
struct scsi_session *scsi_sync_session(struct scsi_sync *y);

// A command in flight, in the caller's memory, which must not be accessed from submit to wait. cmd
// is filled as for scsi_cmd_submit(), except done and arg.
struct scsi_sync_cmd {
	struct scsi_cmd cmd;
	struct msg msg; // private
	struct scsi_sync *sync;
	sem_t over;
};

void scsi_sync_submit(struct scsi_sync *y, struct scsi_sync_cmd *c);

// Returns when the command has ended. Retries after unit attentions other than a change of the
// data; after BUSY and TASK SET FULL too, for some seconds.
void scsi_sync_wait(struct scsi_sync_cmd *c);

// Both. Returns c->cmd.res.
int scsi_sync_run(struct scsi_sync *y, struct scsi_sync_cmd *c);
