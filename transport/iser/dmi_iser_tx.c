// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover, sending side, on the worker that owns the connection: commands
// with their immediate data or their STag, control PDUs. RFC 7145 7.3, 9.2, RFC 7143 11.3.
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

static void ended(struct rnic_slots *slots, void *task, int res)
{
	struct dmi_iser *d = container_of(slots, struct dmi_iser, slots);
	d->dm.up->done(&d->dm, task, res);
}

void dmi_iser_tx_init(struct dmi_iser *d)
{
	d->slots = (struct rnic_slots){ .worker = d->worker,
					.qp = d->qp,
					.count = DMI_ISER_SLOTS,
					.controls_max = DMI_ISER_CONTROLS_MAX,
					.header_max = DMI_ISER_HDR_LEN,
					.data_max = ISER_DATA_MAX,
					.ended = ended };
}

// --- tasks ---

struct rnic_slot *dmi_iser_find(struct dmi_iser *d, uint32_t itt)
{
	struct rnic_slot *s = rnic_slot_at(&d->slots, dmi_tag_slot(itt));
	return s && ((struct dmi_task *)s->task)->itt == itt ? s : NULL;
}

void dmi_iser_finish(struct rnic_slot *s, int res)
{
	rnic_slot_finish(s, ((struct dmi_task *)s->task)->data_len, res);
}

// --- sending ---

static struct iscsi_bhs *slot_bhs(struct rnic_slot *s)
{
	return (void *)(s->sge[0].addr + ISER_HDR_LEN);
}

static void fault_text(struct dmi_iser *d, int code, const char *text)
{
	struct err e;
	err_set(&e, code, "%s", text);
	rnic_slots_fault(&d->slots, &e);
}

// Sends the slot's headers and len bytes of its data.
static bool post(struct rnic_slot *s, uint32_t len)
{
	put_be24(slot_bhs(s)->data_len, len);
	return rnic_slot_post(s, DMI_ISER_HDR_LEN, len);
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

static int advertise(struct rnic_slot *s, struct err *e)
{
	const struct dmi_task *t = s->task;
	s->exposure.sg = t->sg;
	s->exposure.nsg = t->nsg;
	s->exposure.len = t->len;
	s->exposure.is_read = t->is_read;
	s->exposure.keys_max = 1;
	int r = rnic_exposure_begin(&s->exposure, s->of->qp, e);
	if (r < 0)
		return r;
	struct iser_tag tag = { s->exposure.keys->rkey, s->exposure.keys->remote_addr };
	iser_hdr_put(s->sge[0].addr, t->is_write ? &tag : NULL, t->is_read ? &tag : NULL);
	return 0;
}

// Prepares the command's memory; *ret_immediate: bytes of immediate data.
static int prepare(struct dmi_iser *d, struct rnic_slot *s, uint32_t *ret_immediate, struct err *e)
{
	const struct dmi_task *t = s->task;
	*ret_immediate = is_immediate(d, t) ? t->len : 0;
	if (!t->len || !(t->is_read || t->is_write))
		return 0;
	return *ret_immediate ? rnic_slot_gather(s, t->sg, t->len) : advertise(s, e);
}

// If the device refuses it or the connection is closing, the close ends the task.
void dmi_iser_command(struct dmi *dm, struct dmi_task *t)
{
	struct dmi_iser *d = dmi_iser(dm);
	struct rnic_slot *s = rnic_slot_take(&d->slots, t);
	uint32_t immediate;
	struct err e;
	struct iscsi_bhs *h = slot_bhs(s);
	dmi_task_begin(t, &dm->sns, &d->generation, rnic_slot_index(s));
	memset(h, 0, sizeof *h);
	dmi_put_command((void *)h, t, &dm->sns, true);
	iser_hdr_put(s->sge[0].addr, NULL, NULL);
	int r = prepare(d, s, &immediate, &e);
	if (!r) {
		post(s, immediate);
	} else if (r == -ENOMEM) { // or the limit of pinned memory: other commands continue
		dm->sns.cmd_sn--;
		rnic_slot_unsent(s);
	} else {
		rnic_slots_fault(&d->slots, &e);
	}
}

void dmi_iser_send(struct dmi *dm, const uint8_t *bhs, const void *data, uint32_t len,
		   bool is_login)
{
	struct dmi_iser *d = dmi_iser(dm);
	struct rnic_slot *s = len > ISER_DATA_MAX ? NULL : rnic_slot_take_control(&d->slots);
	if (!s) {
		fault_text(d, -EPROTO, "the target requests responses without receiving them");
		return;
	}
	uint8_t *h = (void *)slot_bhs(s);
	if (len && !rnic_slot_data(s)) {
		rnic_slot_put(s);
		fault_text(d, -ENOMEM, "out of registered memory for a PDU");
		return;
	}
	iser_hdr_put(s->sge[0].addr, NULL, NULL);
	memcpy(h, bhs, ISCSI_BHS_LEN);
	if (!is_login)
		dmi_stamp(&dm->sns, h);
	if (len)
		memcpy(s->sge[1].addr, data, len);
	if (!post(s, len))
		rnic_slot_put(s);
}

void dmi_iser_drop(struct dmi *dm, struct dmi_task *t)
{
	struct rnic_slot *s = dmi_iser_find(dmi_iser(dm), t->itt);
	if (s && s->task == t)
		dmi_iser_finish(s, -ECANCELED);
}
