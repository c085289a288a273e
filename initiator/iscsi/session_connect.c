// SPDX-License-Identifier: BSD-2-Clause
// Connecting a session, on its worker: to its portals one after the other, over TCP, or over the
// first provider of RDMA that reaches the portal. RFC 7143 4.2.1, RFC 7145 5.
#include <errno.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/iscsi/dmi_tcp.h"
#include "transport/iser/dmi_iser.h"

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

void connect_failed(struct ini_session *s, const struct err *why)
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
	connect_failed(s, &e);
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
		connect_failed(s, &e);
	}
}
