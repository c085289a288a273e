// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover, sending side, on the worker that owns the connection: commands
// with their immediate data or their STag, control PDUs; the life of a task. RFC 7145 7.3, 9.2,
// RFC 7143 11.3.
//
// Write data is sent in the command PDU if all of it fits there, which saves the target an
// RDMA Read; a longer write has no immediate data at all, so that every byte goes directly
// to its destination.
#include <errno.h>
#include <string.h>

#include "transport/iscsi/dmi_request.h"
#include "transport/iser/dmi_iser_priv.h"
#include "transport/wire/be.h"

_Static_assert(DMI_ISER_SLOTS <= 1 << DMI_SLOT_BITS, "slots fit into the lower bits of an ITT");

// --- why the connection closes ---

void dmi_iser_close_now(struct dmi_iser *d, const struct err *why)
{
	if (d->is_closing)
		return;
	d->is_closing = true;
	rnic_close(d->qp, false, why);
}

// From a fresh stack: callers do not expect a send function to close the connection.
static void on_fault(struct defer *defer)
{
	struct dmi_iser *d = container_of(defer, struct dmi_iser, fault_defer);
	dmi_iser_close_now(d, &d->fault);
}

void dmi_iser_fault(struct dmi_iser *d, const struct err *e)
{
	if (d->is_closing || d->fault.code)
		return;
	d->fault = *e;
	worker_defer(d->worker, &d->fault_defer, on_fault);
}

// --- slots ---

static struct dmi_iser_slot *slot_take(struct dmi_iser *d, struct dmi_task *t)
{
	struct dmi_iser_slot *s = &d->slots[d->free_slots[--d->free_count]];
	s->task = t;
	s->is_sending = s->is_finished = false;
	return s;
}

static void slot_put(struct dmi_iser_slot *s)
{
	struct dmi_iser *d = s->d;
	s->task = NULL;
	d->free_slots[d->free_count++] = (uint8_t)(s - d->slots);
}

struct dmi_iser_slot *dmi_iser_find(struct dmi_iser *d, uint32_t itt)
{
	uint32_t i = dmi_tag_slot(itt);
	struct dmi_task *t = i < DMI_ISER_SLOTS ? d->slots[i].task : NULL;
	return t && t->itt == itt && !d->slots[i].is_finished ? &d->slots[i] : NULL;
}

static void end(struct dmi_iser_slot *s)
{
	struct dmi_iser *d = s->d;
	struct dmi_task *t = s->task;
	int res = s->res;
	slot_put(s);
	d->dm.up->done(&d->dm, t, res);
}

void dmi_iser_finish(struct dmi_iser_slot *s, int res)
{
	dmi_iser_conceal(s);
	s->res = res;
	s->is_finished = true;
	if (!s->is_sending)
		end(s);
}

// --- sending ---

static void on_task_sent(struct rnic_wr *wr, int res)
{
	struct dmi_iser_slot *s = container_of(wr, struct dmi_iser_slot, wr);
	s->is_sending = false;
	if (s->is_finished)
		end(s);
}

static void on_control_sent(struct rnic_wr *wr, int res)
{
	struct dmi_iser_slot *s = container_of(wr, struct dmi_iser_slot, wr);
	s->d->controls--;
	slot_put(s);
}

static struct iscsi_bhs *slot_bhs(struct dmi_iser_slot *s)
{
	return (void *)(s->sge[0].addr + ISER_HDR_LEN);
}

// Gives the slot memory for data, as its second piece. False: no memory.
static bool slot_data(struct dmi_iser_slot *s)
{
	if (!s->own.addr) {
		struct dmi_iser *d = s->d;
		struct buf *b = buf_get(d->worker, ISER_DATA_MAX);
		s->own.mr = b ? rnic_find(d->qp->rnic, b->addr, ISER_DATA_MAX) : NULL;
		if (!s->own.mr) {
			buf_put(b);
			return false;
		}
		d->data[s - d->slots] = b;
		s->own.addr = b->addr;
	}
	s->sge[1] = s->own;
	return true;
}

static void fault_text(struct dmi_iser *d, int code, const char *text)
{
	struct err e;
	err_set(&e, code, "%s", text);
	dmi_iser_fault(d, &e);
}

// Sends the slot's headers and len bytes of its data.
static bool post(struct dmi_iser_slot *s, uint32_t len, void (*done)(struct rnic_wr *wr, int res))
{
	struct iscsi_bhs *h = slot_bhs(s);
	put_be24(h->data_len, len);
	s->sge[1].len = len;
	s->wr.nsge = len ? 2 : 1;
	s->wr.done = done;
	if (rnic_post(s->d->qp, &s->wr) == 0)
		return true;
	fault_text(s->d, -EIO, "the device does not accept a PDU");
	return false;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool is_immediate(const struct dmi_iser *d, const struct dmi_task *t)
{
	const struct iscsi_params *p = &d->params;
	return t->is_write && p->immediate_data &&
	       t->len <= min32(min32(p->first_burst, p->max_send_data), ISER_DATA_MAX);
}

// Directly from the command's memory if the device knows it. -ENOMEM.
static int add_immediate(struct dmi_iser_slot *s)
{
	const struct dmi_task *t = s->task;
	struct rnic_mr *mr =
		t->sg[0].len < t->len ? NULL : rnic_find(s->d->qp->rnic, t->sg[0].addr, t->len);
	if (mr) {
		s->sge[1] = (struct rnic_sge){ .addr = t->sg[0].addr, .mr = mr };
		return 0;
	}
	if (!slot_data(s))
		return -ENOMEM;
	uint8_t *to = s->own.addr;
	for (uint32_t i = 0, left = t->len; left; i++) {
		uint32_t n = min32(t->sg[i].len, left);
		buf_copy(s->d->worker, to, t->sg[i].addr, n);
		to += n;
		left -= n;
	}
	return 0;
}

static int advertise(struct dmi_iser_slot *s, struct err *e)
{
	const struct dmi_task *t = s->task;
	int r = dmi_iser_expose(s, e);
	if (r < 0)
		return r;
	struct iser_tag tag = { s->exposed.rkey, s->exposed.remote_addr };
	iser_hdr_put(s->sge[0].addr, t->is_write ? &tag : NULL, t->is_read ? &tag : NULL);
	return 0;
}

// --- tasks that could not be sent ---

static void on_unsent(struct defer *defer)
{
	struct dmi_iser *d = container_of(defer, struct dmi_iser, unsent_defer);
	for (unsigned i = 0; i < DMI_ISER_SLOTS; i++) {
		struct dmi_iser_slot *s = &d->slots[i];
		if (s->task && s->is_finished && s->res == -ENOMEM)
			end(s);
	}
}

// No memory, or the limit of pinned memory is reached: other commands continue. From a fresh stack,
// since callers do not expect the call that sends a command to end it.
static void end_unsent(struct dmi_iser_slot *s)
{
	s->d->dm.sns.cmd_sn--;
	dmi_iser_conceal(s);
	s->is_finished = true;
	s->res = -ENOMEM;
	worker_defer(s->d->worker, &s->d->unsent_defer, on_unsent);
}

// Prepares the command's memory; *ret_immediate: bytes of immediate data.
static int prepare(struct dmi_iser_slot *s, uint32_t *ret_immediate, struct err *e)
{
	const struct dmi_task *t = s->task;
	*ret_immediate = is_immediate(s->d, t) ? t->len : 0;
	if (!t->len || !(t->is_read || t->is_write))
		return 0;
	return *ret_immediate ? add_immediate(s) : advertise(s, e);
}

// If the device refuses it or the connection is closing, the close ends the task.
void dmi_iser_command(struct dmi *dm, struct dmi_task *t)
{
	struct dmi_iser *d = dmi_iser(dm);
	struct dmi_iser_slot *s = slot_take(d, t);
	uint32_t immediate;
	struct err e;
	struct iscsi_bhs *h = slot_bhs(s);
	dmi_task_begin(t, &dm->sns, &d->generation, (uint32_t)(s - d->slots));
	memset(h, 0, sizeof *h);
	dmi_put_command((void *)h, t, &dm->sns, true);
	iser_hdr_put(s->sge[0].addr, NULL, NULL);
	int r = prepare(s, &immediate, &e);
	if (!r)
		s->is_sending = post(s, immediate, on_task_sent);
	else if (r == -ENOMEM)
		end_unsent(s);
	else
		dmi_iser_fault(d, &e);
}

void dmi_iser_send(struct dmi *dm, const uint8_t *bhs, const void *data, uint32_t len,
		   bool is_login)
{
	struct dmi_iser *d = dmi_iser(dm);
	if (d->controls == DMI_ISER_CONTROLS_MAX || len > ISER_DATA_MAX) {
		fault_text(d, -EPROTO, "the target requests responses without receiving them");
		return;
	}
	struct dmi_iser_slot *s = slot_take(d, NULL);
	uint8_t *h = (void *)slot_bhs(s);
	if (len && !slot_data(s)) {
		slot_put(s);
		fault_text(d, -ENOMEM, "out of registered memory for a PDU");
		return;
	}
	d->controls++;
	iser_hdr_put(s->sge[0].addr, NULL, NULL);
	memcpy(h, bhs, ISCSI_BHS_LEN);
	if (!is_login)
		dmi_stamp(&dm->sns, h);
	if (len)
		memcpy(s->sge[1].addr, data, len);
	if (!post(s, len, on_control_sent))
		on_control_sent(&s->wr, -EIO);
}

void dmi_iser_drop(struct dmi *dm, struct dmi_task *t)
{
	struct dmi_iser_slot *s = dmi_iser_find(dmi_iser(dm), t->itt);
	if (s && s->task == t)
		dmi_iser_finish(s, -ECANCELED);
}

// --- start and end of the connection ---

int dmi_iser_tx_open(struct dmi_iser *d, struct err *e)
{
	d->headers = buf_get(d->worker, DMI_ISER_SLOTS * DMI_ISER_HDR_LEN);
	struct rnic_mr *mr = d->headers ? rnic_find(d->qp->rnic, d->headers->addr,
						    DMI_ISER_SLOTS * DMI_ISER_HDR_LEN)
					: NULL;
	if (!mr)
		return err_set(e, -ENOMEM, "out of registered memory for PDUs");
	for (unsigned i = 0; i < DMI_ISER_SLOTS; i++) {
		struct dmi_iser_slot *s = &d->slots[i];
		s->d = d;
		s->wr.opcode = RNIC_SEND;
		s->wr.flags = RNIC_SIGNALED;
		s->wr.sge = s->sge;
		s->sge[0] = (struct rnic_sge){ .addr = d->headers->addr + i * DMI_ISER_HDR_LEN,
					       .len = DMI_ISER_HDR_LEN,
					       .mr = mr };
		d->free_slots[i] = (uint8_t)(DMI_ISER_SLOTS - 1 - i);
	}
	d->free_count = DMI_ISER_SLOTS;
	return 0;
}

void dmi_iser_tx_close(struct dmi_iser *d)
{
	for (unsigned i = 0; i < DMI_ISER_SLOTS; i++) {
		struct dmi_iser_slot *s = &d->slots[i];
		if (!s->task)
			continue;
		s->is_sending = false;
		s->is_exposed = false; // the close has ended it
		dmi_iser_finish(s, s->is_finished ? s->res : -EPIPE);
	}
}

void dmi_iser_tx_free(struct dmi_iser *d)
{
	for (unsigned i = 0; i < DMI_ISER_SLOTS; i++)
		buf_put(d->data[i]);
	buf_put(d->headers);
}
