// SPDX-License-Identifier: BSD-2-Clause
// The initiator's side of the login [RFC 7143 §6.3]. The target is not trusted:
// our offer must allow every answer, and each may arrive once.
//
// LIO proposes every key that it does not receive, and a key sent twice is fatal. Therefore all
// operational keys are sent once, in one text, and every proposal of a target is answered.
#include <errno.h>
#include <string.h>

#include "transport/iscsi/login_auth.h"
#include "transport/iscsi/login_impl.h"
#include "transport/iscsi/name.h"
#include "transport/iscsi/sendtargets.h"
#include "transport/wire/be.h"

static int copy_config(struct login *l, const struct login_config *c, struct err *e)
{
	struct login_names *n = &l->names;
	int rc = iscsi_name_normalize(c->initiator_name, strlen(c->initiator_name),
				      n->initiator_name, e);
	if (rc)
		return err_prefix(e, "InitiatorName"), rc;
	if (!c->is_discovery || c->target_name[0])
		rc = iscsi_name_normalize(c->target_name, strlen(c->target_name), n->target_name,
					  e);
	if (rc)
		return err_prefix(e, "TargetName"), rc;
	memcpy(n->initiator_alias, c->initiator_alias, sizeof n->initiator_alias);
	memcpy(n->isid, c->isid, sizeof n->isid);
	n->is_discovery = l->params.is_discovery = c->is_discovery;
	n->tsih = c->tsih;
	n->cid = c->cid;
	l->itt = c->itt;
	l->cmd_sn = c->cmd_sn;
	return 0;
}

static int copy_auth(struct login *l, const struct login_config *c, struct err *e)
{
	l->terms.offer = c->offer;
	l->terms.initiator = c->initiator;
	l->terms.target = c->target;
	l->terms.chap_algs = c->chap_algs;
	if (!c->initiator.user[0] && c->target.user[0])
		return err_set(e, -EINVAL,
			       "CHAP: mutual authentication requires a user name for one-way "
			       "authentication");
	if (c->target.user[0] && !strcmp(c->initiator.secret, c->target.secret))
		return err_set(e, -EINVAL, "CHAP: the secrets of the two directions must differ");
	if (c->initiator.user[0] && !(c->chap_algs & CHAP_ALGS_ALL))
		return err_set(e, -EINVAL, "CHAP: no algorithms to offer");
	return 0;
}

int login_initiator_init(struct login *l, const struct login_config *c, struct err *e)
{
	login_reset(l);
	int rc = copy_config(l, c, e);
	if (!rc)
		rc = copy_auth(l, c, e);
	if (rc)
		login_close(l);
	return rc;
}

// A request with the text in l->out; is_transit requests the next stage.
static enum login_outcome request(struct login *l, bool is_transit, struct login_reply *ret)
{
	struct iscsi_login_req *rq = (struct iscsi_login_req *)ret->bhs;
	l->next_stage = l->stage == ISCSI_STAGE_SECURITY ? ISCSI_STAGE_OPERATIONAL
							 : ISCSI_STAGE_FULL_FEATURE;
	l->wants_transit = is_transit;
	rq->opcode = ISCSI_I | ISCSI_OP_LOGIN_REQ;
	rq->flags = login_flags(l, is_transit);
	rq->version_max = rq->version_min = ISCSI_VERSION;
	memcpy(rq->isid, l->names.isid, sizeof rq->isid);
	put_be16(rq->tsih, l->names.tsih);
	put_be32(rq->itt, l->itt);
	put_be16(rq->cid, l->names.cid);
	put_be32(rq->cmd_sn, l->cmd_sn);
	put_be32(rq->exp_stat_sn, l->stat_sn);
	ret->has_pdu = true;
	login_give_text(l, ret);
	return ret->outcome = LOGIN_CONTINUE;
}

static void say_names(struct login *l)
{
	const struct login_names *n = &l->names;
	text_append(&l->out, "InitiatorName", n->initiator_name);
	if (n->initiator_alias[0])
		text_append(&l->out, "InitiatorAlias", n->initiator_alias);
	text_append(&l->out, "SessionType", n->is_discovery ? "Discovery" : "Normal");
	if (n->target_name[0])
		text_append(&l->out, "TargetName", n->target_name);
}

static void say_operational(struct login *l)
{
	const struct iscsi_offer *o = &l->terms.offer;
	for (unsigned id = 0; id < ISCSI_KEY_COUNT; id++) {
		if (!iscsi_key_is_proposed(id, o, l->names.is_discovery, !l->names.tsih))
			continue;
		iscsi_key_propose(id, o, &l->out);
		l->offered |= login_bit(id);
	}
	if (!o->is_rdma)
		l->params.max_recv_data = o->value[ISCSI_KEY_MAX_RECV_DATA_SEGMENT_LENGTH];
}

enum login_outcome login_initiator_start(struct login *l, struct login_reply *ret)
{
	*ret = (struct login_reply){ 0 };
	say_names(l);
	if (l->terms.initiator.user[0]) {
		l->stage = ISCSI_STAGE_SECURITY;
		text_append(&l->out, "AuthMethod",
			    login_initiator_is_mutual(l) ? "CHAP" : "CHAP,None");
	} else {
		l->stage = ISCSI_STAGE_OPERATIONAL;
		l->auth = LOGIN_AUTH_DONE;
		say_operational(l);
	}
	return request(l, true, ret);
}

// ---- the response's header ----

static int check_format(const struct login *l, const uint8_t *bhs, size_t len, struct err *e)
{
	const struct iscsi_login_rsp *rsp = (const struct iscsi_login_rsp *)bhs;
	uint8_t opcode = bhs[0] & ISCSI_OP_MASK;
	if (l->is_over || opcode != ISCSI_OP_LOGIN_RSP)
		return err_set(e, -EPROTO,
			       "login: unexpected %s 0x%02x instead of a Login Response",
			       iscsi_opcode_name(opcode), opcode);
	if (rsp->ahs_len || len != get_be24(rsp->data_len) || len > ISCSI_LOGIN_DATA_MAX)
		return err_set(e, -EPROTO, "login: response has %zu bytes of text, or AHS", len);
	if (get_be32(rsp->itt) != l->itt)
		return err_set(e, -EPROTO, "login: response to another request");
	return 0;
}

static int check_stage(const struct login *l, const struct iscsi_login_rsp *rsp, struct err *e)
{
	unsigned stage = (rsp->flags & ISCSI_LOGIN_CSG_MASK) >> ISCSI_LOGIN_CSG_SHIFT;
	unsigned next = rsp->flags & ISCSI_LOGIN_NSG_MASK;
	bool is_transit = rsp->flags & ISCSI_LOGIN_T;
	if (rsp->version_active != ISCSI_VERSION)
		return err_set(e, -EPROTO, "login: target has version %u (only 0 is supported)",
			       rsp->version_active);
	if (stage != l->stage)
		return err_set(e, -EPROTO, "login: target is in stage %u, expected %u", stage,
			       l->stage);
	if (is_transit && rsp->flags & ISCSI_LOGIN_C)
		return err_set(e, -EPROTO, "login: T and C are both set");
	if (is_transit && (!l->wants_transit || next != l->next_stage))
		return err_set(e, -EPROTO, "login: unrequested transition to stage %u", next);
	return 0;
}

// ---- the text ----

static int read_tag(struct login *l, const char *value, struct err *e)
{
	uint64_t tag;
	if (!value)
		return 0;
	if (text_number(value, 0, UINT16_MAX, &tag) || (l->has_tpgt && l->tpgt != tag))
		return err_set(e, -EPROTO, "TargetPortalGroupTag: %.32s is invalid or has changed",
			       value);
	l->tpgt = (uint16_t)tag;
	l->has_tpgt = true;
	return 0;
}

// One key of the operational stage: an answer to our offer, or a proposal of the target.
static int take_key(struct login *l, unsigned id, const char *value, bool is_transit, struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	const struct iscsi_offer *o = &l->terms.offer;
	if (k->kind == ISCSI_KIND_STRING)
		return 0;
	if (l->answered & login_bit(id))
		return err_set(e, -EPROTO, "%s: answered twice", k->name);
	l->answered |= login_bit(id);
	if (l->offered & login_bit(id))
		return iscsi_key_accept(id, value, o, &l->params, e);
	if (is_transit && k->kind != ISCSI_KIND_DECLARE)
		return err_set(e, -EPROTO, "%s: proposed by the target in its last response",
			       k->name);
	return iscsi_key_answer(id, value, o, &l->params, &l->out, e);
}

static int take_keys(struct login *l, const struct iscsi_key_set *set, bool is_transit,
		     struct err *e)
{
	int rc = 0;
	for (unsigned i = 0; i < set->count && !rc; i++) {
		unsigned id = set->order[i];
		const struct iscsi_key *k = &iscsi_keys[id];
		if (!(k->by & ISCSI_BY_TARGET) || !login_is_in_stage(l, id))
			rc = err_set(e, -EPROTO, "%s: not allowed from a target in login stage %u",
				     k->name, l->stage);
		else if (l->stage == ISCSI_STAGE_OPERATIONAL)
			rc = take_key(l, id, set->value[id], is_transit, e);
	}
	if (!rc)
		rc = read_tag(l, set->value[ISCSI_KEY_TARGET_PORTAL_GROUP_TAG], e);
	const char *alias = set->value[ISCSI_KEY_TARGET_ALIAS];
	if (!rc && alias)
		memcpy(l->target_alias, alias, strlen(alias) + 1);
	return rc;
}

static int take_text(struct login *l, const char *text, size_t len, bool is_transit, struct err *e)
{
	struct iscsi_key_set set;
	// If T is set, no answer can be sent any more: unknown keys are ignored.
	int rc = iscsi_keys_collect(text, len, &set, is_transit ? NULL : &l->out, e);
	if (!rc)
		rc = take_keys(l, &set, is_transit, e);
	if (!rc && l->stage == ISCSI_STAGE_SECURITY)
		rc = login_initiator_auth(l, &set, is_transit, e);
	if (!rc && is_transit && l->auth != LOGIN_AUTH_DONE)
		rc = err_set(e, -EACCES, "login: target ends the security stage too early");
	return rc;
}

// ---- outcomes ----

static enum login_outcome fail(struct login *l, int status, const struct err *e,
			       struct login_reply *ret)
{
	*ret = (struct login_reply){ .outcome = LOGIN_FAILED,
				     .status = (uint16_t)status,
				     .err = *e };
	login_close(l);
	return ret->outcome;
}

// A status other than success. Redirects need a valid address.
static enum login_outcome refused(struct login *l, int status, const void *text, size_t len,
				  struct login_reply *ret)
{
	struct err e;
	struct text_pair pair;
	struct iscsi_address address;
	err_set(&e, -ECONNREFUSED, "login: refused by target: %04x %s", (unsigned)status,
		login_status_text(status));
	if (ISCSI_LOGIN_CLASS(status) != ISCSI_LOGIN_CLASS_REDIRECT)
		return fail(l, status, &e, ret);
	if (text_find(text, len, "TargetAddress", &pair) != 1 ||
	    pair.value_len >= sizeof l->redirect || iscsi_address_parse(pair.value, &address, &e)) {
		err_set(&e, -EPROTO, "login: redirect without a valid TargetAddress");
		return fail(l, status, &e, ret);
	}
	memcpy(l->redirect, pair.value, pair.value_len + 1);
	fail(l, status, &e, ret);
	return ret->outcome = LOGIN_REDIRECT;
}

static enum login_outcome full_feature(struct login *l, const struct iscsi_login_rsp *rsp,
				       struct login_reply *ret)
{
	struct err e;
	int rc = 0;
	for (unsigned id = 0; id < ISCSI_KEY_COUNT && !rc; id++)
		if (l->offered & ~l->answered & login_bit(id))
			rc = iscsi_key_accept(id, NULL, &l->terms.offer, &l->params, &e);
	if (!rc)
		rc = iscsi_params_settle(&l->params, &l->terms.offer, ISCSI_BY_INITIATOR, &e);
	if (rc)
		return fail(l, 0, &e, ret);
	l->session = (struct login_session){ .tsih = get_be16(rsp->tsih),
					     .exp_cmd_sn = get_be32(rsp->exp_cmd_sn),
					     .max_cmd_sn = get_be32(rsp->max_cmd_sn) };
	login_close(l);
	return ret->outcome = LOGIN_FULL_FEATURE;
}

// The next request, after a complete text.
static enum login_outcome next(struct login *l, const struct iscsi_login_rsp *rsp,
			       struct login_reply *ret)
{
	if (rsp->flags & ISCSI_LOGIN_T) {
		if (l->next_stage == ISCSI_STAGE_FULL_FEATURE)
			return full_feature(l, rsp, ret);
		l->stage = l->next_stage;
		say_operational(l);
		return request(l, true, ret);
	}
	// An open CHAP negotiation keeps the stage.
	bool can_transit = l->stage != ISCSI_STAGE_SECURITY || l->auth >= LOGIN_AUTH_RESPONSE;
	return request(l, can_transit, ret);
}

enum login_outcome login_initiator_step(struct login *l, const uint8_t bhs[ISCSI_BHS_LEN],
					const void *text, size_t len, struct login_reply *ret)
{
	const struct iscsi_login_rsp *rsp = (const struct iscsi_login_rsp *)bhs;
	struct err e = { 0 };
	const char *whole;
	size_t whole_len;
	*ret = (struct login_reply){ 0 };
	if (check_format(l, bhs, len, &e))
		return fail(l, 0, &e, ret);
	int status = rsp->status_class << 8 | rsp->status_detail;
	if (status)
		return refused(l, status, text, len, ret);
	l->stat_sn = get_be32(rsp->stat_sn) + 1;
	bool has_more = rsp->flags & ISCSI_LOGIN_C, is_transit = rsp->flags & ISCSI_LOGIN_T;
	if (check_stage(l, rsp, &e) || login_join(l, text, len, has_more, &whole, &whole_len, &e))
		return fail(l, 0, &e, ret);
	if (++l->exchanges > LOGIN_EXCHANGES_MAX) {
		err_set(&e, -EPROTO, "login: too many responses from the target");
		return fail(l, 0, &e, ret);
	}
	if (has_more)
		return request(l, false, ret);
	if (take_text(l, whole, whole_len, is_transit, &e))
		return fail(l, 0, &e, ret);
	if (l->out.is_full) {
		err_set(&e, -EPROTO, "login: answers do not fit into one request");
		return fail(l, 0, &e, ret);
	}
	return next(l, rsp, ret);
}
