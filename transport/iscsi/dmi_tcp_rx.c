// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover, receiving side, on the worker that owns the connection: Data-In
// into the caller's memory, R2T, SCSI Response. RFC 7143 11.4, 11.7, 11.8.
//
// Everything from the target is checked: a tag must be that of a command in flight, offsets and
// lengths must continue where the last PDU ended and stay within the command's memory, sense
// data must lie within its segment. Anything else closes the connection, as
// error recovery level 0 requires.
#include <errno.h>
#include <string.h>

#include "transport/iscsi/dmi_tcp_priv.h"
#include "transport/iscsi/dmi_answer.h"
#include "transport/iscsi/dmi_request.h"
#include "transport/wire/be.h"

// Longest data segment of PDUs other than Data-In and text [RFC 7143 13.12: 8192 before any
// negotiation].
#define CONTROL_DATA_MAX 8192

static struct dmi_tcp *conn_dm(struct pdu_conn *c)
{
	return container_of(c, struct dmi_tcp, conn);
}

static int no_task(const struct iscsi_pdu *pdu, uint32_t itt, struct err *e)
{
	return err_set(e, -EPROTO, "%s: no command in flight with tag 0x%08x",
		       iscsi_opcode_name(pdu->opcode), itt);
}

static struct dmi_task *task_find(struct dmi_tcp *d, uint32_t itt)
{
	struct dmi_task *t = d->tasks[dmi_tag_slot(itt)];
	return t && t->itt == itt ? t : NULL;
}

// --- status ---

static int take_response(struct dmi_tcp *d, struct dmi_task *t, const uint8_t *bhs,
			 const uint8_t *data, uint32_t len, struct err *e)
{
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	const struct iscsi_scsi_rsp *h = (const void *)bhs;
	t->response = h->response;
	t->status = h->status;
	int r = dmi_take_residual(t, h->flags, get_be32(h->residual),
				  t->is_write ? tt->out_done : tt->in_done, e);
	if (!r)
		r = dmi_take_sense(t, data, len, e);
	if (!r)
		dmi_tcp_finish(d, t, 0);
	return r;
}

static int scsi_response(struct dmi_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			 struct pdu_sink *sink, struct err *e)
{
	uint32_t itt = get_be32(((const struct iscsi_bhs *)bhs)->itt);
	struct dmi_task *t = task_find(d, itt);
	if (!t)
		return no_task(pdu, itt, e);
	if (!pdu->data_len)
		return take_response(d, t, bhs, NULL, 0, e);
	if (pdu->data_len > CONTROL_DATA_MAX)
		return err_set(e, -EPROTO, "SCSI Response: unexpected data segment of %u bytes",
			       pdu->data_len);
	d->rx_task = t;
	sink->kind = PDU_TO_BUFFER;
	return 0;
}

// --- Data-In ---

static int data_in_end(struct dmi_tcp *d, struct dmi_task *t, const uint8_t *bhs, struct err *e)
{
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	const struct iscsi_data_in *h = (const void *)bhs;
	tt->in_done += get_be24(h->data_len);
	if (!(h->flags & ISCSI_DATA_S))
		return 0;
	t->status = h->status;
	int r = dmi_take_residual(t, h->flags, get_be32(h->residual), tt->in_done, e);
	if (!r)
		dmi_tcp_finish(d, t, 0);
	return r;
}

static int data_in(struct dmi_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		   struct pdu_sink *sink, struct err *e)
{
	const struct iscsi_data_in *h = (const void *)bhs;
	uint32_t itt = get_be32(h->itt), offset = get_be32(h->buffer_offset);
	struct dmi_task *t = task_find(d, itt);
	if (!t)
		return no_task(pdu, itt, e);
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	if (!t->is_read)
		return err_set(e, -EPROTO, "Data-In: the command does not read");
	if (get_be32(h->data_sn) != tt->data_sn)
		return err_set(e, -EPROTO, "Data-In: DataSN %u, expected %u", get_be32(h->data_sn),
			       tt->data_sn);
	if (offset != tt->in_done || (uint64_t)offset + pdu->data_len > t->len)
		return err_set(e, -EPROTO,
			       "Data-In: %u bytes at offset %u, but %u of %u are received",
			       pdu->data_len, offset, tt->in_done, t->len);
	if (!pdu->data_len && !(h->flags & ISCSI_F))
		return err_set(e, -EPROTO, "Data-In: no data, and not the last PDU");
	tt->data_sn++;
	if (!pdu->data_len)
		return data_in_end(d, t, bhs, e);
	d->rx_task = t;
	*sink = (struct pdu_sink){ .kind = PDU_TO_SG,
				   .sg = t->sg,
				   .nsg = t->nsg,
				   .len = pdu->data_len,
				   .sg_offset = offset,
				   .owner = t };
	return 0;
}

// --- R2T ---

static int r2t(struct dmi_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs, struct err *e)
{
	const struct iscsi_r2t *h = (const void *)bhs;
	uint32_t itt = get_be32(h->itt), offset = get_be32(h->buffer_offset);
	uint32_t len = get_be32(h->desired_len);
	struct dmi_task *t = task_find(d, itt);
	if (!t)
		return no_task(pdu, itt, e);
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	if (!t->is_write)
		return err_set(e, -EPROTO, "R2T: the command does not write");
	if (get_be32(h->r2t_sn) != tt->r2t_sn)
		return err_set(e, -EPROTO, "R2T: R2TSN %u, expected %u", get_be32(h->r2t_sn),
			       tt->r2t_sn);
	if (offset != tt->out_done || (uint64_t)offset + len > t->len)
		return err_set(e, -EPROTO, "R2T: %u bytes at offset %u, but %u of %u are requested",
			       len, offset, tt->out_done, t->len);
	if (len > d->conn.params.max_burst)
		return err_set(e, -EPROTO, "R2T: %u bytes exceed MaxBurstLength %u", len,
			       d->conn.params.max_burst);
	if (tt->r2t_count >= d->conn.params.max_outstanding_r2t)
		return err_set(e, -EPROTO, "R2T: more than %u outstanding (MaxOutstandingR2T)",
			       d->conn.params.max_outstanding_r2t);
	tt->r2t_sn++;
	tt->r2t_count++;
	tt->out_done += len;
	dmi_tcp_data_out(d, t, h->lun, h->ttt, offset, len);
	return 0;
}

// --- called by the connection ---

static int control_header(struct dmi_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			  struct pdu_sink *sink, struct err *e)
{
	if (!pdu->data_len)
		return d->dm.up->control(&d->dm, pdu, bhs, NULL, e);
	if (pdu->data_len > CONTROL_DATA_MAX && pdu->opcode != ISCSI_OP_TEXT_RSP)
		return err_set(e, -EPROTO, "%s: unexpected data segment of %u bytes",
			       iscsi_opcode_name(pdu->opcode), pdu->data_len);
	sink->kind = PDU_TO_BUFFER;
	return 0;
}

static int header(struct dmi_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		  struct pdu_sink *sink, struct err *e)
{
	switch (pdu->opcode) {
	case ISCSI_OP_DATA_IN:
		return data_in(d, pdu, bhs, sink, e);
	case ISCSI_OP_SCSI_RSP:
		return scsi_response(d, pdu, bhs, sink, e);
	case ISCSI_OP_R2T:
		return r2t(d, pdu, bhs, e);
	default:
		return control_header(d, pdu, bhs, sink, e);
	}
}

// A violation closes the connection at once, without sending what is queued.
static int end(struct dmi_tcp *d, int r, const struct err *e)
{
	if (r < 0)
		pdu_conn_close(&d->conn, false, e);
	else if (d->has_window_moved && !d->conn.is_closed) {
		d->has_window_moved = false;
		d->dm.up->window(&d->dm);
	}
	return r;
}

static int on_header(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     const uint8_t *ahs, struct pdu_sink *sink, struct err *e)
{
	struct dmi_tcp *d = conn_dm(c);
	d->rx_task = NULL;
	if (c->phase != ISCSI_PHASE_LOGIN && dmi_take_numbers(&d->dm.sns, pdu, bhs))
		d->has_window_moved = true;
	return end(d, header(d, pdu, bhs, sink, e), e);
}

static int received(struct dmi_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		    const uint8_t *data, int res, struct err *e)
{
	if (res)
		return err_set(e, res, "%s in %s",
			       res == -EFAULT ? "memory of the data is gone" : "data digest error",
			       iscsi_opcode_name(pdu->opcode));
	struct dmi_task *t = d->rx_task;
	d->rx_task = NULL;
	switch (pdu->opcode) {
	case ISCSI_OP_DATA_IN:
		return t ? data_in_end(d, t, bhs, e) : 0;
	case ISCSI_OP_SCSI_RSP:
		return t && data ? take_response(d, t, bhs, data, pdu->data_len, e) : 0;
	default:
		return data ? d->dm.up->control(&d->dm, pdu, bhs, data, e) : 0;
	}
}

static int on_received(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, int res, struct err *e)
{
	struct dmi_tcp *d = conn_dm(c);
	return end(d, received(d, pdu, bhs, data, res, e), e);
}

static int on_reject(struct pdu_conn *c, uint8_t reason, const uint8_t *bhs, struct err *e)
{
	return err_set(e, -EPROTO, "malformed PDU"); // an initiator cannot Reject
}

static void on_closed(struct pdu_conn *c, const struct err *e)
{
	struct dmi_tcp *d = conn_dm(c);
	worker_defer_cancel(&d->fault_defer);
	for (unsigned i = 0; i < DMI_TASKS_MAX; i++)
		if (d->tasks[i])
			dmi_tcp_finish(d, d->tasks[i], -EPIPE);
	d->dm.up->closed(&d->dm, e);
}

static void on_ahead(struct pdu_conn *c, const uint8_t *bhs)
{
}

const struct pdu_conn_ops dmi_tcp_conn_ops = {
	.header = on_header,
	.received = on_received,
	.ahead = on_ahead,
	.reject = on_reject,
	.closed = on_closed,
};
