// SPDX-License-Identifier: BSD-2-Clause
// Private to initiator/srp: the session and functions shared by its files. On the session's worker.
#pragma once

#include "initiator/scsi_protocol.h"
#include "initiator/srp/initiator.h"

enum srps_state {
	SRPS_CONNECTING, // channels, one after the other
	SRPS_UP,
	SRPS_WAITING, // for the time of the next attempt
	SRPS_CLOSED,
};

#define NS_PER_SEC 1000000000ull
#define US_PER_SEC 1000000ull

struct srps_session;

struct srps_channel {
	struct srps_session *s;
	struct srpi_channel *ch; // until it is closed; NULL: none
	unsigned retries;	 // of its connect

	// ping
	bool is_pinging;
	uint64_t ping_ns; // when it was sent
	struct srpi_task ping;
};

// A command that a channel has.
struct srps_task {
	struct srps_task *next_free;
	struct scsi_cmd *cmd;
	struct srps_channel *on;
	struct srpi_task srp;
};

struct srps_session {
	struct scsi_session scsi;
	struct worker *worker;
	struct srps_config config;
	enum srps_state state;
	bool is_freed;
	struct timer timer; // of the state; after a logout: until channels are just closed
	struct timer tick;  // every second while up
	struct msg free_msg;
	struct srps_info info;

	struct srps_channel channels[SRPS_CHANNELS_MAX];
	unsigned channel_count; // up, from the first on
	unsigned next;		// to send on
	unsigned live;		// not closed yet
	bool is_dropping;	// ... and all of them closing: what follows waits for that
	bool is_connect_due, is_end_due, is_free_due; // ... then: free_msg is posted

	// connect
	unsigned portal_at;   // the current portal
	unsigned provider_at; // ... and its transport
	struct err connect_why;
	bool has_no_immediate; // the target refused IUs of that length

	// reconnect
	bool is_down; // it was up

	// commands
	struct srps_task *tasks, *free_task;
	unsigned tasks_max, tasks_used; // ... that were ever in use
	bool is_draining;		// a channel is closing: nothing new is sent

	// task management
	struct scsi_tmf *tmf;	    // NULL: none
	unsigned tmf_at;	    // the channel
	bool is_tmf_due;	    // it waits for a request that the target grants
	struct srps_task *aborting; // of ABORT TASK; NULL: it has ended meanwhile
	uint64_t tmf_deadline_ns;
};

static inline struct srps_session *srps_of(const struct scsi_session *s)
{
	return container_of((struct scsi_session *)s, struct srps_session, scsi);
}

// session_connect.c
// Starts to connect to the current portal, as soon as old channels are closed.
void srps_connect(struct srps_session *s);

// session_lost.c
// A channel or the attempt failed: starts the next attempt later, or ends the session.
void srps_lost(struct srps_session *s, const struct err *why, bool is_final);
void srps_end(struct srps_session *s, const struct err *why, bool is_logout);
// Reports the end, when every channel is closed.
void srps_tell_end(struct srps_session *s);

// command.c
int srps_commands_open(struct srps_session *s, struct err *e); // once
void srps_commands_free(struct srps_session *s);
unsigned srps_room(struct scsi_session *scsi);
void srps_send(struct scsi_session *scsi, struct scsi_cmd *c);
void srps_done(struct srpi_channel *ch, struct srpi_task *t, int res);

// tmf.c
int srps_tmf_send(struct scsi_session *scsi, struct scsi_tmf *t);
void srps_tmf_done(struct srpi_channel *ch, int code);
void srps_tmf_tick(struct srps_session *s, uint64_t now); // every second
// Whether commands wait for its end.
bool srps_tmf_holds(const struct srps_session *s);

// ping.c
void srps_ping_tick(struct srps_session *s, uint64_t now); // every second while up
// Whether a credit of the channel is kept for the next one.
bool srps_ping_needs_room(const struct srps_channel *c);
// t has ended. True: it was the channel's ping.
bool srps_ping_done(struct srps_channel *c, const struct srpi_task *t);
// The commands of the channel to LUN 0 were aborted: they get no response.
void srps_ping_aborted(struct srps_channel *c);

// describe.c
void srps_describe(const struct scsi_session *scsi, scsi_say *say, void *arg);
