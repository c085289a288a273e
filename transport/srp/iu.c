// SPDX-License-Identifier: BSD-2-Clause
// SRP's information units after the login. Pure functions, any thread. T10 SRP 6.6 to 6.15;
// immediate data is Linux's.
#include "transport/srp/iu.h"

#include <errno.h>
#include <string.h>

#include "transport/wire/be.h"

// Checks that iu is of this opcode and has at least want bytes.
static int check(const uint8_t *iu, uint32_t len, uint32_t want, enum srp_opcode opcode,
		 struct err *e)
{
	if (len < want)
		return err_set(e, -EPROTO, "SRP: IU 0x%02x of %u bytes instead of %u", opcode, len,
			       want);
	if (iu[0] != opcode)
		return err_set(e, -EPROTO, "SRP: IU 0x%02x instead of 0x%02x", iu[0], opcode);
	return 0;
}

void srp_desc_parse(struct srp_desc *ret, const uint8_t raw[SRP_DIRECT_LEN])
{
	const struct srp_direct_desc *d = (const void *)raw;
	*ret = (struct srp_desc){ get_be64(d->va), get_be32(d->key), get_be32(d->len) };
}

void srp_desc_put(uint8_t ret[SRP_DIRECT_LEN], const struct srp_desc *desc)
{
	struct srp_direct_desc *d = (void *)ret;
	put_be64(d->va, desc->va);
	put_be32(d->key, desc->key);
	put_be32(d->len, desc->len);
}

bool srp_table_is_valid(const uint8_t *descs, uint32_t count, uint32_t len)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct srp_desc d;
		srp_desc_parse(&d, descs + (uint64_t)i * SRP_DIRECT_LEN);
		sum += d.len;
	}
	return sum == len;
}

// Length of the descriptors of a format in the IU.
static uint64_t descs_len(uint8_t format, uint8_t count)
{
	switch (format) {
	case SRP_NO_DATA:
		return 0;
	case SRP_DIRECT:
		return SRP_DIRECT_LEN;
	case SRP_INDIRECT:
		return SRP_INDIRECT_LEN + (uint64_t)count * SRP_DIRECT_LEN;
	default:
		return SRP_IMMEDIATE_LEN;
	}
}

static int parse_table(struct srp_data *d, const uint8_t *p, uint8_t count, struct err *e)
{
	const struct srp_indirect_desc *t = (const void *)p;
	srp_desc_parse(&d->table, p);
	d->len = get_be32(t->len);
	d->descs = p + SRP_INDIRECT_LEN;
	d->count = count;
	uint32_t entries = d->table.len / SRP_DIRECT_LEN;
	if (d->table.len % SRP_DIRECT_LEN || entries < count || entries > SRP_TABLE_MAX)
		return err_set(e, -EINVAL,
			       "SRP: CMD: table of %u bytes with %u descriptors in the IU",
			       d->table.len, count);
	if (entries == count && !srp_table_is_valid(d->descs, count, d->len))
		return err_set(e, -EINVAL,
			       "SRP: CMD: the lengths of %u descriptors do not add up to %u", count,
			       d->len);
	return 0;
}

// Immediate data begins after all descriptors, which end at end.
static int parse_immediate(struct srp_data *d, const uint8_t *iu, uint64_t at, uint64_t end,
			   uint32_t len, uint16_t offset, struct err *e)
{
	d->len = get_be32(iu + at);
	if (offset < end || (uint64_t)offset + d->len > len)
		return err_set(e, -EINVAL,
			       "SRP: CMD: %u bytes of immediate data at %u in an IU of %u bytes",
			       d->len, offset, len);
	d->imm = iu + offset;
	return 0;
}

// One direction, whose descriptors are at iu + at; all end at end.
static int parse_data(struct srp_data *d, const uint8_t *iu, uint64_t at, uint8_t count,
		      uint64_t end, uint32_t len, uint16_t imm_offset, struct err *e)
{
	struct srp_desc direct;
	switch (d->format) {
	case SRP_DIRECT:
		srp_desc_parse(&direct, iu + at);
		d->len = direct.len;
		d->descs = iu + at;
		d->count = 1;
		return 0;
	case SRP_INDIRECT:
		return parse_table(d, iu + at, count, e);
	case SRP_IMMEDIATE:
		return parse_immediate(d, iu, at, end, len, imm_offset, e);
	default:
		return 0;
	}
}

int srp_command_parse(struct srp_command *ret, const uint8_t *iu, uint32_t len, uint16_t imm_offset,
		      struct err *e)
{
	const struct srp_cmd *c = (const void *)iu;
	*ret = (struct srp_command){ 0 };
	int r = check(iu, len, SRP_CMD_LEN, SRP_CMD, e);
	if (r)
		return r;
	memcpy(&ret->tag, c->tag, sizeof ret->tag);
	ret->lun = c->lun;
	ret->attr = c->attr & SRP_ATTR_MASK;
	ret->sol_not = c->sol_not;
	ret->cdb = c->cdb;
	ret->cdb_len = (uint16_t)(SRP_CDB_LEN + (c->add_cdb_len & ~3));
	ret->out.format = c->buf_fmt >> 4;
	ret->in.format = c->buf_fmt & 0x0f;
	if (ret->out.format > (imm_offset ? SRP_IMMEDIATE : SRP_INDIRECT) ||
	    ret->in.format > SRP_INDIRECT)
		return err_set(e, -EPROTO, "SRP: CMD: unknown format of buffer descriptors: 0x%02x",
			       c->buf_fmt);
	uint64_t out = SRP_CMD_LEN + (c->add_cdb_len & ~3u);
	uint64_t in = out + descs_len(ret->out.format, c->out_count);
	uint64_t end = in + descs_len(ret->in.format, c->in_count);
	if (end > len)
		return err_set(e, -EPROTO, "SRP: CMD of %u bytes instead of %u", len,
			       (unsigned)end);
	r = parse_data(&ret->out, iu, out, c->out_count, end, len, imm_offset, e);
	return r ? r : parse_data(&ret->in, iu, in, c->in_count, end, len, imm_offset, e);
}

void srp_command_put(uint8_t ret[SRP_CMD_LEN], uint64_t tag, const uint8_t lun[8], uint8_t attr,
		     const uint8_t cdb[SRP_CDB_LEN])
{
	struct srp_cmd *c = (void *)ret;
	memset(c, 0, sizeof *c);
	c->opcode = SRP_CMD;
	memcpy(c->tag, &tag, sizeof c->tag);
	memcpy(c->lun, lun, sizeof c->lun);
	c->attr = attr;
	memcpy(c->cdb, cdb, sizeof c->cdb);
}

int srp_task_mgmt_parse(struct srp_task_mgmt *ret, const uint8_t *iu, uint32_t len, struct err *e)
{
	const struct srp_tsk_mgmt *m = (const void *)iu;
	int r = check(iu, len, SRP_TSK_MGMT_LEN, SRP_TSK_MGMT, e);
	if (r)
		return r;
	memcpy(&ret->tag, m->tag, sizeof ret->tag);
	memcpy(&ret->task_tag, m->task_tag, sizeof ret->task_tag);
	ret->lun = m->lun;
	ret->function = m->function;
	ret->sol_not = m->sol_not;
	return 0;
}

void srp_task_mgmt_put(uint8_t ret[SRP_TSK_MGMT_LEN], const struct srp_task_mgmt *mgmt)
{
	struct srp_tsk_mgmt *m = (void *)ret;
	memset(m, 0, sizeof *m);
	m->opcode = SRP_TSK_MGMT;
	m->sol_not = mgmt->sol_not;
	memcpy(m->tag, &mgmt->tag, sizeof m->tag);
	memcpy(m->lun, mgmt->lun, sizeof m->lun);
	m->function = mgmt->function;
	memcpy(m->task_tag, &mgmt->task_tag, sizeof m->task_tag);
}

uint32_t srp_response_put(uint8_t *ret, uint32_t size, const struct srp_response *r)
{
	struct srp_rsp *h = (void *)ret;
	uint32_t data = r->has_code ? SRP_RSP_DATA_LEN : 0;
	uint32_t room = size - SRP_RSP_LEN - data;
	uint32_t sense = r->sense_len < room ? r->sense_len : room;
	memset(h, 0, SRP_RSP_LEN);
	h->opcode = SRP_RSP;
	put_be32(h->req_lim_delta, (uint32_t)r->credits);
	memcpy(h->tag, &r->tag, sizeof h->tag);
	h->flags = (uint8_t)((r->flags & ~(SRP_RSPVALID | SRP_SNSVALID)) |
			     (data ? SRP_RSPVALID : 0) | (sense ? SRP_SNSVALID : 0));
	h->status = r->status;
	put_be32(h->out_residual, r->out_residual);
	put_be32(h->in_residual, r->in_residual);
	put_be32(h->sense_len, sense);
	put_be32(h->rsp_len, data);
	if (data)
		put_be32(ret + SRP_RSP_LEN, r->code);
	if (sense)
		memcpy(ret + SRP_RSP_LEN + data, r->sense, sense);
	return SRP_RSP_LEN + data + sense;
}

int srp_response_parse(struct srp_response *ret, const uint8_t *iu, uint32_t len, struct err *e)
{
	const struct srp_rsp *h = (const void *)iu;
	*ret = (struct srp_response){ 0 };
	int r = check(iu, len, SRP_RSP_LEN, SRP_RSP, e);
	if (r)
		return r;
	// A length whose flag is not set means nothing.
	uint64_t data = h->flags & SRP_RSPVALID ? get_be32(h->rsp_len) : 0;
	uint64_t sense = h->flags & SRP_SNSVALID ? get_be32(h->sense_len) : 0;
	if (SRP_RSP_LEN + data + sense > len)
		return err_set(e, -EPROTO,
			       "SRP: RSP of %u bytes with %u of response data and %u of sense data",
			       len, (unsigned)data, (unsigned)sense);
	ret->has_code = h->flags & SRP_RSPVALID;
	if (ret->has_code && data < SRP_RSP_DATA_LEN)
		return err_set(e, -EPROTO, "SRP: RSP: %u bytes of response data instead of %u",
			       (unsigned)data, SRP_RSP_DATA_LEN);
	memcpy(&ret->tag, h->tag, sizeof ret->tag);
	ret->credits = (int32_t)get_be32(h->req_lim_delta);
	ret->flags = h->flags;
	ret->status = h->status;
	ret->out_residual = get_be32(h->out_residual);
	ret->in_residual = get_be32(h->in_residual);
	ret->code = ret->has_code ? iu[SRP_RSP_LEN + 3] : 0;
	ret->sense = sense ? iu + SRP_RSP_LEN + data : NULL;
	ret->sense_len = (uint32_t)sense;
	return 0;
}

const char *srp_code_text(uint8_t code)
{
	switch (code) {
	case SRP_RSP_COMPLETE:
		return "no failure";
	case SRP_RSP_INVALID_FIELDS:
		return "invalid fields";
	case SRP_RSP_TMF_UNSUPPORTED:
		return "task management not supported";
	case SRP_RSP_TMF_FAILED:
		return "task management failed";
	}
	return NULL;
}

void srp_short_put(uint8_t ret[SRP_SHORT_LEN], enum srp_opcode opcode, uint64_t tag, uint32_t value)
{
	struct srp_short *s = (void *)ret;
	memset(s, 0, sizeof *s);
	s->opcode = (uint8_t)opcode;
	put_be32(s->value, value);
	memcpy(s->tag, &tag, sizeof s->tag);
}

int srp_short_parse(uint64_t *ret_tag, uint32_t *ret_value, const uint8_t *iu, uint32_t len,
		    struct err *e)
{
	const struct srp_short *s = (const void *)iu;
	if (len < SRP_SHORT_LEN)
		return err_set(e, -EPROTO, "SRP: IU of %u bytes instead of %u", len, SRP_SHORT_LEN);
	memcpy(ret_tag, s->tag, sizeof *ret_tag);
	*ret_value = get_be32(s->value);
	return 0;
}

uint32_t srp_event_put(uint8_t *ret, uint32_t size, const struct srp_event *v)
{
	struct srp_aer_req *h = (void *)ret;
	uint32_t room = size - SRP_AER_REQ_LEN;
	uint32_t sense = v->sense_len < room ? v->sense_len : room;
	memset(h, 0, sizeof *h);
	h->opcode = SRP_AER_REQ;
	put_be32(h->req_lim_delta, (uint32_t)v->credits);
	memcpy(h->tag, &v->tag, sizeof h->tag);
	memcpy(h->lun, v->lun, sizeof h->lun);
	put_be32(h->sense_len, sense);
	if (sense)
		memcpy(ret + SRP_AER_REQ_LEN, v->sense, sense);
	return SRP_AER_REQ_LEN + sense;
}

int srp_event_parse(struct srp_event *ret, const uint8_t *iu, uint32_t len, struct err *e)
{
	const struct srp_aer_req *h = (const void *)iu;
	int r = check(iu, len, SRP_AER_REQ_LEN, SRP_AER_REQ, e);
	if (r)
		return r;
	uint32_t sense = get_be32(h->sense_len);
	if (SRP_AER_REQ_LEN + (uint64_t)sense > len)
		return err_set(e, -EPROTO, "SRP: AER_REQ of %u bytes with %u of sense data", len,
			       sense);
	memcpy(&ret->tag, h->tag, sizeof ret->tag);
	ret->credits = (int32_t)get_be32(h->req_lim_delta);
	ret->lun = h->lun;
	ret->sense = sense ? iu + SRP_AER_REQ_LEN : NULL;
	ret->sense_len = sense;
	return 0;
}
