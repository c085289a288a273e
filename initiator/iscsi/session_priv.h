// SPDX-License-Identifier: BSD-2-Clause
// Private to initiator/: the session and functions shared by its files. On the session's worker.
#pragma once

#include "core/offload.h"
#include "initiator/iscsi/initiator.h"
#include "initiator/scsi_protocol.h"
#include "transport/tcp/stream.h"

enum session_state {
	SESSION_CONNECTING, // for the connection
	SESSION_LOGIN,	    // for a Login Response
	SESSION_UP,
	SESSION_LOGOUT,	   // for the Logout Response
	SESSION_RESOLVING, // for the address of a redirect
	SESSION_WAITING,   // for the time of the next attempt
	SESSION_CLOSED,
};

#define NS_PER_SEC 1000000000ull
#define US_PER_SEC 1000000ull

// A command that the mover has; the mover's room is behind it.
struct ini_task {
	struct ini_task *next_free;
	struct scsi_cmd *cmd;
	struct dmi_task dm;
};

struct ini_session {
	struct scsi_session scsi;
	struct worker *worker;
	struct ini_config config;
	// Text Responses of a discovery session; NULL: not supported.
	int (*text)(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		    const uint8_t *data, struct err *e);
	enum session_state state;
	bool is_freed, wants_relogin;
	struct timer timer; // of the state
	struct timer tick;  // every second while up
	struct msg free_msg;

	struct stream *stream; // while connecting over TCP
	struct login *login;   // while logging in
	struct dmi *dm;	       // from the connection to its close
	struct dmi *old;       // a closing one, until it is closed; no other at the same time
	bool is_connect_due, is_end_due; // ... actions that wait for that
	struct ini_session_info info;

	// connect and redirect
	unsigned portal_at;   // the current portal
	unsigned provider_at; // ... and its transport
	struct err connect_why;
	unsigned redirects;
	bool has_redirect, is_resolving, is_free_due;
	struct tcp_addr redirect;
	char redirect_text[ISCSI_HOST_MAX + 16];
	int resolve_result;
	struct err resolve_err;
	struct offload resolve;

	// reconnect
	bool is_down; // it was up
	unsigned time2wait;

	// commands
	uint8_t *tasks; // of the connection: tasks_max of task_size bytes
	size_t task_size;
	unsigned tasks_max, tasks_used; // ... that were ever in use
	struct ini_task *free_task;
	bool is_draining; // the target requested a logout: nothing new is sent

	// task management, ping, logout
	struct scsi_tmf *tmf; // on the wire; NULL: none
	uint32_t tmf_tag, tmf_cmd_sn;
	uint64_t tmf_deadline_ns;
	struct ini_ping *ping;
	uint32_t ping_tag;
	uint64_t ping_ns; // when it was sent
	uint32_t logout_tag;
	uint32_t tag_counter;
};

static inline struct ini_session *ini_of(const struct scsi_session *s)
{
	return container_of((struct scsi_session *)s, struct ini_session, scsi);
}

// The mover's part of a command in flight; NULL: it is not.
static inline struct dmi_task *task_of(const struct scsi_cmd *c)
{
	return c->sent ? &((struct ini_task *)c->sent)->dm : NULL;
}

// A new ITT of the role.
static inline uint32_t session_tag(struct ini_session *s)
{
	s->tag_counter = (s->tag_counter + 1) & (DMI_ROLE_TAG - 1);
	return DMI_ROLE_TAG | s->tag_counter;
}

// session_lost.c
// The connection or the attempt failed: starts the next attempt later, or ends the session.
void session_lost(struct ini_session *s, const struct err *why, bool is_final);
// Closes the connection, if any, and drops its state.
void session_drop(struct ini_session *s, const struct err *why);
void session_end(struct ini_session *s, const struct err *why);
void session_end_asked(struct ini_session *s); // ... by the caller, or after a logout
// Reports the end. Commands that an old mover still refers to end when it has closed: then again.
void session_tell_end(struct ini_session *s);
void login_forget(struct ini_session *s);

// session_connect.c
// Starts to connect to the current portal, as soon as an old connection is closed.
void session_connect(struct ini_session *s);
extern const struct dmi_up session_dmi_up;

// session_login.c
void login_begin(struct ini_session *s); // s->dm is connected
// Takes a Login Response. True: the target redirects, see login_redirect().
bool login_control(struct ini_session *s, const uint8_t *bhs, const uint8_t *data, uint32_t len);

// session_ffp.c
void session_enter_up(struct ini_session *s); // logged in
int ffp_control(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		const uint8_t *data, struct err *e);

// command.c
int command_open(struct ini_session *s, struct err *e); // the connection is in full feature phase
void command_close(struct ini_session *s);		// ... is closed
void command_done(struct dmi *dm, struct dmi_task *t, int res);
unsigned command_room(struct scsi_session *scsi);
void command_send(struct scsi_session *scsi, struct scsi_cmd *c);
bool command_rejected(struct ini_session *s, uint32_t itt);

// describe.c
void ini_describe(const struct scsi_session *scsi, scsi_say *say, void *arg);

// ping.c
void ping_send(struct ini_session *s);
void ping_over(struct ini_session *s, int res); // nothing is awaited any more

// tmf.c
int tmf_send(struct scsi_session *scsi, struct scsi_tmf *t);
void tmf_response(struct ini_session *s, const uint8_t *bhs);
void tmf_rejected(struct ini_session *s, uint32_t itt);
// True if the target has not answered a request in time; the request ends with -ETIMEDOUT.
bool tmf_is_overdue(struct ini_session *s, uint64_t now);
