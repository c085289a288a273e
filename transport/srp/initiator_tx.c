// SPDX-License-Identifier: BSD-2-Clause
// The initiator's end of a channel, sending: commands with their memory or their immediate data,
// task management, answers; credits. On the worker that owns it. T10 SRP 4.6, 5.3, 6.7, 6.8.
//
// A write is sent as immediate data if all of it fits, which saves the target an RDMA Read. Else
// one direct descriptor describes the memory if the device exposes it by one key, an indirect table
// in the IU if it takes several.
#include <errno.h>
#include <string.h>

#include "transport/srp/initiator_priv.h"
#include "transport/wire/be.h"

// --- tasks ---

static void ended(struct rnic_slots *slots, void *task, int res)
{
	struct srpi_channel *ch = container_of(slots, struct srpi_channel, slots);
	struct srpi_task *t = task;
	t->slot = NULL;
	ch->tasks--;
	ch->up->done(ch, t, res);
}

void srpi_tx_init(struct srpi_channel *ch)
{
	ch->slots = (struct rnic_slots){ .worker = ch->worker,
					 .qp = ch->qp,
					 .count = SRPI_SLOTS,
					 .controls_max = SRPI_CONTROLS_MAX,
					 .header_max = SRPI_HEADER_MAX,
					 .data_max = SRP_IMM_MAX,
					 .ended = ended };
}

struct rnic_slot *srpi_slot(struct srpi_channel *ch, uint64_t tag)
{
	struct rnic_slot *s = rnic_slot_at(&ch->slots, tag & ((1u << SRPI_SLOT_BITS) - 1));
	return s && ((struct srpi_task *)s->task)->tag == tag ? s : NULL;
}

void srpi_finish(struct rnic_slot *slot, int res)
{
	rnic_slot_finish(slot, ((struct srpi_task *)slot->task)->data_len, res);
}

// --- a command's data ---

// Bytes of its header with the length of the immediate data.
static uint32_t put_immediate(uint8_t *iu, uint32_t len)
{
	((struct srp_cmd *)iu)->buf_fmt = SRP_IMMEDIATE << 4;
	memset(iu + SRP_CMD_LEN, 0, SRP_IMM_OFFSET - SRP_CMD_LEN);
	put_be32(iu + SRP_CMD_LEN, len);
	return SRP_IMM_OFFSET;
}

static uint32_t put_direct(uint8_t *iu, const struct rnic_exposure *x)
{
	const struct srp_desc d = { x->keys->remote_addr, x->keys->rkey, x->len };
	((struct srp_cmd *)iu)->buf_fmt = x->is_read ? SRP_DIRECT : SRP_DIRECT << 4;
	srp_desc_put(iu + SRP_CMD_LEN, &d);
	return SRP_CMD_LEN + SRP_DIRECT_LEN;
}

// The whole table is in the IU: the target need not read it, its address and key are none.
static uint32_t put_table(uint8_t *iu, const struct rnic_exposure *x)
{
	struct srp_cmd *c = (void *)iu;
	struct srp_indirect_desc *table = (void *)(iu + SRP_CMD_LEN);
	uint8_t *to = iu + SRP_CMD_LEN + SRP_INDIRECT_LEN;
	const struct srp_desc whole = { .len = x->count * SRP_DIRECT_LEN };
	c->buf_fmt = x->is_read ? SRP_INDIRECT : SRP_INDIRECT << 4;
	*(x->is_read ? &c->in_count : &c->out_count) = (uint8_t)x->count;
	srp_desc_put((void *)&table->table, &whole);
	put_be32(table->len, x->len);
	for (uint32_t i = 0, left = x->len; i < x->count; i++, to += SRP_DIRECT_LEN) {
		uint32_t n = x->sg[i].len < left ? x->sg[i].len : left;
		const struct srp_desc d = { x->keys[i].remote_addr, x->keys[i].rkey, n };
		srp_desc_put(to, &d);
		left -= n;
	}
	return (uint32_t)(to - iu);
}

static int expose(struct rnic_slot *slot, const struct srpi_task *t, uint32_t keys_max,
		  struct err *e)
{
	slot->exposure.sg = t->sg;
	slot->exposure.nsg = t->nsg;
	slot->exposure.len = t->len;
	slot->exposure.is_read = t->is_read;
	slot->exposure.keys_max = keys_max;
	return rnic_exposure_begin(&slot->exposure, slot->of->qp, e);
}

// Prepares the command's memory; *ret_header: bytes of the IU before immediate data.
static int prepare(struct srpi_channel *ch, struct rnic_slot *slot, uint32_t *ret_header,
		   uint32_t *ret_immediate, struct err *e)
{
	const struct srpi_task *t = slot->task;
	uint8_t *iu = slot->sge[0].addr;
	*ret_header = SRP_CMD_LEN;
	*ret_immediate = 0;
	if (!t->len || !(t->is_read || t->is_write))
		return 0;
	if (t->is_write && t->len <= ch->imm_max) {
		*ret_immediate = t->len;
		*ret_header = put_immediate(iu, t->len);
		return rnic_slot_gather(slot, t->sg, t->len);
	}
	int r = expose(slot, t, ch->keys_max, e);
	if (!r)
		*ret_header = slot->exposure.count == 1 ? put_direct(iu, &slot->exposure)
							: put_table(iu, &slot->exposure);
	return r;
}

// --- commands ---

unsigned srpi_room(const struct srpi_channel *ch)
{
	if (!ch->is_up || ch->slots.is_closing || ch->slots.fault.code || ch->credits < 2)
		return 0;
	unsigned tasks = ch->tasks_max - ch->tasks;
	return ch->credits - 1 < tasks ? (unsigned)(ch->credits - 1) : tasks;
}

// If the device refuses it or the connection is closing, the close ends the task.
void srpi_send(struct srpi_channel *ch, struct srpi_task *t)
{
	struct rnic_slot *slot = rnic_slot_take(&ch->slots, t);
	uint32_t header, immediate;
	struct err e;
	ch->tasks++;
	t->slot = slot;
	t->tag = srpi_tag(ch, rnic_slot_index(slot));
	t->status = 0;
	t->is_under = t->is_over = false;
	t->residual = t->data_len = t->sense_len = 0;
	srp_command_put(slot->sge[0].addr, t->tag, t->lun, t->attr, t->cdb);
	int r = prepare(ch, slot, &header, &immediate, &e);
	if (!r) {
		ch->credits--;
		rnic_slot_post(slot, header, immediate);
	} else if (r == -ENOMEM) { // or the limit of pinned memory: other commands continue
		rnic_slot_unsent(slot);
	} else {
		rnic_slots_fault(&ch->slots, &e);
	}
}

void srpi_drop(struct srpi_channel *ch, struct srpi_task *t, int res)
{
	struct rnic_slot *slot = srpi_slot(ch, t->tag);
	if (slot && slot->task == t)
		srpi_finish(slot, res);
}

// --- other IUs ---

static struct rnic_slot *control(struct srpi_channel *ch)
{
	struct err e;
	struct rnic_slot *slot = rnic_slot_take_control(&ch->slots);
	if (!slot) {
		err_set(&e, -EPROTO, "the target requests responses without receiving them");
		rnic_slots_fault(&ch->slots, &e);
	}
	return slot;
}

static void post_control(struct rnic_slot *slot, uint32_t len)
{
	if (!rnic_slot_post(slot, len, 0))
		rnic_slot_put(slot);
}

void srpi_answer(struct srpi_channel *ch, enum srp_opcode opcode, uint64_t tag)
{
	struct rnic_slot *slot = control(ch);
	if (!slot)
		return;
	srp_short_put(slot->sge[0].addr, opcode, tag, 0);
	post_control(slot, SRP_SHORT_LEN);
}

int srpi_task_mgmt(struct srpi_channel *ch, enum srp_tmf function, const uint8_t lun[8],
		   const struct srpi_task *t)
{
	if (!ch->is_up || ch->slots.is_closing)
		return -EPIPE;
	if (ch->has_tmf || ch->credits < 1)
		return -EBUSY;
	struct rnic_slot *slot = control(ch);
	if (!slot)
		return -EBUSY;
	ch->has_tmf = true;
	ch->tmf_tag = SRPI_TMF_TAG | srpi_tag(ch, 0);
	ch->credits--;
	const struct srp_task_mgmt m = { .tag = ch->tmf_tag,
					 .task_tag = t ? t->tag : 0,
					 .lun = lun,
					 .function = (uint8_t)function };
	srp_task_mgmt_put(slot->sge[0].addr, &m);
	post_control(slot, SRP_TSK_MGMT_LEN);
	return 0;
}
