// SPDX-License-Identifier: BSD-2-Clause
// A connection, which with MaxConnections=1 is also a session: from accept through login and full
// feature phase to its end. Private to target/iscsi.
//
// A connection belongs to one worker; everything here runs on that worker's thread unless noted
// otherwise. It ends in three steps: the mover closes (or is closed), all commands are ended and
// released, then the nexus and the memory are freed.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/offload.h"
#include "core/worker.h"
#include "target/iscsi/portal.h"
#include "target/iscsi/sessions.h"
#include "target/iscsi/view.h"
#include "target/scsi/task.h"
#include "target/scsi/tmf.h"
#include "transport/iscsi/datamover.h"
#include "transport/iscsi/login.h"
#include "transport/iscsi/name.h"

struct conn;
struct portal;
struct rnic_request;
struct session_entry; // session.c: its place in the table of sessions
struct text_exchange; // text.c

#define CONN_TAGS     64 // buckets of commands by tag
#define LOGINS_LOGGED 16 // logins, and ends of sessions, of one address in PEER_LOG_S seconds

enum conn_state {
	CONN_LOGIN,	   // waiting for Login Requests, or for a session being reinstated
	CONN_FULL_FEATURE, // commands, or discovery
	CONN_LOGOUT,	   // the Logout Response is being sent
	CONN_ENDING,	   // the mover is closed, commands are being ended
};

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

// Free commands of a worker's connections whose movers need the same room.
struct cmd_pool {
	uint32_t task_size; // of the movers; 0: not used yet
	struct list free;
	unsigned count;
};
enum { CMD_POOLS = 2 }; // TCP, iSER

// A PDU that arrived before an earlier CmdSN, or the place of one aborted before its turn.
struct held_pdu {
	struct list link; // conn->held, ascending by CmdSN
	uint32_t cmd_sn;
	bool is_aborted; // nothing to run: its CmdSN counts as received
	uint32_t data_len;
	struct cmd *cmd; // a SCSI command instead of the rest
	struct iscsi_pdu pdu;
	uint8_t bhs[ISCSI_BHS_LEN];
	uint8_t data[];
};

struct conn {
	struct list link; // of the worker's connections
	struct worker *worker;
	struct dm *dm;
	struct cmd_pool *cmd_pool; // of dm
	struct dm_sns sns;
	enum conn_state state;
	unsigned holds; // pending messages and callbacks that refer to the connection
	uint64_t id;	// "sid" in the shell
	uint64_t start_ns;
	struct portal *portal;	     // counted, see portal_conn_*
	struct tcp_addr portal_addr; // the portal as configured, possibly a wildcard
	unsigned transport;	     // its transport: PORTAL_TCP, PORTAL_ISER or PORTAL_IWARP

	// login
	struct login *login; // from the first PDU on; NULL afterwards
	struct iscsi_view *view;
	uint32_t login_timeout;	       // seconds
	struct login_peer *login_peer; // login_slots.c, also of discovery; NULL: no slot
	struct list login_link;
	bool is_displaced; // displaced by a newcomer
	bool has_spoken;   // a complete Login Request has arrived
	uint64_t login_ns; // ... and when the last one, or the connection, arrived
	bool is_settled;   // settle.c: what came before the login has been handled
	struct session_entry *entry;

	// session
	struct login_names names;
	struct iscsi_params params;
	struct view_target *target; // NULL for discovery
	const struct view_tpg *tpg; // of target
	const struct view_acl *acl; // of tpg; NULL: demo mode
	struct login_proof proof;
	uint16_t tsih;
	struct nexus *nexus;
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
	unsigned tmfs; // task management requests in progress
	bool logout_when_idle, close_when_sent;
	uint8_t logout_bhs[ISCSI_BHS_LEN];

	bool was_starved; // at the last tick: held no memory and waited for some

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

	struct nexus_lun *ahead; // of the command after the next; valid within one receive
	uint64_t commands, read_bytes, written_bytes;
	struct msg free_msg;
	bool is_free_posted;
	struct msg resume_msg; // settle.c: the workers have settled; session.c: the old session has
			       // ended
	struct msg kill_msg;   // session.c: a new login takes the session's place
};

// State of each worker.
struct iscsi_worker {
	struct worker *worker;
	struct list conns;
	unsigned count;		 // atomic: connections, for balancing
	unsigned logins;	 // in progress, and discovery sessions
	unsigned displaced;	 // displaced connections that have not ended yet
	struct list login_peers; // ... by address
	struct list greetings;	 // of iWARP, first_byte.c
	struct list texts;	 // responses to build, text.c
	struct msg text_msg;	 // builds a part of the first
	bool is_text_posted;
	uint64_t text_unread; // bytes of responses in movers
	bool is_short;	      // of memory: a session has had none for a second
	struct timer tick;    // every second while there are connections
	struct offload trim;  // returns freed memory to the system
	bool is_trimming;
	unsigned crowd; // most connections at a tick, since few were there
	struct cmd_pool cmds[CMD_POOLS];
	struct iscsi_counters counters;
};
struct iscsi_worker *iscsi_worker(void); // of the calling worker
struct iscsi_worker *iscsi_worker_at(unsigned index);

// conn.c -------------------------------------------------------------------------------

// Takes ownership of an accepted socket, or of an RDMA peer's request (q not NULL). The caller has
// raised the portal's connection count; the end of the connection lowers it.
void conn_new(struct worker *w, int fd, struct rnic_request *q, struct portal *portal,
	      const struct tcp_addr *portal_addr);
// Records a refused connection and the reason in the log and in the table of refusals. Any thread.
void conn_refused(const struct tcp_addr *peer, const char *why);
// Closes; with linger queued PDUs are sent first. Idempotent.
void conn_close(struct conn *c, bool linger, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// Adds the statistics of the session so far; no-op without one.
void conn_add_traffic(const struct conn *c, struct session_traffic *sum);
void conn_hold(struct conn *c);
void conn_release(struct conn *c);
// Checks whether an ending connection has anything left to wait for.
void conn_check_end(struct conn *c);
// The login has ended: from now on commands.
void conn_enter_full_feature(struct conn *c);
// The peer has sent a PDU of the full feature phase: the response opens the full window.
void conn_widen(struct conn *c);
extern const struct dm_up conn_dm_up;
// A line for the log, beginning with the connection.
void conn_log(const struct conn *c, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void conn_send(struct conn *c, const uint8_t *bhs, const void *data, uint32_t len, unsigned flags);
// A target transfer tag for a ping or a text; neither 0 nor the reserved one.
uint32_t conn_next_ttt(struct conn *c);
void conn_reject(struct conn *c, uint8_t reason, const uint8_t *bad_bhs);
// The configuration has changed: apply it to the connection, or end it.
void conn_follow(struct conn *c, struct iscsi_view *v);

// conn_tick.c --------------------------------------------------------------------------

// Called for the worker's first connection: checks all of them every second.
void conn_tick_start(struct iscsi_worker *iw);
// ... and its last one has gone.
void conn_tick_stop(struct iscsi_worker *iw);
// Ends c if at that time it owes something for too long, as every second.
void conn_tick(struct conn *c, uint64_t now);

// first_byte.c -------------------------------------------------------------------------

// Creates the mover of c: chosen by the peer's first byte, now or when it arrives, or over q's
// RDMA. Takes ownership of fd or q, on errors too; then c->dm may be set and must be freed.
int transport_begin(struct conn *c, int fd, struct err *e);
int transport_begin_rdma(struct conn *c, struct rnic_request *q, struct err *e);

// login_policy.c -----------------------------------------------------------------------
extern const struct login_target_ops login_policy;
void login_policy_resume(struct conn *c, int status, const struct err *why);
int conn_login_pdu(struct conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len,
		   struct err *e);
void conn_login_expired(struct conn *c);
// All slots are taken: this login, or discovery session, is displaced by a newcomer.
void conn_login_displaced(struct conn *c);
// Whether the TPG and its ACLs admit the initiator, and with which settings; status, or 0.
int admit_to_tpg(struct conn *c, const struct view_tpg *tpg, struct login_terms *ret,
		 struct err *e);
bool tpg_shows(const struct view_tpg *tpg, const char *initiator);
// Whether the initiator has kept others waiting lately (late.h).
bool conn_is_late(const struct conn *c, uint64_t now);

// login_slots.c ------------------------------------------------------------------------

// Takes a slot for a connection from addr; may displace another one. -EBUSY, -ENOMEM.
int login_slot_take(struct conn *c, const struct tcp_addr *addr, struct err *e);
void login_slot_progress(struct conn *c); // it has sent a Login Request
void login_slot_leave(struct conn *c);	  // idempotent
// For newcomers refused for lack of connections, before they could displace a login.
void login_slots_tick(struct iscsi_worker *iw);

// settle.c -----------------------------------------------------------------------------

// Posts c's resume_msg when every worker has handled what its sockets had received before the call,
// and has freed the nexuses of idle connections that ended thereby. -ENOMEM.
int settle_start(struct conn *c);

// session.c ----------------------------------------------------------------------------

// Enters the session into the table. 0 and c->tsih, or an enum iscsi_login_status, or -EINPROGRESS:
// an older session must end first; then session_resume() runs by message.
int session_enter(struct conn *c, const struct login_names *names, struct err *e);
// The same, after the wait.
int session_enter_again(struct conn *c, struct err *e);
// Removes the session from the table and wakes those who wait for that. NULL-safe.
void session_leave(struct conn *c);

// ffp.c: control PDUs of the full feature phase --------------------------------------------
int ffp_control(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		const uint8_t *data, struct err *e);
// Classifies a PDU's CmdSN; FFP_TAKE: the window has moved.
enum ffp_order { FFP_TAKE, FFP_HOLD, FFP_DROP };
enum ffp_order ffp_order(struct conn *c, const uint8_t *bhs, bool is_immediate);
// The same without moving the window.
enum ffp_order ffp_look(struct conn *c, const uint8_t *bhs, bool is_immediate);
// Runs what was held for the CmdSNs that are due now; after ffp_turn_ns the rest in the next round.
void ffp_run_held(struct conn *c);
extern uint64_t ffp_turn_ns;
int ffp_hold(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs, const uint8_t *data,
	     struct cmd *cmd);
void ffp_drop_held(struct conn *c);
void ffp_unhold(struct conn *c, struct cmd *cmd); // it ends before its turn
// Counts a missing CmdSN as received; its PDU is dropped when it arrives. -EEXIST: it is waiting
// for its turn; -ENOMEM.
int ffp_skip(struct conn *c, uint32_t sn);

// nop.c
int nop_out(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs, const uint8_t *data,
	    struct err *e);
void nop_ping(struct conn *c);
void nop_window(struct conn *c); // announces that the closed window is open again
// logout.c
int logout_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		   const uint8_t *data, struct err *e);
void logout_finish(struct conn *c);
// text.c
int text_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		 const uint8_t *data, struct err *e);
// A PDU with DM_WANTS_SENT was sent: whether it was a Text Response.
bool text_sent(struct conn *c);
// A response is due or not sent yet: nothing else is handled.
bool text_is_busy(const struct conn *c);
void text_drop(struct conn *c);		      // idempotent
void text_tick(struct conn *c, uint64_t now); // ends exchanges that the peer does not continue
// tmf.c
int tmf_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		const uint8_t *data, struct err *e);
void tmf_abort_done(struct cmd *cmd, bool was_aborted);
// async.c
void async_logout(struct conn *c, unsigned seconds);
void async_scsi(struct conn *c, uint16_t lun, uint32_t sense_code);
void async_held(struct conn *c); // the initiator is alive: sends what waited for that

// cmd.c --------------------------------------------------------------------------------
struct dm_task *cmd_arrived(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			    const uint8_t *ahs);
void cmd_begin(struct dm *dm, struct dm_task *t);
void cmd_ahead(struct dm *dm, const uint8_t *bhs);
void cmd_data(struct dm *dm, struct dm_task *t, int res);
void cmd_released(struct dm *dm, struct dm_task *t);
void cmd_submit(struct cmd *cmd);
// Ends every command of a closing connection.
void cmd_end_all(struct conn *c);
struct cmd *cmd_find(struct conn *c, uint32_t itt_wire); // the newest with this tag, or NULL
void cmd_abort(struct cmd *cmd, bool with_status);
// The pool for commands with that much room.
struct cmd_pool *cmd_pool_of(struct iscsi_worker *iw, uint32_t task_size);
void cmd_pool_trim(struct iscsi_worker *iw);

// refusals.c ---------------------------------------------------------------------------
// Any thread. status: class << 8 | detail.
void refusal_note(const char *initiator, const char *target, const char *peer, uint16_t status,
		  const char *reason);

// ended.c ------------------------------------------------------------------------------
// Any thread. Records the end of c and the reason in the log and in the table of ended sessions.
void session_ended(const struct conn *c, const char *why);
void session_end_note(const struct session_end *s); // only the table

// portal.c: counts of connections; any thread ----------------------------------------------
void portal_conn_closed(struct portal *p, const struct tcp_addr *peer);
void traffic_add(struct session_traffic *sum, const struct session_traffic *more);
void portal_note_login(struct portal *p);
void portal_note_failure(struct portal *p, enum login_failure why);
// The session ends: adds its statistics to its portal. The connection's worker.
void portal_note_end(struct portal *p, const struct conn *c);
// view.c: frees the last view, when no connection is left
void iscsi_view_retire(void);
