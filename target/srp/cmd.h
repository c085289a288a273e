// SPDX-License-Identifier: BSD-2-Clause
// SCSI commands of a session: from the channel to the device server and back. The session's worker.
#pragma once

#include "target/scsi/task.h"
#include "target/srp/session.h"

struct srp_worker;

struct cmd {
	struct list link;     // session_channel.cmds
	struct cmd *tag_next; // in srp_session.tags
	struct session_channel *channel;
	struct srp_task srp;
	struct srp_result result;
	bool is_submitted; // it was submitted to the device server
	bool is_put;	   // the channel ends it
	bool is_ending;	   // the end of the channel has handled it
	uint8_t lun[8];
	uint8_t *long_cdb; // beyond 16 bytes
	uint8_t cdb[SRP_CDB_LEN];
	struct abort_wait *abort_wait; // an ABORT TASK waits for its end
	struct task task;
};

// An ABORT TASK that waits for the end of a command (tmf.c), which calls done. It frees the wait.
struct abort_wait {
	void (*done)(struct abort_wait *w);
	struct session_channel *channel;
	uint64_t tag;
};

// ---- slots of struct srp_channel_up ----
struct srp_task *srp_cmd_arrived(struct srp_channel *ch, const struct srp_command *c);
void srp_cmd_begin(struct srp_channel *ch, struct srp_task *t);
void srp_cmd_data(struct srp_channel *ch, struct srp_task *t, int res);
void srp_cmd_part(struct srp_channel *ch, struct srp_task *t, int res);
void srp_cmd_released(struct srp_channel *ch, struct srp_task *t);

struct cmd *srp_cmd_find(struct srp_session *s, uint64_t tag); // the newest with this tag, or NULL
void srp_cmd_abort(struct cmd *cmd);
// Ends every command of a closed channel.
void srp_cmd_end_all(struct session_channel *c);
void srp_cmd_pool_trim(struct srp_worker *sw);
