// SPDX-License-Identifier: BSD-2-Clause
// The end of a connection, on the session's worker, and what follows: attempts to connect again
// until replacement_timeout, or the end of the session. RFC 7143 7.2, 7.5.
#include <errno.h>
#include <stdlib.h>

#include "initiator/iscsi/session_priv.h"

#define BACK_OFF_MAX 15 // limit of seconds between two attempts

// --- the connection ---

void login_forget(struct ini_session *s)
{
	if (!s->login)
		return;
	login_done(s->login);
	free(s->login);
	s->login = NULL;
}

void session_drop(struct ini_session *s, const struct err *why)
{
	timer_cancel(s->worker, &s->timer);
	timer_cancel(s->worker, &s->tick);
	stream_free(s->stream);
	s->stream = NULL;
	s->is_connect_due = false;
	login_forget(s);
	struct dmi *dm = s->dm;
	s->dm = NULL;
	if (dm) {
		s->old = dm; // until up->closed, which may come from inside close
		dm->ops->close(dm, why);
	}
	s->is_draining = false;
	s->tmf = NULL;
	ping_over(s, -ENOTCONN);
	scsi_session_lost(&s->scsi);
}

// --- the session ---

void session_tell_end(struct ini_session *s)
{
	s->is_end_due = s->old;
	if (!s->is_end_due && !s->is_freed)
		s->scsi.ops.closed(&s->scsi, &s->scsi.end_why);
}

void session_end(struct ini_session *s, const struct err *why)
{
	struct err e = *why;
	if (s->state == SESSION_CLOSED)
		return;
	s->state = SESSION_CLOSED;
	scsi_session_begin_end(&s->scsi, &e);
	if (!e.code && !s->scsi.is_settled) // what was sent may have an effect: not in order
		err_set(&e, -ESHUTDOWN, "session closed without a logout");
	session_drop(s, &e);
	scsi_session_fail(&s->scsi);
	session_tell_end(s);
}

void session_end_asked(struct ini_session *s)
{
	struct err none = { 0 };
	session_end(s, &none);
}

// --- another attempt ---

// Time2Wait before the first attempt, then longer each time.
static uint64_t back_off(struct ini_session *s)
{
	unsigned wait = s->attempt ? 1u << (s->attempt < 5 ? s->attempt - 1 : 4) : s->time2wait;
	s->attempt++;
	return wait < BACK_OFF_MAX ? wait : BACK_OFF_MAX;
}

// Rounded up, to avoid 0 seconds.
static unsigned seconds_left(const struct ini_session *s, uint64_t now)
{
	uint64_t end = s->down_ns + s->config.replacement_timeout * NS_PER_SEC;
	return (unsigned)((end - now + NS_PER_SEC - 1) / NS_PER_SEC);
}

static void try_again(struct ini_session *s, const struct err *why, bool is_final)
{
	uint64_t now = worker_now(s->worker);
	s->has_redirect = false;
	s->redirects = 0;
	bool is_first = s->scsi.was_up && !s->down_ns;
	if (is_first)
		s->down_ns = now;
	if (!s->scsi.was_up || is_final || !s->config.replacement_timeout ||
	    now - s->down_ns > s->config.replacement_timeout * NS_PER_SEC) {
		session_end(s, why);
		return;
	}
	s->state = SESSION_WAITING;
	bool is_asked = s->wants_relogin;
	s->wants_relogin = false;
	if (is_asked)
		s->time2wait = 0;
	timer_arm(s->worker, &s->timer, back_off(s) * US_PER_SEC);
	if (!is_asked)
		s->scsi.ops.retry(&s->scsi, why, seconds_left(s, now));
	if (is_first && s->state == SESSION_WAITING)
		s->scsi.ops.down(&s->scsi, why);
}

void session_lost(struct ini_session *s, const struct err *why, bool is_final)
{
	struct err e = *why; // may be part of the freed memory
	if (s->state == SESSION_CLOSED)
		return;
	s->state = SESSION_WAITING; // commands submitted by callbacks below must wait
	session_drop(s, &e);
	if (s->state != SESSION_CLOSED) // a command's done may have freed it
		try_again(s, &e, is_final);
}
