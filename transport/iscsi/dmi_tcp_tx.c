// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover, sending side, on the worker that owns the connection: commands
// with their immediate and unsolicited data, Data-Outs, control PDUs; the life of a task.
// RFC 7143 4.2.5.2, 11.3, 11.7.1. Data is sent directly from the caller's memory.
#include <errno.h>
#include <string.h>

#include "transport/iscsi/dmi_tcp_priv.h"
#include "transport/iscsi/dmi_request.h"
#include "transport/wire/be.h"

// Limit of queued responses for a target that does not read.
#define CONTROL_MAX 256

static struct dmi_tcp *conn_dm(struct pdu_conn *c)
{
	return container_of(c, struct dmi_tcp, conn);
}

// --- tasks ---

static void slot_take(struct dmi_tcp *d, struct dmi_task *t)
{
	uint32_t slot = d->free_slots[--d->free_count];
	dmi_task_begin(t, &d->dm.sns, &d->generation, slot);
	*dmi_tcp_task(t) = (struct dmi_tcp_task){ 0 };
	d->tasks[slot] = t;
}

static void slot_put(struct dmi_tcp *d, struct dmi_task *t)
{
	uint32_t slot = dmi_tag_slot(t->itt);
	if (d->tasks[slot] != t)
		return;
	d->tasks[slot] = NULL;
	d->free_slots[d->free_count++] = (uint16_t)slot;
}

void dmi_tcp_finish(struct dmi_tcp *d, struct dmi_task *t, int res)
{
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	slot_put(d, t);
	if (d->rx_task == t) {
		d->rx_task = NULL;
		pdu_conn_discard(&d->conn, t);
	}
	tt->res = res;
	tt->is_finished = true;
	if (!tt->tx_pending)
		d->dm.up->done(&d->dm, t, res);
}

static void on_task_sent(struct pdu_conn *c, void *owner, int res)
{
	struct dmi_task *t = owner;
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	struct dmi_tcp *d = conn_dm(c);
	if (!--tt->tx_pending && tt->is_finished)
		d->dm.up->done(&d->dm, t, tt->res);
}

static void on_r2t_sent(struct pdu_conn *c, void *owner, int res)
{
	dmi_tcp_task(owner)->r2t_count--;
	on_task_sent(c, owner, res);
}

// --- sending ---

// From a fresh stack: callers do not expect a send function to close the connection.
static void on_fault(struct defer *defer)
{
	struct dmi_tcp *d = container_of(defer, struct dmi_tcp, fault_defer);
	pdu_conn_close(&d->conn, false, &d->fault);
}

static void fault(struct dmi_tcp *d, int code, const char *text)
{
	if (d->conn.is_closed || d->fault.code)
		return;
	err_set(&d->fault, code, "%s", text);
	worker_defer(d->conn.worker, &d->fault_defer, on_fault);
}

static bool out_of_memory(struct dmi_tcp *d)
{
	fault(d, -ENOMEM, "out of memory for a PDU");
	return false;
}

static struct pdu_tx *task_tx(struct dmi_tcp *d, struct dmi_task *t, uint32_t offset, uint32_t len)
{
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	struct pdu_tx *tx = pdu_tx_get(&d->conn);
	if (!tx)
		return NULL;
	tx->sg = t->sg;
	tx->nsg = t->nsg;
	tx->sg_offset = offset;
	tx->data_len = len;
	tx->sent = on_task_sent;
	tx->owner = t;
	tt->tx_pending++;
	return tx;
}

bool dmi_tcp_data_out(struct dmi_tcp *d, struct dmi_task *t, const uint8_t *lun, const uint8_t *ttt,
		      uint32_t offset, uint32_t len)
{
	bool is_solicited = get_be32(ttt) != ISCSI_TAG_NONE;
	for (uint32_t sn = 0; len; sn++) {
		uint32_t n =
			len < d->conn.params.max_send_data ? len : d->conn.params.max_send_data;
		struct pdu_tx *tx = task_tx(d, t, offset, n);
		if (!tx)
			return out_of_memory(d);
		struct iscsi_data_out *h = (void *)tx->bhs;
		h->opcode = ISCSI_OP_DATA_OUT;
		memcpy(h->lun, lun, sizeof h->lun);
		put_be32(h->itt, t->itt);
		memcpy(h->ttt, ttt, sizeof h->ttt);
		put_be32(h->exp_stat_sn, d->dm.sns.exp_stat_sn);
		put_be32(h->data_sn, sn);
		put_be32(h->buffer_offset, offset);
		offset += n;
		len -= n;
		if (!len) {
			h->flags = ISCSI_F;
			if (is_solicited)
				tx->sent = on_r2t_sent;
		}
		pdu_tx_queue(&d->conn, tx);
	}
	return true;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void dmi_tcp_command(struct dmi *dm, struct dmi_task *t)
{
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	static const uint8_t no_ttt[4] = { 0xff, 0xff, 0xff, 0xff };
	struct dmi_tcp *d = dmi_tcp(dm);
	const struct iscsi_params *p = &d->conn.params;
	uint32_t immediate = 0, unsolicited;
	slot_take(d, t);
	if (t->is_write && p->immediate_data)
		immediate = min32(t->len, min32(p->first_burst, p->max_send_data));
	unsolicited = t->is_write && !p->initial_r2t ? min32(t->len, p->first_burst) : immediate;
	struct pdu_tx *tx = task_tx(d, t, 0, immediate);
	if (!tx) {
		out_of_memory(d);
		return;
	}
	dmi_put_command((void *)tx->bhs, t, &dm->sns, unsolicited == immediate);
	tt->out_done = unsolicited;
	pdu_tx_queue(&d->conn, tx);
	dmi_tcp_data_out(d, t, t->lun, no_ttt, immediate, unsolicited - immediate);
}

static void on_control_sent(struct pdu_conn *c, void *owner, int res)
{
	conn_dm(c)->control_pending--;
}

void dmi_tcp_send(struct dmi *dm, const uint8_t *bhs, const void *data, uint32_t len, bool is_login)
{
	struct dmi_tcp *d = dmi_tcp(dm);
	if (d->control_pending >= CONTROL_MAX) {
		fault(d, -EPROTO, "the target requests responses without reading them");
		return;
	}
	struct pdu_tx *tx = pdu_tx_copy(&d->conn, bhs, data, len);
	if (!tx) {
		out_of_memory(d);
		return;
	}
	if (!is_login)
		dmi_stamp(&dm->sns, tx->bhs);
	d->control_pending++;
	tx->sent = on_control_sent;
	pdu_tx_queue(&d->conn, tx);
}
