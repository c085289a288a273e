// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes the iSER header. Pure functions, any thread. RFC 7145 9.
#include "transport/iser/iser.h"

#include <errno.h>
#include <string.h>

#include "transport/wire/be.h"

enum { PAD_MAX = 4 };

static int parse_control(struct iser_msg *m, const uint8_t *msg, uint32_t len, struct err *e)
{
	const struct iser_hdr *h = (const void *)msg;
	if (len < ISER_HDR_LEN + ISCSI_BHS_LEN)
		return err_set(e, -EPROTO, "iSER: message of %u bytes is too short for a PDU", len);
	m->has_write = h->opcode & ISER_WSV;
	m->has_read = h->opcode & ISER_RSV;
	m->write = (struct iser_tag){ get_be32(h->write_stag), get_be64(h->write_base) };
	m->read = (struct iser_tag){ get_be32(h->read_stag), get_be64(h->read_base) };
	m->bhs = msg + ISER_HDR_LEN;
	iscsi_pdu_decode(m->bhs, &m->pdu);
	uint64_t ahs_at = ISER_HDR_LEN + ISCSI_BHS_LEN, data_at = ahs_at + m->pdu.ahs_len;
	uint64_t end = data_at + m->pdu.data_len;
	if (len < end || len > end + PAD_MAX)
		return err_set(e, -EPROTO, "iSER: message of %u bytes, but PDU of %u, %u and %u",
			       len, ISCSI_BHS_LEN, m->pdu.ahs_len, m->pdu.data_len);
	m->ahs = m->pdu.ahs_len ? msg + ahs_at : NULL;
	m->data = m->pdu.data_len ? msg + data_at : NULL;
	return 0;
}

int iser_msg_parse(struct iser_msg *ret, const uint8_t *msg, uint32_t len, struct err *e)
{
	*ret = (struct iser_msg){ 0 };
	if (len < ISER_HDR_LEN)
		return err_set(e, -EPROTO, "iSER: message of %u bytes is shorter than its header",
			       len);
	const struct iser_hello *h = (const void *)msg;
	ret->opcode = h->opcode & ISER_OPCODE_MASK;
	switch (ret->opcode) {
	case ISER_CONTROL:
		return parse_control(ret, msg, len, e);
	case ISER_HELLO:
	case ISER_HELLO_REPLY:
		ret->is_refused = h->opcode & ISER_REJ;
		ret->version_max = h->versions >> 4;
		ret->version = h->versions & 0x0f;
		ret->depth = get_be16(h->depth);
		return 0;
	default:
		return err_set(e, -EPROTO, "iSER: unknown opcode 0x%02x in the header", h->opcode);
	}
}

void iser_hdr_put(uint8_t ret[ISER_HDR_LEN], const struct iser_tag *write,
		  const struct iser_tag *read)
{
	struct iser_hdr *h = (void *)ret;
	memset(h, 0, sizeof *h);
	h->opcode = (uint8_t)(ISER_CONTROL | (write ? ISER_WSV : 0) | (read ? ISER_RSV : 0));
	if (write) {
		put_be32(h->write_stag, write->stag);
		put_be64(h->write_base, write->base);
	}
	if (read) {
		put_be32(h->read_stag, read->stag);
		put_be64(h->read_base, read->base);
	}
}

void iser_hello_reply_put(uint8_t ret[ISER_HDR_LEN], uint32_t reads_out, bool is_refused)
{
	struct iser_hello *h = (void *)ret;
	memset(h, 0, sizeof *h);
	h->opcode = (uint8_t)(ISER_HELLO_REPLY | (is_refused ? ISER_REJ : 0));
	h->versions = ISER_VERSION << 4 | ISER_VERSION;
	put_be16(h->depth, (uint16_t)(reads_out > UINT16_MAX ? UINT16_MAX : reads_out));
}

void iser_cm_put(uint8_t ret[ISER_CM_LEN], bool can_invalidate)
{
	memset(ret, 0, ISER_CM_LEN);
	ret[0] = (uint8_t)(ISER_CM_NO_ZBVA | (can_invalidate ? 0 : ISER_CM_NO_INVAL));
}

bool iser_cm_can_invalidate(const uint8_t *data, uint32_t len)
{
	return len && !(data[0] & ISER_CM_NO_INVAL);
}
