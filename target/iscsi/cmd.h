// SPDX-License-Identifier: BSD-2-Clause
// SCSI commands of a connection: from the mover to the device server and back. The connection's
// worker.
#pragma once

#include "target/iscsi/conn.h"
#include "target/scsi/task.h"

struct iscsi_worker;

// A SCSI command.
struct cmd {
	struct list link;     // conn->cmds
	struct cmd *tag_next; // in conn->tags
	struct conn *conn;
	struct task task;
	struct dm_result result;
	uint32_t cmd_sn;
	bool is_counted;   // occupies a place in the command window
	bool is_submitted; // it was submitted to the device server
	bool is_held;	   // waits for an earlier CmdSN
	bool is_ending;	   // the end of the session or connection has handled it
	bool is_dropped;   // aborted after it ended, before its status was sent
	uint8_t *long_cdb; // beyond 16 bytes
	uint8_t cdb[ISCSI_CDB_LEN];
	struct abort_wait *abort_wait; // an ABORT TASK waits for its end
	struct dm_task dm;	       // the last: the mover's room is behind it
};

// An ABORT TASK that waits for the end of a command (tmf.c).
struct abort_wait {
	// The command has ended: was_aborted, or before it could be aborted. Frees the wait.
	void (*done)(struct abort_wait *w, bool was_aborted);
	struct conn *conn;
	uint8_t itt[4];
};

struct dm_task *cmd_arrived(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			    const uint8_t *ahs);
void cmd_begin(struct dm *dm, struct dm_task *t);
void cmd_ahead(struct dm *dm, const uint8_t *bhs);
void cmd_data(struct dm *dm, struct dm_task *t, int res);
void cmd_part(struct dm *dm, struct dm_task *t, int res);
void cmd_released(struct dm *dm, struct dm_task *t);
void cmd_submit(struct cmd *cmd);
// Ends every command of a closing connection.
void cmd_end_all(struct conn *c);
struct cmd *cmd_find(struct conn *c, uint32_t itt_wire); // the newest with this tag, or NULL
void cmd_abort(struct cmd *cmd, bool with_status);
void cmd_pool_trim(struct iscsi_worker *iw);
