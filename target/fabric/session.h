// SPDX-License-Identifier: BSD-2-Clause
// A session as all fabrics have it, and the registry of sessions. For the fabrics; the
// administrator uses sessions.h.
//
// A fabric embeds struct session in its own and enters it into the registry of its worker when the
// connection begins, so that logins in progress are known too. The worker owns the session: only
// its thread reads or changes the fields. Nothing here takes a lock; the control thread visits the
// workers (worker_call()). A session of several channels to one nexus is one entry: the fabric sums
// what they have moved.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/worker.h"
#include "target/fabric/login_slots.h"
#include "target/fabric/sessions.h"
#include "target/fabric/view.h"
#include "transport/tcp/addr.h"

struct fabric_ops;
struct nexus;
struct portal;

enum session_state {
	SESSION_LOGIN,	 // logging in, or waiting for an older session to end
	SESSION_LIVE,	 // commands, or discovery
	SESSION_LEAVING, // the response to its logout is being sent
	SESSION_ENDING,	 // the connection is closed, commands are being ended
};

struct session {
	struct list link; // of its worker
	const struct fabric_ops *fabric;
	struct worker *worker;
	struct nexus *nexus; // NULL: none yet, or discovery
	enum session_state state;
	bool is_discovery;
	uint64_t commands, read_bytes, written_bytes;

	uint64_t id; // "sid" in the shell: unique in this process, over all fabrics
	uint64_t start_ns;
	struct portal *portal; // it has come by; counted
	// The published configuration that it follows; NULL before the login's answer, and for
	// discovery. acl NULL: none, demo mode.
	struct view_target *target; // a reference
	const struct view_tpg *tpg; // of target
	const struct view_acl *acl; // of tpg
	// Texts of the fabric, as long as the session: normal names, and the current connection.
	const char *initiator, *target_name;
	const char *transport, *carrier, *peer, *local;
	const struct tcp_addr *peer_addr;
	struct login_slot slot;
	bool is_authenticated;	 // by a secret
	struct list removals;	 // removal.c: those that wait for the end of its nexus
	unsigned removals_begun; // by it, under way
	uint64_t starved_ns; // since when sessions_starve() finds it without memory; 0: it is not
};

// Before the first session; control thread.
void sessions_init(void);
// Gives the zeroed s an id and the state SESSION_LOGIN. w: the calling worker.
void session_init(struct session *s, const struct fabric_ops *fabric, struct worker *w);
// Enters s into, and removes it from, the registry of its worker. The memory is the fabric's.
void session_enter(struct session *s);
void session_leave(struct session *s);
// The calling worker's sessions, of all fabrics and in all states.
struct list *sessions_here(void);
static inline struct session *session_of(struct list *link)
{
	return list_entry(link, struct session, link);
}
// Whether the administrator sees it: it is live or leaving.
static inline bool session_is_up(const struct session *s)
{
	return s->state == SESSION_LIVE || s->state == SESSION_LEAVING;
}

// A line for the log, beginning with the session.
void session_log(const struct session *s, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// It was live and has ended, for this reason: for the log and for the table of ended sessions.
void session_ended(const struct session *s, const char *why);
// Adds the statistics of its nexus so far; no-op without one.
void session_add_traffic(const struct session *s, struct session_traffic *sum);
// Applies the configuration: the session gets a new LUN map, continues, or is closed since its
// target, portal group or ACL is gone. No-op if it is not live, or without a target.
void session_follow(struct session *s, const struct view *v);

// The initiator has kept others waiting, now or lately (slow_initiators.h). Who can choose its name
// is known by its address.
void session_note_slow(const struct session *s);
bool session_is_slow(const struct session *s, uint64_t now_ns);

// Whether a session of the calling worker, of any fabric, has held no buffer and waited for one for
// about a second: then those that hold some must not keep them. Each fabric calls it every second.
bool sessions_starve(void);

// For fabric_ops.describe(): appends to `identity` or `negotiated`; beyond their sizes nothing.
// text: NULL for a number. is_fixed: the same in every session.
void session_identity(struct session_info *to, const char *name, const char *text, uint64_t number);
void session_negotiated(struct session_info *to, const char *name, const char *text,
			uint64_t number, bool is_fixed);
