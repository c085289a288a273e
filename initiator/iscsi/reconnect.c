// SPDX-License-Identifier: BSD-2-Clause
// Reconnecting, on the session's worker: attempts after a lost connection until
// replacement_timeout; redirection to another portal. RFC 7143 7.2, 7.5, 11.13.5.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"

#define BACK_OFF_MAX  15 // limit of seconds between two attempts
#define REDIRECTS_MAX 8

// Time2Wait before the first attempt, then longer each time.
static uint64_t back_off(struct ini_session *s)
{
	unsigned wait = s->attempt ? 1u << (s->attempt < 4 ? s->attempt - 1 : 4) : s->time2wait;
	s->attempt++;
	return wait < BACK_OFF_MAX ? wait : BACK_OFF_MAX;
}

// Rounded up, to avoid 0 seconds.
static unsigned seconds_left(const struct ini_session *s, uint64_t now)
{
	uint64_t end = s->down_ns + s->config.replacement_timeout * NS_PER_SEC;
	return (unsigned)((end - now + NS_PER_SEC - 1) / NS_PER_SEC);
}

void reconnect_begin(struct ini_session *s, const struct err *why, bool is_final)
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

// --- redirect ---

static void resolve_work(struct offload *o)
{
	struct ini_session *s = container_of(o, struct ini_session, resolve);
	s->resolve_result =
		tcp_addr_resolve(&s->redirect, 1, s->redirect_text, ISCSI_PORT, &s->resolve_err);
}

static void resolve_done(struct offload *o)
{
	struct ini_session *s = container_of(o, struct ini_session, resolve);
	s->is_resolving = false;
	if (s->is_free_due)
		worker_post(s->worker, &s->free_msg);
	if (s->state != SESSION_RESOLVING)
		return;
	if (s->resolve_result < 1) {
		err_prefix(&s->resolve_err, "redirect");
		session_lost(s, &s->resolve_err, false);
		return;
	}
	s->has_redirect = true;
	session_connect(s);
}

void reconnect_resolve(struct ini_session *s, const char *address)
{
	struct err e;
	if (++s->redirects > REDIRECTS_MAX || s->is_resolving) {
		err_set(&e, -ELOOP, "login: redirected more than %d times, last to %.80s",
			REDIRECTS_MAX, address);
		session_lost(s, &e, false);
		return;
	}
	snprintf(s->redirect_text, sizeof s->redirect_text, "%s", address);
	s->state = SESSION_RESOLVING;
	s->is_resolving = true;
	s->resolve.work = resolve_work;
	s->resolve.done = resolve_done;
	offload_submit(&s->resolve);
}
