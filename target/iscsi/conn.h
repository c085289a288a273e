// SPDX-License-Identifier: BSD-2-Clause
// A connection: from accept through login and full feature phase to its end. With MaxConnections=1
// a connection is also the session, so struct conn is both: `session` is what other fabrics have
// too (target/fabric/session.h), the rest is of iSCSI. Private to target/iscsi.
//
// A connection belongs to one worker; everything here runs on that worker's thread unless noted
// otherwise. It ends in three steps: the mover closes (or is closed), all commands are ended and
// released, then the nexus and the memory are freed (conn_life.c).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/worker.h"
#include "target/fabric/session.h"
#include "transport/iscsi/datamover.h"
#include "transport/iscsi/login.h"
#include "transport/iscsi/name.h"

struct cmd;
struct conn;
struct held_pdu;
struct nexus_lun;
struct session_entry;
struct text_exchange;
struct cmd_pool;

#define CONN_TAGS 64 // buckets of commands by tag

struct conn {
	struct dm *dm;
	struct cmd_pool *cmd_pool; // of dm
	struct dm_sns sns;
	unsigned holds; // pending messages and callbacks that refer to the connection
	struct session session;
	struct list link;	       // of the worker's connections
	unsigned transport;	       // PORTAL_TCP, PORTAL_RDMA or PORTAL_IWARP
	struct fabric_traffic counted; // of dm, in the worker's counters
	// What files above this one do for it: calls go up only by a pointer.
	const struct dm_up *up;				      // of its mover
	void (*run_held)(struct conn *c, struct held_pdu *h); // full_feature_held()

	// login
	struct login *login; // from the first PDU on; NULL afterwards
	struct view *view;
	uint32_t login_timeout;	     // seconds
	bool is_settled;	     // what came before the login has been handled
	struct session_entry *entry; // reinstatement.c: its place in the table

	// session
	struct login_names names;
	struct iscsi_params params;
	struct login_proof proof;
	uint16_t tsih;
	uint32_t window;   // commands
	bool is_narrow;	   // ... but dm->first_window until the first PDU of full feature phase
	uint32_t inflight; // counted commands not yet answered
	struct list cmds;
	struct cmd *tags[CONN_TAGS]; // the same by tag, the newest first
	unsigned cmd_count;
	struct list held;
	unsigned held_count;
	uint32_t held_bytes; // of their data
	uint64_t held_ns;    // since when the next CmdSN is missing
	struct msg held_msg; // runs what is due of them in the next round
	bool is_held_posted;
	unsigned tmfs;			   // task management requests in progress
	void (*when_idle)(struct conn *c); // a logout: its last command has ended; or NULL
	bool close_when_sent;
	uint8_t logout_bhs[ISCSI_BHS_LEN];

	// idle pings
	bool is_ping_out;
	bool knows_pings;     // has answered a ping, or sent one
	uint32_t held_notice; // sense code of the notice waiting for that, 0 none
	uint16_t held_notice_lun;
	bool ignores_pings; // has ignored a ping: no more are sent
	uint64_t ping_ns;
	uint32_t next_ttt;
	uint64_t drain_ns; // deadline of a requested logout, 0 none

	struct text_exchange *text; // Text Requests and responses in progress, or NULL
	bool is_text_busy;	    // a response is due or not sent yet: nothing else is handled

	struct nexus_lun *ahead; // of the command after the next; valid within one receive
	struct msg free_msg;
	bool is_free_posted;
	struct msg resume_msg; // login_resume(): the workers have settled, or the old session has
			       // ended
	struct msg kill_msg;   // reinstatement.c: a new login takes the session's place
};

static inline struct conn *conn_of(const struct session *s)
{
	return container_of((struct session *)s, struct conn, session);
}

// Closes; with linger queued PDUs are sent first. Idempotent.
void conn_close(struct conn *c, bool linger, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void conn_hold(struct conn *c);
void conn_release(struct conn *c);
// Checks whether an ending connection has anything left to wait for.
void conn_check_end(struct conn *c);
void conn_send(struct conn *c, const uint8_t *bhs, const void *data, uint32_t len, unsigned flags);
// A target transfer tag for a ping or a text; neither 0 nor the reserved one.
uint32_t conn_next_ttt(struct conn *c);
void conn_reject(struct conn *c, uint8_t reason, const uint8_t *bad_bhs);
// The connection's mover; the old one is freed.
// Adds what was transferred since the last call to the worker's counters.
void conn_count_traffic(struct conn *c);
void conn_set_mover(struct conn *c, struct dm *dm);
