// SPDX-License-Identifier: BSD-2-Clause
// The target's side of the login [RFC 7143 §6.3]. Every step* function returns 0 to continue or
// the login status of a refusal; the reason is in the err.
//
// Behaviour of initiators: iscsid refuses keys it did not offer, except TargetPortalGroupTag,
// TargetAlias and MaxRecvDataSegmentLength; libiscsi sends everything in one text and sends it
// again if T is not granted; iPXE never answers a proposal. So the target proposes nothing, answers
// every offer, and grants T whenever possible.
#include <errno.h>
#include <string.h>

#include "transport/iscsi/login_auth.h"
#include "transport/iscsi/login_impl.h"
#include "transport/iscsi/name.h"
#include "transport/wire/be.h"

enum { DROP = -1 }; // in addition to the statuses: close without a response

void login_target_init(struct login *l, const struct login_target_ops *ops, void *arg,
		       uint32_t stat_sn, uint32_t window)
{
	login_reset(l);
	l->ops = ops;
	l->arg = arg;
	l->stat_sn = stat_sn;
	l->window = window;
}

static int refuse(struct err *e, int status, const char *text)
{
	err_set(e, -EPROTO, "%s", text);
	return status;
}

// ---- output ----

static void fill_response(struct login *l, uint8_t flags, int status, struct login_reply *ret)
{
	struct iscsi_login_rsp *rsp = (struct iscsi_login_rsp *)ret->bhs;
	rsp->opcode = ISCSI_OP_LOGIN_RSP;
	rsp->flags = flags;
	rsp->version_max = rsp->version_active = ISCSI_VERSION;
	memcpy(rsp->isid, l->names.isid, sizeof rsp->isid);
	put_be16(rsp->tsih, l->session.tsih ? l->session.tsih : l->names.tsih);
	put_be32(rsp->itt, l->itt);
	put_be32(rsp->stat_sn, l->stat_sn++);
	put_be32(rsp->exp_cmd_sn, l->session.exp_cmd_sn);
	put_be32(rsp->max_cmd_sn, l->session.max_cmd_sn);
	rsp->status_class = ISCSI_LOGIN_CLASS(status);
	rsp->status_detail = (uint8_t)status;
	ret->status = (uint16_t)status;
	ret->has_pdu = true;
	login_give_text(l, ret);
}

static enum login_outcome finish_refused(struct login *l, int status, const struct err *e,
					 struct login_reply *ret)
{
	bool is_redirect =
		status != DROP && ISCSI_LOGIN_CLASS(status) == ISCSI_LOGIN_CLASS_REDIRECT;
	if (is_redirect && !l->terms.redirect[0]) {
		is_redirect = false;
		status = ISCSI_LOGIN_TARGET_ERROR; // a redirect without an address
	}
	ret->outcome = status == DROP ? LOGIN_DROP : LOGIN_REFUSED;
	if (e)
		ret->err = *e;
	text_out_init(&l->out, l->out_buf, sizeof l->out_buf);
	if (is_redirect)
		text_append(&l->out, "TargetAddress", l->terms.redirect);
	if (status != DROP)
		fill_response(l, login_flags(l, false), status, ret);
	login_close(l);
	return ret->outcome;
}

static enum login_outcome finish_full_feature(struct login *l, struct login_reply *ret)
{
	ret->outcome = LOGIN_FULL_FEATURE;
	fill_response(l, login_flags(l, true), ISCSI_LOGIN_OK, ret);
	login_close(l);
	return ret->outcome;
}

// ---- the header ----

static int step_opcode(struct login *l, const uint8_t *bhs, struct err *e)
{
	uint8_t opcode = bhs[0] & ISCSI_OP_MASK;
	if (l->is_over || l->is_waiting)
		return refuse(e, DROP, "login: unexpected PDU");
	if (opcode == ISCSI_OP_LOGIN_REQ)
		return 0;
	err_set(e, -EPROTO, "login: unexpected %s 0x%02x instead of a Login Request",
		iscsi_opcode_name(opcode), opcode);
	return l->has_started ? ISCSI_LOGIN_INVALID_REQUEST : DROP;
}

static int step_format(const struct iscsi_login_req *rq, size_t len, struct err *e)
{
	if (rq->version_min > ISCSI_VERSION) {
		err_set(e, -EPROTO, "login: initiator requires version %u (only 0 is supported)",
			rq->version_min);
		return ISCSI_LOGIN_VERSION;
	}
	if (rq->ahs_len)
		return refuse(e, ISCSI_LOGIN_INITIATOR_ERROR,
			      "login: unexpected additional header segments");
	if (len != get_be24(rq->data_len) || len > ISCSI_LOGIN_DATA_MAX)
		return refuse(e, ISCSI_LOGIN_INITIATOR_ERROR, "login: text longer than 8192 bytes");
	if (get_be32(rq->itt) == ISCSI_TAG_NONE)
		return refuse(e, ISCSI_LOGIN_INITIATOR_ERROR, "login: no initiator task tag");
	return 0;
}

static int step_stage(struct login *l, const struct iscsi_login_req *rq, struct err *e)
{
	unsigned stage = (rq->flags & ISCSI_LOGIN_CSG_MASK) >> ISCSI_LOGIN_CSG_SHIFT;
	unsigned next = rq->flags & ISCSI_LOGIN_NSG_MASK;
	l->wants_transit = rq->flags & ISCSI_LOGIN_T;
	if (stage > ISCSI_STAGE_OPERATIONAL || (l->exchanges > 1 && stage != l->stage)) {
		err_set(e, -EPROTO, "login: unexpected current stage %u", stage);
		return ISCSI_LOGIN_INITIATOR_ERROR;
	}
	l->stage = (uint8_t)stage;
	if (!l->wants_transit)
		return 0;
	if (rq->flags & ISCSI_LOGIN_C)
		return refuse(e, ISCSI_LOGIN_INITIATOR_ERROR, "login: T and C are both set");
	if (next <= stage || next == 2) {
		err_set(e, -EPROTO, "login: invalid transition from stage %u to %u", stage, next);
		return ISCSI_LOGIN_INITIATOR_ERROR;
	}
	l->next_stage = (uint8_t)next;
	return 0;
}

static int step_header(struct login *l, const uint8_t *bhs, size_t len, struct err *e)
{
	const struct iscsi_login_req *rq = (const struct iscsi_login_req *)bhs;
	struct login_names *n = &l->names;
	int status = step_opcode(l, bhs, e);
	if (status)
		return status;
	bool is_first = !l->has_started;
	l->has_started = true;
	l->itt = get_be32(rq->itt);
	l->cmd_sn = get_be32(rq->cmd_sn);
	l->session.exp_cmd_sn = l->cmd_sn;
	l->session.max_cmd_sn = l->cmd_sn + l->window - 1;
	if (is_first) {
		memcpy(n->isid, rq->isid, sizeof n->isid);
		n->tsih = get_be16(rq->tsih);
		n->cid = get_be16(rq->cid);
	}
	status = step_format(rq, len, e);
	if (status)
		return status;
	if (memcmp(n->isid, rq->isid, sizeof n->isid) || n->tsih != get_be16(rq->tsih) ||
	    n->cid != get_be16(rq->cid))
		return refuse(e, ISCSI_LOGIN_INITIATOR_ERROR,
			      "login: ISID, TSIH or CID has changed");
	if (++l->exchanges > LOGIN_EXCHANGES_MAX)
		return refuse(e, ISCSI_LOGIN_INITIATOR_ERROR, "login: too many requests");
	return step_stage(l, rq, e);
}

// ---- names ----

static int read_name(struct login *l, const struct iscsi_key_set *set, unsigned id, int status,
		     char *ret, struct err *e)
{
	const char *value = set->value[id];
	char name[ISCSI_NAME_MAX + 1];
	if (!value)
		return 0;
	if (iscsi_name_normalize(value, strlen(value), name, e)) {
		err_prefix(e, "%s", iscsi_keys[id].name);
		return status;
	}
	if (l->has_names && strcmp(name, ret)) {
		err_set(e, -EPROTO, "%s: changed during login", iscsi_keys[id].name);
		return ISCSI_LOGIN_INITIATOR_ERROR;
	}
	memcpy(ret, name, sizeof name);
	return 0;
}

static int read_session_type(struct login *l, const char *value, struct err *e)
{
	bool is_discovery = value && !strcmp(value, "Discovery");
	if (value && !is_discovery && strcmp(value, "Normal")) {
		err_set(e, -EPROTO, "SessionType: invalid value %.64s (Normal or Discovery)",
			value);
		return ISCSI_LOGIN_SESSION_TYPE;
	}
	if (value && l->has_names && is_discovery != l->names.is_discovery)
		return refuse(e, ISCSI_LOGIN_INITIATOR_ERROR, "SessionType: changed during login");
	if (!l->has_names)
		l->names.is_discovery = is_discovery;
	return 0;
}

// The names: required in the first text, permitted in later ones.
static int step_names(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	struct login_names *n = &l->names;
	int status = read_name(l, set, ISCSI_KEY_INITIATOR_NAME, ISCSI_LOGIN_INITIATOR_ERROR,
			       n->initiator_name, e);
	if (!status)
		status = read_session_type(l, set->value[ISCSI_KEY_SESSION_TYPE], e);
	if (!status)
		status = read_name(l, set, ISCSI_KEY_TARGET_NAME, ISCSI_LOGIN_NOT_FOUND,
				   n->target_name, e);
	if (status || l->has_names)
		return status;
	if (!n->initiator_name[0])
		return refuse(e, ISCSI_LOGIN_MISSING_PARAMETER, "InitiatorName: missing");
	if (!n->is_discovery && !n->target_name[0])
		return refuse(e, ISCSI_LOGIN_MISSING_PARAMETER,
			      "TargetName: missing (required for a normal session)");
	if (set->value[ISCSI_KEY_INITIATOR_ALIAS])
		memcpy(n->initiator_alias, set->value[ISCSI_KEY_INITIATOR_ALIAS],
		       strlen(set->value[ISCSI_KEY_INITIATOR_ALIAS]) + 1);
	l->params.is_discovery = n->is_discovery;
	return 0;
}

static int step_admit(struct login *l, struct err *e)
{
	l->has_names = true;
	int status = l->ops->admit(l->arg, &l->names, &l->terms, e);
	if (status)
		return status > 0 ? status : ISCSI_LOGIN_TARGET_ERROR;
	if (l->terms.redirect[0]) {
		err_set(e, -EREMCHG, "login: redirected to %.200s", l->terms.redirect);
		return l->terms.is_redirect_permanent ? ISCSI_LOGIN_MOVED_PERMANENTLY
						      : ISCSI_LOGIN_MOVED_TEMPORARILY;
	}
	if (l->stage == ISCSI_STAGE_OPERATIONAL) {
		if (l->terms.is_auth_required)
			return refuse(e, ISCSI_LOGIN_AUTH_FAILED,
				      "AuthMethod: CHAP is required, but the initiator skips the "
				      "security stage");
		l->auth = LOGIN_AUTH_DONE;
	}
	return 0;
}

// ---- negotiation ----

static int step_allowed(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	for (unsigned i = 0; i < set->count; i++) {
		const struct iscsi_key *k = &iscsi_keys[set->order[i]];
		if (k->by & ISCSI_BY_INITIATOR && login_is_in_stage(l, set->order[i]))
			continue;
		err_set(e, -EPROTO, "%s: not allowed from an initiator in login stage %u", k->name,
			l->stage);
		return ISCSI_LOGIN_INITIATOR_ERROR;
	}
	return 0;
}

// One offered key. If it is repeated in a later text, the result must be the same.
static int negotiate(struct login *l, unsigned id, const char *value, struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	if (k->kind == ISCSI_KIND_STRING)
		return 0;
	// The leading connection has negotiated it for the session.
	if (k->flags & ISCSI_KEY_LEADING && l->names.tsih) {
		text_append(&l->out, k->name, "Irrelevant");
		return 0;
	}
	uint32_t before = iscsi_key_load(id, &l->params);
	if (iscsi_key_answer(id, value, &l->terms.offer, &l->params, &l->out, e))
		return ISCSI_LOGIN_INITIATOR_ERROR;
	if (l->answered & login_bit(id) && iscsi_key_load(id, &l->params) != before) {
		err_set(e, -EPROTO, "%s: sent again with another value", k->name);
		return ISCSI_LOGIN_INITIATOR_ERROR;
	}
	l->answered |= login_bit(id);
	return 0;
}

static int step_operational(struct login *l, const struct iscsi_key_set *set, struct err *e)
{
	for (unsigned i = 0; i < set->count; i++) {
		int status = negotiate(l, set->order[i], set->value[set->order[i]], e);
		if (status)
			return status;
	}
	if (!l->has_declared && !l->terms.offer.is_rdma) {
		const unsigned id = ISCSI_KEY_MAX_RECV_DATA_SEGMENT_LENGTH;
		l->params.max_recv_data = l->terms.offer.value[id];
		text_append_number(&l->out, iscsi_keys[id].name, l->params.max_recv_data);
		l->has_declared = true;
	}
	return 0;
}

static void say_tag(struct login *l)
{
	if (l->has_sent_tag || !l->names.target_name[0])
		return;
	l->has_sent_tag = true;
	text_append_number(&l->out, "TargetPortalGroupTag", l->terms.tpgt);
	if (l->terms.target_alias[0])
		text_append(&l->out, "TargetAlias", l->terms.target_alias);
}

static int step_text(struct login *l, const void *text, size_t len, struct err *e)
{
	struct iscsi_key_set set;
	if (iscsi_keys_collect(text, len, &set, &l->out, e))
		return ISCSI_LOGIN_INITIATOR_ERROR;
	bool is_first = !l->has_names;
	int status = step_names(l, &set, e);
	if (!status)
		status = step_allowed(l, &set, e);
	if (!status && is_first)
		status = step_admit(l, e);
	if (!status)
		status = l->stage == ISCSI_STAGE_SECURITY ? login_target_auth(l, &set, e)
							  : step_operational(l, &set, e);
	if (!status)
		say_tag(l);
	if (!status && l->out.is_full)
		return refuse(e, ISCSI_LOGIN_INITIATOR_ERROR,
			      "login: answers do not fit into one response");
	return status;
}

// ---- the end ----

static int step_granted(struct login *l, struct err *e)
{
	if (!l->session.tsih)
		return refuse(e, ISCSI_LOGIN_TARGET_ERROR, "login: no session handle is free");
	return 0;
}

// 0, a status, or -EINPROGRESS.
static int step_attach(struct login *l, struct err *e)
{
	if (iscsi_params_settle(&l->params, &l->terms.offer, ISCSI_BY_TARGET, e))
		return ISCSI_LOGIN_INITIATOR_ERROR;
	int status = l->ops->attach(l->arg, &l->names, &l->params, &l->session, e);
	if (status == -EINPROGRESS)
		return status;
	if (status)
		return status > 0 ? status : ISCSI_LOGIN_TARGET_ERROR;
	return step_granted(l, e);
}

static enum login_outcome answer(struct login *l, bool is_transit, struct login_reply *ret)
{
	fill_response(l, login_flags(l, is_transit), ISCSI_LOGIN_OK, ret);
	if (is_transit)
		l->stage = l->next_stage;
	return ret->outcome = LOGIN_CONTINUE;
}

enum login_outcome login_target_step(struct login *l, const uint8_t bhs[ISCSI_BHS_LEN],
				     const void *text, size_t len, struct login_reply *ret)
{
	struct err e = { 0 };
	const char *whole;
	size_t whole_len;
	bool has_more = bhs[1] & ISCSI_LOGIN_C;
	*ret = (struct login_reply){ 0 };
	int status = step_header(l, bhs, len, &e);
	if (!status && login_join(l, text, len, has_more, &whole, &whole_len, &e))
		status = ISCSI_LOGIN_INITIATOR_ERROR;
	if (!status && has_more)
		return answer(l, false, ret);
	if (!status)
		status = step_text(l, whole, whole_len, &e);
	if (status)
		return finish_refused(l, status, &e, ret);
	bool is_transit = l->wants_transit && l->auth == LOGIN_AUTH_DONE;
	if (!is_transit || l->next_stage != ISCSI_STAGE_FULL_FEATURE)
		return answer(l, is_transit, ret);
	status = step_attach(l, &e);
	if (status == -EINPROGRESS) {
		l->is_waiting = true;
		return ret->outcome = LOGIN_WAIT;
	}
	return status ? finish_refused(l, status, &e, ret) : finish_full_feature(l, ret);
}

bool login_is_waiting(const struct login *l)
{
	return l->is_waiting && !l->is_over;
}

enum login_outcome login_target_resume(struct login *l, int status,
				       const struct login_session *session, const struct err *why,
				       struct login_reply *ret)
{
	struct err e = { 0 };
	*ret = (struct login_reply){ 0 };
	if (!login_is_waiting(l))
		return finish_refused(l, refuse(&e, DROP, "login: no login to resume"), &e, ret);
	l->is_waiting = false;
	if (session)
		l->session = *session;
	if (!status) {
		why = &e;
		status = step_granted(l, &e);
	}
	return status ? finish_refused(l, status, why, ret) : finish_full_feature(l, ret);
}

enum login_outcome login_target_refuse(struct login *l, int status, const struct err *why,
				       struct login_reply *ret)
{
	*ret = (struct login_reply){ 0 };
	return finish_refused(l, l->has_started && !l->is_over ? status : DROP, why, ret);
}
