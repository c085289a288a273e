// SPDX-License-Identifier: BSD-2-Clause
// The end of a connection, on the session's worker, and what follows: attempts to connect again
// until replacement_timeout, or the end of the session. RFC 7143 7.2, 7.5.
#include <errno.h>
#include <stdlib.h>

#include "initiator/iscsi/session_priv.h"

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

static void try_again(struct ini_session *s, const struct err *why, bool is_final)
{
	unsigned left = scsi_session_time_left(&s->scsi, s->config.replacement_timeout);
	s->has_redirect = false;
	s->redirects = 0;
	bool is_first = s->scsi.was_up && !s->is_down;
	s->is_down = s->scsi.was_up;
	if (!s->scsi.was_up || is_final || !left) {
		session_end(s, why);
		return;
	}
	s->state = SESSION_WAITING;
	bool is_asked = s->wants_relogin;
	s->wants_relogin = false;
	unsigned wait = is_first && !is_asked ? s->time2wait : 0;
	timer_arm(s->worker, &s->timer, scsi_session_back_off(&s->scsi, wait) * US_PER_SEC);
	if (!is_asked)
		s->scsi.ops.retry(&s->scsi, why, left);
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
