// SPDX-License-Identifier: BSD-2-Clause
// SRP's login as the private data of the connection manager. Pure functions, any thread. T10 SRP
// 6.3 to 6.5; the layout for RDMA-CM is Linux's.
#include "transport/srp/login.h"

#include <errno.h>
#include <string.h>

#include "transport/srp/iu.h"
#include "transport/wire/be.h"

// The shortest longest IU of a target: its RSP with a code fits.
enum { TI_IU_MIN = SRP_RSP_LEN + SRP_RSP_DATA_LEN };

static void parse_ib(struct srp_login *ret, const struct srp_login_req *q)
{
	memcpy(&ret->tag, q->tag, sizeof ret->tag);
	ret->it_iu_len = get_be32(q->req_it_iu_len);
	ret->formats = get_be16(q->req_buf_fmt);
	ret->flags = q->req_flags;
	ret->imm_offset = get_be16(q->imm_data_offset);
	memcpy(ret->initiator, q->initiator, SRP_PORT_ID_LEN);
	memcpy(ret->target, q->target, SRP_PORT_ID_LEN);
}

static void parse_cm(struct srp_login *ret, const struct srp_login_req_cm *q)
{
	memcpy(&ret->tag, q->tag, sizeof ret->tag);
	ret->it_iu_len = get_be32(q->req_it_iu_len);
	ret->formats = get_be16(q->req_buf_fmt);
	ret->flags = q->req_flags;
	ret->imm_offset = get_be16(q->imm_data_offset);
	memcpy(ret->initiator, q->initiator, SRP_PORT_ID_LEN);
	memcpy(ret->target, q->target, SRP_PORT_ID_LEN);
}

int srp_login_parse(struct srp_login *ret, const uint8_t *data, uint32_t len, bool is_ib,
		    struct err *e)
{
	const struct srp_login_req_cm *cm = (const void *)data;
	if (is_ib && len >= SRP_LOGIN_REQ_LEN && data[0] == SRP_LOGIN_REQ)
		return parse_ib(ret, (const void *)data), 0;
	if (len < SRP_LOGIN_REQ_CM_LEN)
		return err_set(e, -EPROTO, "SRP: login: %u bytes of private data instead of %u",
			       len, SRP_LOGIN_REQ_CM_LEN);
	if (cm->opcode != SRP_LOGIN_REQ)
		return err_set(e, -EPROTO, "SRP: login: IU 0x%02x is not a LOGIN_REQ", cm->opcode);
	return parse_cm(ret, cm), 0;
}

void srp_login_put(uint8_t ret[SRP_LOGIN_REQ_LEN], const struct srp_login *l)
{
	struct srp_login_req *q = (void *)ret;
	memset(q, 0, sizeof *q);
	q->opcode = SRP_LOGIN_REQ;
	memcpy(q->tag, &l->tag, sizeof q->tag);
	put_be32(q->req_it_iu_len, l->it_iu_len);
	put_be16(q->req_buf_fmt, l->formats);
	q->req_flags = l->flags;
	put_be16(q->imm_data_offset, l->imm_offset);
	memcpy(q->initiator, l->initiator, SRP_PORT_ID_LEN);
	memcpy(q->target, l->target, SRP_PORT_ID_LEN);
}

void srp_login_put_cm(uint8_t ret[SRP_LOGIN_REQ_CM_LEN], const struct srp_login *l)
{
	struct srp_login_req_cm *q = (void *)ret;
	memset(q, 0, sizeof *q);
	q->opcode = SRP_LOGIN_REQ;
	memcpy(q->tag, &l->tag, sizeof q->tag);
	put_be32(q->req_it_iu_len, l->it_iu_len);
	put_be16(q->req_buf_fmt, l->formats);
	q->req_flags = l->flags;
	put_be16(q->imm_data_offset, l->imm_offset);
	memcpy(q->initiator, l->initiator, SRP_PORT_ID_LEN);
	memcpy(q->target, l->target, SRP_PORT_ID_LEN);
}

int srp_accept_parse(struct srp_accept *ret, const uint8_t *data, uint32_t len, struct err *e)
{
	const struct srp_login_rsp *r = (const void *)data;
	if (len < SRP_LOGIN_RSP_LEN)
		return err_set(
			e, -EPROTO,
			"SRP: LOGIN_RSP: %u bytes instead of %u (the portal answers, but not "
			"in SRP; if it is one of iSER: iser://)",
			len, SRP_LOGIN_RSP_LEN);
	if (r->opcode != SRP_LOGIN_RSP)
		return err_set(e, -EPROTO, "SRP: login: IU 0x%02x is not a LOGIN_RSP", r->opcode);
	memcpy(&ret->tag, r->tag, sizeof ret->tag);
	ret->credits = get_be32(r->req_lim_delta);
	ret->it_iu_len = get_be32(r->max_it_iu_len);
	ret->ti_iu_len = get_be32(r->max_ti_iu_len);
	ret->formats = get_be16(r->buf_fmt);
	ret->flags = r->rsp_flags;
	if (!ret->credits || ret->credits > INT32_MAX)
		return err_set(e, -EPROTO, "SRP: LOGIN_RSP: invalid request limit: %d",
			       (int32_t)ret->credits);
	if (ret->it_iu_len < SRP_IU_MIN || ret->ti_iu_len < TI_IU_MIN)
		return err_set(e, -EPROTO,
			       "SRP: LOGIN_RSP: IUs of %u and %u bytes are too short: at least %u "
			       "and %u",
			       ret->it_iu_len, ret->ti_iu_len, SRP_IU_MIN, TI_IU_MIN);
	return 0;
}

void srp_accept_put(uint8_t ret[SRP_LOGIN_RSP_LEN], const struct srp_accept *a)
{
	struct srp_login_rsp *r = (void *)ret;
	memset(r, 0, sizeof *r);
	r->opcode = SRP_LOGIN_RSP;
	put_be32(r->req_lim_delta, a->credits);
	memcpy(r->tag, &a->tag, sizeof r->tag);
	put_be32(r->max_it_iu_len, a->it_iu_len);
	put_be32(r->max_ti_iu_len, a->ti_iu_len);
	put_be16(r->buf_fmt, a->formats);
	r->rsp_flags = a->flags;
}

void srp_reject_put(uint8_t ret[SRP_LOGIN_REJ_LEN], uint64_t tag, enum srp_rej_reason reason)
{
	struct srp_login_rej *r = (void *)ret;
	memset(r, 0, sizeof *r);
	r->opcode = SRP_LOGIN_REJ;
	put_be32(r->reason, reason);
	memcpy(r->tag, &tag, sizeof r->tag);
	put_be16(r->buf_fmt, SRP_FMT_DIRECT | SRP_FMT_INDIRECT);
}

int srp_reject_parse(enum srp_rej_reason *ret, const uint8_t *data, uint32_t len, struct err *e)
{
	const struct srp_login_rej *r = (const void *)data;
	if (len < SRP_LOGIN_REJ_LEN)
		return err_set(e, -EPROTO, "SRP: LOGIN_REJ: %u bytes instead of %u", len,
			       SRP_LOGIN_REJ_LEN);
	if (r->opcode != SRP_LOGIN_REJ)
		return err_set(e, -EPROTO, "SRP: login: IU 0x%02x is not a LOGIN_REJ", r->opcode);
	*ret = (enum srp_rej_reason)get_be32(r->reason);
	return 0;
}

static const struct {
	enum srp_rej_reason reason;
	const char *text;
} reject_texts[] = {
	{SRP_REJ_UNABLE_TO_ESTABLISH,     "the target cannot establish the channel (see its log)"},
	{ SRP_REJ_INSUFFICIENT_RESOURCES,
	  "the target has no resources for the channel, or is disabled (enable it, or end other "
	  "sessions)"									    },
	{ SRP_REJ_IU_TOO_LARGE,
	  "the target does not take IUs of that length (reduce max_it_iu_size)"			},
	{ SRP_REJ_NO_SUCH_PORT,
	  "the target has no such port, or no ACL for this initiator (check id_ext and ioc_guid, "
	  "and the target's ACLs)"							       },
	{ SRP_REJ_UNSUPPORTED_FORMAT,
	  "the target supports none of the requested formats of buffer descriptors"		    },
	{ SRP_REJ_MULTICHAN_UNSUPPORTED,
	  "the target does not take a further channel for this session (use ch_count=1)"		 },
	{ SRP_REJ_CHANNEL_LIMIT,
	  "the session has all channels that the target permits, or LIO has no ACL for this "
	  "initiator (reduce ch_count, or create the ACL)"					   },
};

const char *srp_reject_text(enum srp_rej_reason reason)
{
	for (unsigned i = 0; i < sizeof reject_texts / sizeof *reject_texts; i++)
		if (reject_texts[i].reason == reason)
			return reject_texts[i].text;
	return NULL;
}
