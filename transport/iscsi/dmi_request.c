// SPDX-License-Identifier: BSD-2-Clause
// Tags, command headers and serial numbers of an initiator's PDUs: see dmi_request.h. Pure
// functions. RFC 7143 4.2.2, 11.3.
#include "transport/iscsi/dmi_request.h"

#include <string.h>

#include "transport/wire/be.h"

#define GENERATION_MASK 0xfffffu

_Static_assert((GENERATION_MASK << DMI_SLOT_BITS) < DMI_ROLE_TAG,
	       "tags of commands and of the role");

void dmi_task_begin(struct dmi_task *t, struct dmi_sns *s, uint32_t *generation, uint32_t slot)
{
	t->response = t->status = t->residual_flags = 0;
	t->residual = t->data_len = t->sense_len = 0;
	*generation = (*generation + 1) & GENERATION_MASK;
	t->itt = *generation << DMI_SLOT_BITS | slot;
	t->cmd_sn = s->cmd_sn++;
}

void dmi_put_command(struct iscsi_scsi_cmd *h, const struct dmi_task *t, const struct dmi_sns *s,
		     bool is_final)
{
	h->opcode = ISCSI_OP_SCSI_CMD;
	h->flags = (is_final ? ISCSI_F : 0) | (t->is_read ? ISCSI_CMD_R : 0) |
		   (t->is_write ? ISCSI_CMD_W : 0) | (t->attr & ISCSI_CMD_ATTR_MASK);
	memcpy(h->lun, t->lun, sizeof h->lun);
	put_be32(h->itt, t->itt);
	put_be32(h->edtl, t->is_read || t->is_write ? t->len : 0);
	put_be32(h->cmd_sn, t->cmd_sn);
	put_be32(h->exp_stat_sn, s->exp_stat_sn);
	memcpy(h->cdb, t->cdb, sizeof h->cdb);
}

void dmi_stamp(struct dmi_sns *s, uint8_t *bhs)
{
	struct iscsi_nop_out *h = (void *)bhs; // the numbers have the same offsets in all PDUs
	put_be32(h->cmd_sn, s->cmd_sn);
	put_be32(h->exp_stat_sn, s->exp_stat_sn);
	if (!(h->opcode & ISCSI_I))
		s->cmd_sn++;
}
