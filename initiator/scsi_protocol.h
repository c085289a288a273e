// SPDX-License-Identifier: BSD-2-Clause
// What carries a session (scsi.h): a protocol embeds struct scsi_session in its own session, fills
// struct scsi_protocol and reports by the functions below. The session here has the queue in front
// of the protocol's window, time limits, retries after a loss, and the watches of logical units;
// the protocol connects, logs in, retries, and has commands executed.
//
// Everything runs on the session's worker; nothing blocks.
#pragma once

#include "initiator/scsi.h"

struct scsi_watch;

enum { SCSI_PAUSE_US = 100000 }; // until a paused session looks again whether it may log in

// What the session tells those who watch its logical units (scsi_watch.c).
struct scsi_watcher {
	void (*up)(struct scsi_session *s); // again: all units are checked
	// c received a unit attention: true if its unit is checked now and c waits for that.
	bool (*attention)(struct scsi_session *s, const struct scsi_cmd *c);
	bool (*refuses)(struct scsi_session *s, const uint8_t lun[8]); // commands for lun
	void (*end)(struct scsi_session *s);			       // checks end
	void (*free)(struct scsi_session *s);
};

// What the session calls. Slots are required unless a default is given.
struct scsi_protocol {
	// How many commands may be sent now, asked before each: 0 while the session is not up, is
	// draining, or its window is closed. scsi_session_pump() says that there is more.
	unsigned (*room)(struct scsi_session *s);
	// Sends c, for which there is room; c->sent is set to the protocol's part of it, not NULL.
	// scsi_cmd_ended() follows, never from inside.
	void (*send)(struct scsi_session *s, struct scsi_cmd *c);
	// Sends t, the first request of task management; its command, if it has one, is in flight.
	// scsi_tmf_ended() follows, never from inside. -EOPNOTSUPP: the protocol does not have this
	// function. Absent: it has none.
	int (*task_mgmt)(struct scsi_session *s, struct scsi_tmf *t);
	// The target did not abort a command that took too long: the connection is lost, for the
	// reason why. scsi_session_lost() follows, never from inside scsi_session_tick().
	void (*give_up)(struct scsi_session *s, const struct err *why);
	// No command is in flight. Absent: nothing.
	void (*idle)(struct scsi_session *s);
	// As scsi_session_logout() and scsi_session_free(). The memory is the protocol's; before it
	// is freed, scsi_session_done() is called, and after it ops.freed.
	void (*logout)(struct scsi_session *s);
	void (*free)(struct scsi_session *s);
	void (*info)(const struct scsi_session *s, struct scsi_session_info *ret);
	// Absent: nothing is known.
	void (*describe)(const struct scsi_session *s, scsi_say *say, void *arg);
	// As scsi_session_nexus(). Absent: the protocol has no names of ports.
	void (*nexus)(const struct scsi_session *s, struct scsi_nexus *ret);
	// Opens a session with the names of lost and the settings of s, at the portal to which s is
	// connected; it ends with its connection. -EOPNOTSUPP with a text: s is of another target
	// port or initiator. Absent: the same.
	int (*reenter)(struct scsi_session *s, const struct scsi_nexus *lost,
		       const struct scsi_session_ops *ops, void *arg, struct scsi_session **ret,
		       struct err *e);
	// Absent: always 1.
	unsigned (*round_trips)(const struct scsi_session *s, uint32_t bytes, bool is_write);
};

// The part of a session that all protocols share. The protocol reads it.
struct scsi_session {
	struct worker *worker;
	struct scsi_protocol protocol; // absent slots filled
	struct scsi_session_ops ops;   // absent slots filled
	void *arg;
	unsigned queue_depth;	  // limit of commands in flight
	unsigned command_timeout; // seconds; 0: none
	bool is_up, was_up;
	bool is_leaving; // a logout was requested
	bool is_ended;	 // commands end with end_res
	bool is_cancelled;
	struct scsi_nexus names; // since it was up
	bool is_paused;		 // the protocol starts no attempt to log in
	bool is_settled; // the target confirmed a logout: it executes nothing of the session any
			 // more
	struct err end_why;
	int end_res;
	unsigned reconnects;

	// The next login. A session that does not last is as good as a failed attempt.
	uint64_t up_ns;	      // since when it is up, or logs out; 0: it is not
	uint64_t lost_ns;     // since when it was not up for long
	unsigned short_lives; // how often it was lost soon after a login, in a row
	unsigned attempts;    // that the back-off counts
	unsigned login_wait;  // seconds from the last failure to the next attempt

	struct list waiting, flying; // commands, both in the order of submission
	unsigned sent_count;	     // those that the protocol has
	struct defer pump_defer;
	struct list tmfs; // the protocol has the first one if is_tmf_sent
	struct list tmfs_over;
	bool is_tmf_sent;
	struct defer tmf_defer;
	struct scsi_tmf late; // aborts commands that take too long
	bool is_late_used;
	const struct scsi_watcher *watcher; // does nothing until there are watches
	struct scsi_watch *watches;	    // NULL: none
	unsigned holds;			    // checks in progress: only is_ahead commands are sent
	unsigned stale_count;
};

// Initialises s. ops and protocol are copied.
void scsi_session_init(struct scsi_session *s, struct worker *w,
		       const struct scsi_protocol *protocol, const struct scsi_session_ops *ops,
		       void *arg);
// Frees what s holds; it has ended, no command is left.
void scsi_session_done(struct scsi_session *s);

// The session is up: calls ops.up, has watched units checked, and sends what waits.
void scsi_session_enter_up(struct scsi_session *s);
// It is not: what was sent and may be retried returns to the queue. The rest ends now, but for what
// the protocol still has (c->sent), which ends with scsi_cmd_ended().
void scsi_session_lost(struct scsi_session *s);
// How long to wait before the next attempt to log in, at least min: at first not, then longer each
// time, up to 15; seconds. Starts again after a session that was up for 10 s.
unsigned scsi_session_back_off(struct scsi_session *s, unsigned min);
// How much of timeout, in seconds, is left to restore the session; 0: it is over. One that is lost
// again within 10 s was not restored.
unsigned scsi_session_time_left(const struct scsi_session *s, unsigned timeout);
// It will not return: what commands end with is settled, checks end. scsi_session_lost() and
// scsi_session_fail() follow when the connection is closing.
void scsi_session_begin_end(struct scsi_session *s, const struct err *why);
// Ends all commands that the protocol does not have.
void scsi_session_fail(struct scsi_session *s);

// The protocol no longer refers to c or its memory, and c->sent is NULL. res 0: the target
// responded, the result is in c. -EPIPE: the connection is lost, scsi_session_lost() follows or was
// called; else as in scsi_cmd.
void scsi_cmd_ended(struct scsi_cmd *c, int res);
// The request that the protocol has was answered (0, response is set) or was not. Sends the next
// one.
void scsi_tmf_ended(struct scsi_session *s, int res);
// Called by scsi_session.c: the session is lost, is freed.
void scsi_tmfs_lost(struct scsi_session *s);
void scsi_tmfs_done(struct scsi_session *s);
// Called by scsi_session.c: c, which was sent, takes too long.
void scsi_cmd_late(struct scsi_session *s, struct scsi_cmd *c);
// Whether the protocol has c, which may be gone.
bool scsi_cmd_is_sent(const struct scsi_session *s, const struct scsi_cmd *c);
// Ends the waiting commands of a logical unit.
void scsi_session_fail_lun(struct scsi_session *s, const uint8_t lun[8], int res);
// The window has opened. pump_later: at the end of the round.
void scsi_session_pump(struct scsi_session *s);
void scsi_session_pump_later(struct scsi_session *s);
// Every second while up: time limits.
void scsi_session_tick(struct scsi_session *s, uint64_t now);
