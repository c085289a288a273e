// SPDX-License-Identifier: BSD-2-Clause
// The end of a session's channels, on its worker, and what follows: attempts to connect again until
// replacement_timeout, or the end of the session. One lost channel ends them all: its commands are
// sent again only when the target cannot execute them any more, which a new login of the nexus
// ensures. T10 SRP 5.6, 5.7.
#include <errno.h>

#include "initiator/srp/session_priv.h"

static void drop(struct srps_session *s, const struct err *why, bool is_logout)
{
	timer_cancel(s->worker, &s->timer);
	timer_cancel(s->worker, &s->tick);
	struct err e = *why;
	is_logout &= !s->scsi.sent_count; // else commands are under way: not in order
	s->is_connect_due = false;
	s->is_dropping = s->live;
	if (!e.code && !is_logout)
		err_set(&e, -ESHUTDOWN, "session closed");
	for (unsigned i = 0; i < s->config.channels; i++)
		if (s->channels[i].ch)
			srpi_close(s->channels[i].ch, is_logout, &e);
	s->channel_count = 0;
	s->is_draining = false;
	s->tmf = NULL;
	s->is_tmf_due = false;
	s->aborting = NULL;
	scsi_session_lost(&s->scsi);
}

// --- the end ---

void srps_tell_end(struct srps_session *s)
{
	s->is_end_due = s->live;
	if (s->is_end_due)
		return;
	timer_cancel(s->worker, &s->timer);
	if (!s->is_freed)
		s->scsi.ops.closed(&s->scsi, &s->scsi.end_why);
}

void srps_end(struct srps_session *s, const struct err *why, bool is_logout)
{
	struct err e = *why;
	if (s->state == SRPS_CLOSED)
		return;
	s->state = SRPS_CLOSED;
	scsi_session_begin_end(&s->scsi, &e);
	drop(s, &e, is_logout);
	if (is_logout && s->live)
		timer_arm(s->worker, &s->timer, s->config.logout_timeout * US_PER_SEC);
	scsi_session_fail(&s->scsi);
	srps_tell_end(s);
}

// --- another attempt ---

static void try_again(struct srps_session *s, const struct err *why, bool is_final)
{
	unsigned left = scsi_session_time_left(&s->scsi, s->config.replacement_timeout);
	bool is_first = s->scsi.was_up && !s->is_down;
	s->is_down = s->scsi.was_up;
	if (!s->scsi.was_up || is_final || !left) {
		srps_end(s, why, false);
		return;
	}
	s->state = SRPS_WAITING;
	timer_arm(s->worker, &s->timer, scsi_session_back_off(&s->scsi, 0) * US_PER_SEC);
	s->scsi.ops.retry(&s->scsi, why, left);
	if (is_first && s->state == SRPS_WAITING)
		s->scsi.ops.down(&s->scsi, why);
}

void srps_lost(struct srps_session *s, const struct err *why, bool is_final)
{
	struct err e = *why; // may be part of the freed memory
	if (s->state == SRPS_CLOSED)
		return;
	s->state = SRPS_WAITING; // commands submitted by callbacks below must wait
	drop(s, &e, false);
	if (s->state != SRPS_CLOSED) // a command's done may have freed it
		try_again(s, &e, is_final);
}
