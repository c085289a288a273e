// SPDX-License-Identifier: BSD-2-Clause
// A session: an I_T nexus with one or more RDMA channels, all on one worker. Private to target/srp.
//
// A channel ends in three steps: its connection is closed, its commands are ended and released,
// then its memory is freed. With the last connection the session is over; with the last channel the
// nexus and the session's memory are freed.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/worker.h"
#include "target/fabric/session.h"
#include "target/srp/identity.h"
#include "transport/srp/target.h"

struct cmd;
struct login;
struct nexus_entry;
struct srp_worker;

#define SESSION_TAGS 256 // buckets of commands by tag

struct srp_session {
	struct session session;
	struct srp_worker *worker;
	struct list link; // of the worker's sessions
	char initiator[PORT_NAME_SIZE], target[PORT_NAME_SIZE];
	char peer[TCP_ADDR_TEXT], local[TCP_ADDR_TEXT]; // of its first channel
	struct tcp_addr peer_addr;
	struct list channels; // struct session_channel
	unsigned channel_count, open_count;
	struct nexus_entry *entry; // nexuses.c: its place in the table
	struct rnic_drain drain;
	struct cmd *tags[SESSION_TAGS]; // commands of all channels by tag, the newest first
	unsigned tmfs;			// task management requests in progress
	struct list tmf_waits;		// those of the device server (tmf.c)
	unsigned holds;			// atomic: pending messages and callbacks that refer to it
	bool is_entered;		// into the registry
	bool is_closing;		// no more commands, no more channels
	bool has_heard;			// an IU
	uint64_t heard_ns;		// the initiator was heard from, on any channel
	bool has_logged_out;
	char why[200];		  // it is closing; "": not yet
	struct buf_copies copied; // of channels that have ended
	uint32_t held_notice;	  // sense code of an event that waits to be sent, 0 none
	uint16_t held_notice_lun;
	bool is_free_posted;
	struct msg free_msg;
	struct msg kill_msg; // nexuses.c: a new login takes the nexus
};

struct session_channel {
	struct list link; // of its session
	struct srp_session *session;
	struct srp_channel *ch;
	struct portal *portal; // it has come by; counted
	struct tcp_addr peer;
	struct srp_accept accept;
	struct fabric_traffic counted; // in the worker's counters
	bool wants_events;	       // the login has asked for them
	bool is_closed;
	struct list cmds;
	unsigned cmd_count;
	unsigned holds; // task management requests that will be answered
	bool is_free_posted;
	struct msg free_msg;
};

static inline struct srp_session *srp_session_of(const struct session *s)
{
	return container_of((struct session *)s, struct srp_session, session);
}

static inline struct session_channel *channel_of(struct list *link)
{
	return list_entry(link, struct session_channel, link);
}

// ---- session.c ----

// Closes all channels; graceful: after sending what is queued. Idempotent.
void srp_session_close(struct srp_session *s, bool is_graceful, enum srp_logout_reason reason,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void srp_session_hold(struct srp_session *s);
void srp_session_release(struct srp_session *s);
// Whether a session that is over, and has no channel left, has anything to wait for; else it is
// freed, later.
void srp_session_check_end(struct srp_session *s);
void channel_close(struct session_channel *c, bool is_graceful, enum srp_logout_reason reason,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));
// The same of a closed channel.
void channel_check_end(struct session_channel *c);

// ---- session_life.c ----

// A session for a login, without a nexus; in the worker's list. NULL: no memory.
struct srp_session *srp_session_new(const struct login *l);
// Creates its nexus. -ENOMEM.
int srp_session_make_nexus(struct srp_session *s, const struct login *l, struct err *e);
// Its first channel is there: it is live.
void srp_session_enter(struct srp_session *s);
// It ends without ever having been live.
void srp_session_abandon(struct srp_session *s);

// ---- channel_life.c ----

// Accepts the login's request as a channel of s, to which the connection then belongs. On an error
// the request was refused, unless l->request is still set.
int channel_begin(struct srp_session *s, struct login *l, struct err *e);
