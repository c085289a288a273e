// SPDX-License-Identifier: BSD-2-Clause
// Connecting a session, on its worker: to its portals one after the other, over TCP, or over the
// first provider of RDMA that reaches the portal; redirects; what the mover of the connection
// calls. RFC 7143 4.2.1, 11.13.5, RFC 7145 5.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/iscsi/dmi_tcp.h"
#include "transport/iser/dmi_iser.h"

#define REDIRECTS_MAX 8

static const struct tcp_addr *portal(const struct ini_session *s)
{
	return s->has_redirect ? &s->redirect : &s->config.portals[s->portal_at];
}

// --- failing ---

static const struct {
	int code;
	const char *text;
} causes[] = {
	{-ETIMEDOUT,     "connect: timed out (check the address and firewalls)"},
	{ -ECONNREFUSED, "connect: refused (check that a target listens there)"},
};

static void explain(struct err *e, int reason)
{
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (causes[i].code == reason) {
			err_set(e, reason, "%s", causes[i].text);
			return;
		}
	err_errno(e, reason, "connect");
}

// The next provider may reach the portal. The error of a provider with a device is the more useful
// one.
static bool try_next_provider(struct ini_session *s, const struct err *why)
{
	if (!s->connect_why.code || s->connect_why.code == -ENODEV)
		s->connect_why = *why;
	if (s->provider_at + 1 >= s->config.provider_count)
		return false;
	s->provider_at++;
	session_connect(s);
	return true;
}

static void failed(struct ini_session *s, const struct err *why)
{
	char text[TCP_ADDR_TEXT];
	if (s->config.provider_count && try_next_provider(s, why))
		return;
	struct err e = s->config.provider_count ? s->connect_why : *why;
	s->connect_why = (struct err){ 0 };
	s->provider_at = 0;
	err_prefix(&e, "%s", tcp_addr_format(portal(s), text));
	s->has_redirect = false;
	// Tries the next portal of the list; after the last one the attempt has failed.
	s->portal_at = (s->portal_at + 1) % s->config.portal_count;
	if (s->portal_at)
		session_connect(s);
	else
		session_lost(s, &e, false);
}

// --- TCP ---

static void on_connected(struct stream *stream)
{
	struct ini_session *s = stream_arg(stream);
	struct err e;
	int fd = stream_detach_fd(stream);
	stream_free(stream);
	s->stream = NULL;
	if (dmi_tcp_new(&s->dm, s->worker, fd, &session_dmi_up, s, &e) < 0)
		session_lost(s, &e, true);
	else
		login_begin(s);
}

static void on_connect_closed(struct stream *stream, int reason)
{
	struct ini_session *s = stream_arg(stream);
	struct err e;
	stream_free(stream);
	s->stream = NULL;
	explain(&e, reason);
	failed(s, &e);
}

static const struct stream_ops connect_ops = {
	.connected = on_connected,
	.closed = on_connect_closed,
};

static int connect_tcp(struct ini_session *s, uint64_t timeout_usec, struct err *e)
{
	return stream_connect(&s->stream, s->worker, portal(s), NULL, timeout_usec, &connect_ops, s,
			      e);
}

// --- RDMA ---

static void on_iser_connected(struct dmi *dm)
{
	struct ini_session *s = dm->role;
	if (s->dm != dm)
		return;
	s->provider_at = 0;
	s->connect_why = (struct err){ 0 };
	login_begin(s);
}

static int connect_rdma(struct ini_session *s, uint64_t timeout_usec, struct err *e)
{
	const struct dmi_iser_options o = {
		.provider = s->config.providers[s->provider_at],
		.peer = *portal(s),
		.timeout_usec = timeout_usec,
		.connected = on_iser_connected,
	};
	return dmi_iser_connect(&s->dm, s->worker, &o, &session_dmi_up, s, e);
}

void session_connect(struct ini_session *s)
{
	uint64_t timeout_usec = s->config.connect_timeout * US_PER_SEC;
	struct err e;
	s->state = SESSION_CONNECTING;
	s->is_connect_due = s->old;
	if (s->old) // its commands come first
		return;
	if (!s->config.provider_count) {
		if (connect_tcp(s, timeout_usec, &e) < 0)
			session_lost(s, &e, false);
	} else if (connect_rdma(s, timeout_usec, &e) < 0) {
		failed(s, &e);
	}
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

static void resolve(struct ini_session *s, const char *address)
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

static void redirected(struct ini_session *s)
{
	char address[sizeof s->redirect_text];
	struct err none;
	struct iscsi_address a;
	struct err e = { 0 };
	if (iscsi_address_parse(login_redirect(s->login), &a, &e) < 0) {
		err_prefix(&e, "login: redirect"); // ensured by the login
		session_lost(s, &e, true);
		return;
	}
	a.has_tpgt = false;
	if (iscsi_address_format(&a, address, sizeof address) < 0) {
		err_set(&e, -EPROTO, "login: redirect address too long");
		session_lost(s, &e, true);
		return;
	}
	err_set(&none, -ECONNABORTED, "redirected");
	session_drop(s, &none);
	if (s->state != SESSION_CLOSED)
		resolve(s, address);
}

// --- called by the mover ---

static int up_login(struct ini_session *s, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (login_control(s, bhs, data, len))
		redirected(s);
	return 0;
}

static int up_control(struct dmi *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	struct ini_session *s = dm->role;
	if (s->dm != dm)
		return 0;
	if (s->state == SESSION_LOGIN)
		return up_login(s, bhs, data, pdu->data_len);
	return ffp_control(s, pdu, bhs, data, e);
}

static void up_window(struct dmi *dm)
{
	struct ini_session *s = dm->role;
	if (s->dm == dm)
		scsi_session_pump(&s->scsi);
}

// Actions that waited for the end of an old connection.
static void old_gone(struct ini_session *s)
{
	s->old = NULL;
	if (s->is_connect_due)
		session_connect(s);
	else if (s->is_end_due)
		session_tell_end(s);
	if (s->is_free_due)
		worker_post(s->worker, &s->free_msg);
}

static void up_closed(struct dmi *dm, const struct err *why)
{
	struct ini_session *s = dm->role;
	bool is_ours = s->dm == dm;
	struct err e = *why;
	if (is_ours)
		s->dm = NULL;
	err_prefix(&e, "%s", dm->peer);
	dm->ops->free(dm);
	command_close(s);
	if (!is_ours)
		old_gone(s);
	else if (s->state == SESSION_CONNECTING)
		failed(s, why);
	else if (s->state == SESSION_LOGOUT && !s->wants_relogin)
		session_end_asked(s);
	else
		session_lost(s, &e, false);
}

const struct dmi_up session_dmi_up = {
	.done = command_done,
	.control = up_control,
	.window = up_window,
	.closed = up_closed,
};
