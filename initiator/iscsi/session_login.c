// SPDX-License-Identifier: BSD-2-Clause
// Login: from a connection to full feature phase, on the session's worker. The protocol is in
// transport/iscsi/login_initiator.c; here are its PDUs, its timer and its redirects. RFC 7143 6.3,
// 11.12, 11.13.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/wire/be.h"

static int login_open(struct ini_session *s, struct err *e)
{
	s->login = calloc(1, sizeof *s->login);
	if (!s->login)
		return err_set(e, -ENOMEM, "login: out of memory");
	s->config.login.itt = session_tag(s);
	s->config.login.cmd_sn = 1;
	s->config.login.tsih = 0;
	return login_initiator_init(s->login, &s->config.login, e);
}

static void give(struct ini_session *s, const struct login_reply *r)
{
	if (r->has_pdu)
		s->dm->ops->send(s->dm, r->bhs, r->text, r->text_len, true);
}

void login_begin(struct ini_session *s)
{
	struct login_reply reply;
	struct err e;
	s->state = SESSION_LOGIN;
	if (login_open(s, &e) < 0) {
		session_lost(s, &e, true);
		return;
	}
	timer_arm(s->worker, &s->timer, s->config.login_timeout * US_PER_SEC);
	login_initiator_start(s->login, &reply);
	give(s, &reply);
	s->dm->ops->flush(s->dm);
}

static void full_feature(struct ini_session *s)
{
	const struct login_session *granted = login_session(s->login);
	struct dmi *dm = s->dm;
	s->info.params = *login_params(s->login);
	s->info.tsih = granted->tsih;
	s->info.tpgt = login_tpgt(s->login);
	snprintf(s->info.target_alias, sizeof s->info.target_alias, "%s",
		 login_target_alias(s->login));
	memcpy(s->info.peer, dm->peer, sizeof s->info.peer);
	memcpy(s->info.local, dm->local, sizeof s->info.local);
	snprintf(s->info.transport, sizeof s->info.transport, "%s", dm->transport);
	s->info.redirects = s->redirects;
	dm->sns = (struct dmi_sns){ .cmd_sn = s->config.login.cmd_sn,
				    .exp_cmd_sn = granted->exp_cmd_sn,
				    .max_cmd_sn = granted->max_cmd_sn,
				    .exp_stat_sn = login_stat_sn(s->login) };
	dm->ops->full_feature(dm, &s->info.params);
	login_forget(s);
	timer_cancel(s->worker, &s->timer);
	struct err e;
	if (command_open(s, &e) < 0)
		session_lost(s, &e, true);
	else
		session_enter_up(s);
}

// A retry can succeed after a lack of resources or a temporarily unavailable target, but not after
// a wrong name or secret [RFC 7143 11.13.5].
static bool is_final(uint16_t status)
{
	return ISCSI_LOGIN_CLASS(status) != ISCSI_LOGIN_CLASS_TARGET &&
	       status != ISCSI_LOGIN_TOO_MANY_CONNECTIONS;
}

enum { CURE_SIZE = 160 };

static void cure(const struct ini_session *s, uint16_t status, char ret[CURE_SIZE])
{
	const struct login_config *c = &s->config.login;
	*ret = 0;
	switch (status) {
	case ISCSI_LOGIN_AUTH_FAILED:
		snprintf(ret, CURE_SIZE, "%s",
			 c->initiator.user[0]
				 ? " (check the CHAP user and secret: --chap-user, "
				   "--chap-secret-file)"
				 : " (the target demands CHAP; no user was given: --chap-user, "
				   "--chap-secret-file)");
		break;
	case ISCSI_LOGIN_FORBIDDEN:
		snprintf(ret, CURE_SIZE, " (the target has no ACL of %.100s: --initiator-name)",
			 c->initiator_name);
		break;
	case ISCSI_LOGIN_NOT_FOUND:
		snprintf(ret, CURE_SIZE, " (check the target name with discover)");
		break;
	}
}

// As scsi_session_ops.closed tells them apart.
static int code_of(const struct login_reply *r)
{
	if (r->err.code == -EACCES) // CHAP, found here
		return -EKEYREJECTED;
	if (r->err.code != -ECONNREFUSED)
		return r->err.code;
	if (r->status == ISCSI_LOGIN_AUTH_FAILED || r->status == ISCSI_LOGIN_FORBIDDEN)
		return -EKEYREJECTED;
	return is_final(r->status) ? -ENXIO : -ECONNABORTED;
}

static void failed(struct ini_session *s, const struct login_reply *r)
{
	struct err e;
	char text[CURE_SIZE];
	cure(s, r->status, text);
	err_set(&e, code_of(r), "%s: %s%s", s->dm->peer, r->err.text, text);
	session_lost(s, &e, is_final(r->status));
}

bool login_control(struct ini_session *s, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	struct login_reply reply;
	switch (login_initiator_step(s->login, bhs, data, len, &reply)) {
	case LOGIN_CONTINUE:
		give(s, &reply);
		break;
	case LOGIN_FULL_FEATURE:
		full_feature(s);
		break;
	case LOGIN_REDIRECT:
		return true;
	default:
		failed(s, &reply);
		break;
	}
	return false;
}
