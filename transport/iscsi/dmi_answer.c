// SPDX-License-Identifier: BSD-2-Clause
// Serial numbers, residuals and sense of a target's responses: see dmi_answer.h. Pure functions.
// RFC 7143 4.2.2, 11.4.
#include "transport/iscsi/dmi_answer.h"

#include <errno.h>
#include <string.h>

#include "transport/wire/be.h"

static bool has_status(const struct iscsi_pdu *pdu, const uint8_t *bhs)
{
	switch (pdu->opcode) {
	case ISCSI_OP_DATA_IN:
		return bhs[1] & ISCSI_DATA_S;
	case ISCSI_OP_R2T:
		return false;
	case ISCSI_OP_NOP_IN:
		return get_be32(((const struct iscsi_nop_in *)bhs)->itt) != ISCSI_TAG_NONE;
	default:
		return true;
	}
}

// RFC 7143 4.2.2.1: a pair that contradicts itself is ignored; each number only moves forward.
bool dmi_take_numbers(struct dmi_sns *s, const struct iscsi_pdu *pdu, const uint8_t *bhs)
{
	const struct iscsi_scsi_rsp *h = (const void *)bhs; // same offsets in all PDUs
	uint32_t exp = get_be32(h->exp_cmd_sn), max = get_be32(h->max_cmd_sn);
	uint32_t stat = get_be32(h->stat_sn);
	if (has_status(pdu, bhs) && serial32_le(s->exp_stat_sn, stat))
		s->exp_stat_sn = stat + 1;
	if (serial32_lt(max, exp - 1))
		return false;
	if (serial32_lt(s->exp_cmd_sn, exp))
		s->exp_cmd_sn = exp;
	if (!serial32_lt(s->max_cmd_sn, max))
		return false;
	s->max_cmd_sn = max;
	return true;
}

// An error needs no residual to say that data was not written.
static bool is_short(const struct dmi_task *t, uint32_t done)
{
	if (done >= t->len || t->residual_flags & ISCSI_RSP_OVERFLOW)
		return false;
	return t->is_read || (t->is_write && !t->status && !t->response);
}

int dmi_take_residual(struct dmi_task *t, uint8_t flags, uint32_t residual, uint32_t moved,
		      struct err *e)
{
	uint32_t most = t->len;
	t->residual_flags = flags & (ISCSI_RSP_OVERFLOW | ISCSI_RSP_UNDERFLOW);
	t->residual = t->residual_flags ? residual : 0;
	if (t->residual_flags & ISCSI_RSP_UNDERFLOW) {
		if (residual > t->len)
			return err_set(e, -EPROTO,
				       "residual: underflow of %u bytes in a transfer of %u",
				       residual, t->len);
		most -= residual;
	}
	// Data that did not arrive, or was never requested, is missing, whatever the target
	// reports.
	uint32_t done = moved < most ? moved : most;
	if (t->is_read)
		t->data_len = done;
	if (is_short(t, done)) {
		t->residual_flags = ISCSI_RSP_UNDERFLOW;
		t->residual = t->len - done;
	}
	return 0;
}

int dmi_take_sense(struct dmi_task *t, const uint8_t *data, uint32_t len, struct err *e)
{
	uint32_t n = len >= 2 ? get_be16(data) : 0;
	if (len && (len < 2 || n > len - 2))
		return err_set(e, -EPROTO, "sense: %u bytes in a data segment of %u", n, len);
	t->sense_len = (uint16_t)(n < DMI_SENSE_MAX ? n : DMI_SENSE_MAX);
	if (n)
		memcpy(t->sense, data + 2, t->sense_len);
	return 0;
}
