// SPDX-License-Identifier: BSD-2-Clause
// The security stage of both roles: AuthMethod and the CHAP exchange [RFC 7143 §12.1].
#include "transport/iscsi/login_auth.h"

#include <errno.h>
#include <string.h>

#include "transport/iscsi/login_impl.h"

static bool has_chap_key(const struct iscsi_key_set *set)
{
	return set->value[ISCSI_KEY_CHAP_A] || set->value[ISCSI_KEY_CHAP_I] ||
	       set->value[ISCSI_KEY_CHAP_C] || set->value[ISCSI_KEY_CHAP_N] ||
	       set->value[ISCSI_KEY_CHAP_R];
}

static int fail(struct err *e, int status, const char *text)
{
	err_set(e, -EACCES, "%s", text);
	return status;
}

static bool is_item(const char *item, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(item, name, len);
}

// ---- target: each returns 0 or a login status ----

static int target_method(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	const struct login_terms *t = &l->terms;
	const char *item, *at = set->value[ISCSI_KEY_AUTH_METHOD];
	size_t len;
	if (has_chap_key(set))
		return fail(e, ISCSI_LOGIN_INITIATOR_ERROR,
			    "CHAP keys before AuthMethod is negotiated");
	while (text_list_next(&at, &item, &len)) {
		if (is_item(item, len, "None") && !t->is_auth_required) {
			l->auth = LOGIN_AUTH_DONE;
			text_append(&l->out, "AuthMethod", "None");
			return 0;
		}
		if (is_item(item, len, "CHAP") && t->initiator.user[0]) {
			l->auth = LOGIN_AUTH_METHOD;
			text_append(&l->out, "AuthMethod", "CHAP");
			return 0;
		}
	}
	err_set(e, -EACCES, "AuthMethod: initiator offers %.64s, but %s",
		set->value[ISCSI_KEY_AUTH_METHOD],
		!t->is_auth_required
			? "no CHAP user is configured (set one, or let the initiator offer None)"
		: t->initiator.user[0] ? "CHAP is required"
				       : "CHAP is required and no CHAP user is configured");
	return ISCSI_LOGIN_AUTH_FAILED;
}

// CHAP_A: choose an algorithm, send our challenge.
static int target_algorithm(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	const char *list = set->value[ISCSI_KEY_CHAP_A];
	if (!list)
		return fail(e, ISCSI_LOGIN_AUTH_FAILED, "CHAP_A: missing");
	int alg = chap_alg_choose(list, l->terms.chap_algs);
	if (alg < 0) {
		err_set(e, -EACCES, "CHAP_A: no allowed algorithm in %.64s", list);
		return ISCSI_LOGIN_AUTH_FAILED;
	}
	l->alg = (unsigned)alg;
	if (chap_challenge_new(l->alg, &l->challenge))
		return fail(e, ISCSI_LOGIN_TARGET_ERROR, "CHAP: cannot get random numbers");
	text_append_number(&l->out, "CHAP_A", l->alg);
	chap_challenge_append(&l->challenge, &l->out);
	l->auth = LOGIN_AUTH_CHALLENGE;
	return 0;
}

// The initiator's challenge, if it sends one.
static int target_mutual(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	const char *chap_i = set->value[ISCSI_KEY_CHAP_I], *chap_c = set->value[ISCSI_KEY_CHAP_C];
	if (!chap_i && !chap_c)
		return 0;
	if (!chap_i || !chap_c)
		return fail(e, ISCSI_LOGIN_INITIATOR_ERROR,
			    "CHAP_I and CHAP_C: must come together");
	if (chap_challenge_parse(chap_i, chap_c, &l->peer_challenge, e))
		return ISCSI_LOGIN_AUTH_FAILED;
	if (chap_challenge_same(&l->challenge, &l->peer_challenge))
		return fail(e, ISCSI_LOGIN_AUTH_FAILED,
			    "CHAP_C: same as our own challenge (reflection attack)");
	if (!l->terms.target.user[0])
		return fail(e, ISCSI_LOGIN_AUTH_FAILED,
			    "CHAP: initiator requests mutual authentication, but no mutual user is "
			    "configured");
	if (chap_answer_append(l->alg, &l->peer_challenge, &l->terms.target, &l->out))
		return fail(e, ISCSI_LOGIN_TARGET_ERROR, "CHAP: cannot compute the response");
	l->proof.is_mutual = true;
	return 0;
}

static int target_response(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	const char *chap_n = set->value[ISCSI_KEY_CHAP_N], *chap_r = set->value[ISCSI_KEY_CHAP_R];
	if (!chap_n || !chap_r)
		return fail(e, ISCSI_LOGIN_AUTH_FAILED, "CHAP_N or CHAP_R: missing");
	if (chap_answer_check(l->alg, &l->challenge, &l->terms.initiator, &l->terms.target, chap_n,
			      chap_r, e))
		return ISCSI_LOGIN_AUTH_FAILED;
	int status = target_mutual(l, set, e);
	if (status)
		return status;
	l->auth = LOGIN_AUTH_DONE;
	l->proof.alg = l->alg;
	return 0;
}

int login_target_auth(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	if (set->value[ISCSI_KEY_AUTH_METHOD]) {
		if (l->auth != LOGIN_AUTH_START)
			return fail(e, ISCSI_LOGIN_INITIATOR_ERROR, "AuthMethod: sent twice");
		return target_method(l, set, e);
	}
	switch (l->auth) {
	case LOGIN_AUTH_METHOD:
		return target_algorithm(l, set, e);
	case LOGIN_AUTH_CHALLENGE:
		return target_response(l, set, e);
	default:
		break;
	}
	if (has_chap_key(set))
		return fail(e, ISCSI_LOGIN_INITIATOR_ERROR, "CHAP keys outside a CHAP exchange");
	if (l->auth == LOGIN_AUTH_START && l->wants_transit) {
		if (l->terms.is_auth_required)
			return fail(
				e, ISCSI_LOGIN_AUTH_FAILED,
				"AuthMethod: CHAP is required, but the initiator offers no method");
		l->auth = LOGIN_AUTH_DONE;
	}
	return 0;
}

// ---- initiator: each returns 0 or -EPROTO, -EACCES ----

bool login_initiator_is_mutual(const struct login *l)
{
	return l->terms.target.user[0];
}

static int initiator_method(struct login *l, const struct iscsi_key_set *set, bool is_transit,
			    struct err *e)
{
	const char *method = set->value[ISCSI_KEY_AUTH_METHOD];
	if (has_chap_key(set))
		return err_set(e, -EPROTO, "CHAP keys before AuthMethod is negotiated");
	if (!method && !is_transit)
		return err_set(e, -EPROTO, "AuthMethod: no answer from the target");
	if (!method || !strcmp(method, "None")) {
		if (login_initiator_is_mutual(l))
			return err_set(e, -EACCES,
				       "AuthMethod: the target refuses to authenticate itself");
		l->auth = LOGIN_AUTH_DONE;
		return 0;
	}
	if (strcmp(method, "CHAP"))
		return err_set(e, -EPROTO, "AuthMethod: target chose %.64s, which was not offered",
			       method);
	char list[16];
	chap_alg_list(l->terms.chap_algs, list);
	text_append(&l->out, "CHAP_A", list);
	l->auth = LOGIN_AUTH_CHALLENGE;
	return 0;
}

static int initiator_answer(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	const char *chap_a = set->value[ISCSI_KEY_CHAP_A], *chap_i = set->value[ISCSI_KEY_CHAP_I],
		   *chap_c = set->value[ISCSI_KEY_CHAP_C];
	if (!chap_a || !chap_i || !chap_c)
		return err_set(e, -EPROTO, "CHAP_A, CHAP_I or CHAP_C: missing");
	int alg = strchr(chap_a, ',') ? -EPROTO : chap_alg_choose(chap_a, l->terms.chap_algs);
	if (alg < 0)
		return err_set(e, -EPROTO, "CHAP_A: target chose %.64s, which was not offered",
			       chap_a);
	l->alg = (unsigned)alg;
	int rc = chap_challenge_parse(chap_i, chap_c, &l->peer_challenge, e);
	if (rc)
		return rc;
	if (chap_answer_append(l->alg, &l->peer_challenge, &l->terms.initiator, &l->out))
		return err_set(e, -EOPNOTSUPP, "CHAP: libcrypto does not support algorithm %u",
			       l->alg);
	if (login_initiator_is_mutual(l)) {
		if (chap_challenge_new(l->alg, &l->challenge))
			return err_set(e, -EIO, "CHAP: cannot get random numbers");
		chap_challenge_append(&l->challenge, &l->out);
	}
	l->auth = LOGIN_AUTH_RESPONSE;
	return 0;
}

static int initiator_verify(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	const char *chap_n = set->value[ISCSI_KEY_CHAP_N], *chap_r = set->value[ISCSI_KEY_CHAP_R];
	if (login_initiator_is_mutual(l)) {
		if (!chap_n || !chap_r)
			return err_set(e, -EACCES,
				       "CHAP: the target did not authenticate itself (mutual)");
		int rc = chap_answer_check(l->alg, &l->challenge, &l->terms.target,
					   &l->terms.initiator, chap_n, chap_r, e);
		if (rc)
			return rc;
	} else if (has_chap_key(set)) {
		return err_set(e, -EPROTO, "unexpected CHAP keys");
	}
	l->auth = LOGIN_AUTH_DONE;
	return 0;
}

int login_initiator_auth(struct login *l, const struct iscsi_key_set *set, bool is_transit,
			 struct err *e)
{
	if (set->value[ISCSI_KEY_AUTH_METHOD] && l->auth != LOGIN_AUTH_START)
		return err_set(e, -EPROTO, "AuthMethod: answered twice");
	switch (l->auth) {
	case LOGIN_AUTH_START:
		return initiator_method(l, set, is_transit, e);
	case LOGIN_AUTH_CHALLENGE:
		return initiator_answer(l, set, e);
	case LOGIN_AUTH_RESPONSE:
		return initiator_verify(l, set, e);
	default:
		return has_chap_key(set) ? err_set(e, -EPROTO, "unexpected CHAP keys") : 0;
	}
}
