// SPDX-License-Identifier: BSD-2-Clause
// A session's and a channel's close, and what keeps their memory.
#include "target/srp/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void channel_check_end(struct session_channel *c)
{
	if (!c->is_closed || c->cmd_count || c->holds || c->is_free_posted)
		return;
	c->is_free_posted = true;
	worker_post(c->session->session.worker, &c->free_msg);
}

static void close_for(struct session_channel *c, bool is_graceful, enum srp_logout_reason reason,
		      const char *why)
{
	struct err e;
	err_set(&e, -ESHUTDOWN, "%s", why);
	if (!c->is_closed)
		srp_channel_close(c->ch, is_graceful, reason, &e);
}

void channel_close(struct session_channel *c, bool is_graceful, enum srp_logout_reason reason,
		   const char *fmt, ...)
{
	char why[sizeof c->session->why];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	close_for(c, is_graceful, reason, why);
}

void srp_session_close(struct srp_session *s, bool is_graceful, enum srp_logout_reason reason,
		       const char *fmt, ...)
{
	va_list ap;
	if (!s->is_closing) {
		va_start(ap, fmt);
		vsnprintf(s->why, sizeof s->why, fmt, ap);
		va_end(ap);
	}
	s->is_closing = true;
	list_for_each (it, &s->channels)
		close_for(channel_of(it), is_graceful, reason, s->why);
}

void srp_session_hold(struct srp_session *s)
{
	__atomic_add_fetch(&s->holds, 1, __ATOMIC_RELAXED);
}

void srp_session_release(struct srp_session *s)
{
	if (!__atomic_sub_fetch(&s->holds, 1, __ATOMIC_ACQ_REL))
		srp_session_check_end(s);
}

void srp_session_check_end(struct srp_session *s)
{
	if (s->session.state != SESSION_ENDING || !list_empty(&s->channels) || s->is_free_posted ||
	    __atomic_load_n(&s->holds, __ATOMIC_ACQUIRE))
		return;
	s->is_free_posted = true;
	worker_post(s->session.worker, &s->free_msg);
}
