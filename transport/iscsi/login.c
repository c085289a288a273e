// SPDX-License-Identifier: BSD-2-Clause
// Common code of both login roles: joining texts, flags, results.
#include "transport/iscsi/login.h"

#include <errno.h>
#include <string.h>

#include "transport/iscsi/login_impl.h"
#include "transport/wire/be.h"

void login_reset(struct login *l)
{
	memset(l, 0, offsetof(struct login, in));
	iscsi_params_init(&l->params);
	iscsi_offer_init(&l->terms.offer);
	l->terms.chap_algs = CHAP_ALGS_ALL;
	text_out_init(&l->out, l->out_buf, sizeof l->out_buf);
}

int login_join(struct login *l, const void *text, size_t len, bool has_more, const char **ret_text,
	       size_t *ret_len, struct err *e)
{
	if (!has_more && !l->in_len) {
		*ret_text = text;
		*ret_len = len;
		return 0;
	}
	if (len > sizeof l->in - l->in_len)
		return err_set(e, -EPROTO, "login: text longer than %d bytes", LOGIN_TEXT_MAX);
	if (len)
		memcpy(l->in + l->in_len, text, len);
	l->in_len += (uint32_t)len;
	*ret_text = l->in;
	*ret_len = l->in_len;
	if (!has_more)
		l->in_len = 0;
	return 0;
}

uint8_t login_flags(const struct login *l, bool is_transit)
{
	unsigned flags = (unsigned)l->stage << ISCSI_LOGIN_CSG_SHIFT;
	return (uint8_t)(is_transit ? flags | ISCSI_LOGIN_T | l->next_stage : flags);
}

void login_give_text(struct login *l, struct login_reply *ret)
{
	ret->text = l->out_buf;
	ret->text_len = (uint32_t)l->out.len;
	put_be24(ret->bhs + offsetof(struct iscsi_bhs, data_len), ret->text_len);
	text_out_init(&l->out, l->out_buf, sizeof l->out_buf);
}

bool login_is_in_stage(const struct login *l, unsigned id)
{
	return iscsi_keys[id].in &
	       (l->stage == ISCSI_STAGE_SECURITY ? ISCSI_IN_SECURITY : ISCSI_IN_OPERATIONAL);
}

void login_close(struct login *l)
{
	chap_wipe(&l->terms.initiator, sizeof l->terms.initiator);
	chap_wipe(&l->terms.target, sizeof l->terms.target);
	chap_wipe(&l->challenge, sizeof l->challenge);
	chap_wipe(&l->peer_challenge, sizeof l->peer_challenge);
	l->is_over = true;
}

void login_done(struct login *l)
{
	login_close(l);
}

const struct iscsi_params *login_params(const struct login *l)
{
	return &l->params;
}

const struct login_names *login_names(const struct login *l)
{
	return &l->names;
}

const struct login_session *login_session(const struct login *l)
{
	return &l->session;
}

const struct login_proof *login_proof(const struct login *l)
{
	return &l->proof;
}

uint32_t login_stat_sn(const struct login *l)
{
	return l->stat_sn;
}

const char *login_target_alias(const struct login *l)
{
	return l->target_alias;
}

int login_tpgt(const struct login *l)
{
	return l->has_tpgt ? l->tpgt : -1;
}

const char *login_redirect(const struct login *l)
{
	return l->redirect;
}

const char *login_status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {
		{ISCSI_LOGIN_OK,			  "success"		    },
		{ ISCSI_LOGIN_MOVED_TEMPORARILY,	 "target moved temporarily"  },
		{ ISCSI_LOGIN_MOVED_PERMANENTLY,	 "target moved permanently"  },
		{ ISCSI_LOGIN_INITIATOR_ERROR,      "initiator error"		 },
		{ ISCSI_LOGIN_AUTH_FAILED,	   "authentication failure"    },
		{ ISCSI_LOGIN_FORBIDDEN,		 "initiator not allowed"	 },
		{ ISCSI_LOGIN_NOT_FOUND,		 "target not found"	    },
		{ ISCSI_LOGIN_TARGET_REMOVED,	      "target removed"	       },
		{ ISCSI_LOGIN_VERSION,	       "unsupported version"	     },
		{ ISCSI_LOGIN_TOO_MANY_CONNECTIONS, "too many connections"	   },
		{ ISCSI_LOGIN_MISSING_PARAMETER,	 "missing parameter"	     },
		{ ISCSI_LOGIN_CANNOT_INCLUDE,	      "cannot include in session" },
		{ ISCSI_LOGIN_SESSION_TYPE,	    "session type not supported"},
		{ ISCSI_LOGIN_NO_SESSION,		  "session does not exist"	   },
		{ ISCSI_LOGIN_INVALID_REQUEST,      "invalid during login"      },
		{ ISCSI_LOGIN_TARGET_ERROR,	    "target error"		   },
		{ ISCSI_LOGIN_UNAVAILABLE,	   "service unavailable"	 },
		{ ISCSI_LOGIN_OUT_OF_RESOURCES,	"out of resources"	   },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].status == status)
			return rows[i].text;
	return "unknown status";
}
