// SPDX-License-Identifier: BSD-2-Clause
// Blocking calls for programs; a worker runs the session. All functions are called on the same
// thread, that of the program, which is not a worker's.
#pragma once

#include <semaphore.h>

#include "initiator/initiator.h"

struct ini_sync;

// Events for a program's user; absent slots are skipped. On the session's worker.
struct ini_sync_ops {
	// The session is lost and retried for at most this many seconds. Once per cause.
	void (*waits)(const struct err *why, unsigned seconds);
	// It is restored.
	void (*back)(void);
	// The watched logical unit was restarted or replaced (ini_watch_ops). Absent: false.
	bool (*changed)(enum ini_lu_change change, const struct err *why);
};

// Starts a worker and logs in; returns when the session is up or has failed. ops must outlive it;
// NULL: no events.
int ini_sync_open(struct ini_sync **ret, const struct ini_config *config,
		  const struct ini_sync_ops *ops, struct err *e);

// Logs out and frees everything. NULL is fine. Wait for all submitted commands first.
void ini_sync_close(struct ini_sync *y);

void ini_sync_info(struct ini_sync *y, struct ini_session_info *ret);

// Watches a logical unit (ini_watch), one per session; returns when it is identified, or cannot be.
int ini_sync_watch(struct ini_sync *y, uint16_t lun, struct err *e);

// Why the watched logical unit's commands end with -ESTALE; else why the session ended or was last
// lost; code 0: never.
void ini_sync_why(struct ini_sync *y, struct err *ret);

// Ends all running calls, in order: commands that were not sent yet end with -ECANCELED
// (ini_session_cancel). Any thread, before ini_sync_close.
void ini_sync_cancel(struct ini_sync *y);

// The worker, for worker_call() or worker_post().
struct worker *ini_sync_worker(struct ini_sync *y);
struct ini_session *ini_sync_session(struct ini_sync *y);

// A command in flight, in the caller's memory, which must not be accessed from submit to wait. cmd
// is filled as for ini_cmd_submit(), except done and arg.
struct ini_sync_cmd {
	struct ini_cmd cmd;
	struct msg msg; // private
	struct ini_sync *sync;
	sem_t over;
};

void ini_sync_submit(struct ini_sync *y, struct ini_sync_cmd *c);

// Returns when the command has ended. Retries after unit attentions other than a change of the
// data; after BUSY and TASK SET FULL too, for some seconds.
void ini_sync_wait(struct ini_sync_cmd *c);

// Both. Returns c->cmd.res.
int ini_sync_run(struct ini_sync *y, struct ini_sync_cmd *c);

// One NOP-Out and its response.
int ini_sync_ping(struct ini_sync *y, uint64_t *ret_rtt_ns);

// Resets a logical unit; ret_response as in RFC 7143 11.6.1.
int ini_sync_lun_reset(struct ini_sync *y, uint16_t lun, uint8_t *ret_response);

// Discovery: found is called for every record, on the worker's thread, before this returns.
int ini_sync_discover(const struct ini_config *config,
		      void (*found)(void *arg, const struct sendtargets_record *r), void *arg,
		      struct err *e);
