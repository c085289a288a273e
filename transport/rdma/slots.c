// SPDX-License-Identifier: BSD-2-Clause
// Slots of an initiator's mover: see slots.h.
#include "transport/rdma/slots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- why the connection closes ---

void rnic_slots_close(struct rnic_slots *s, const struct err *why)
{
	if (s->is_closing)
		return;
	s->is_closing = true;
	rnic_close(s->qp, false, why);
}

// From a fresh stack: callers do not expect a send function to close the connection.
static void on_fault(struct defer *defer)
{
	struct rnic_slots *s = container_of(defer, struct rnic_slots, fault_defer);
	rnic_slots_close(s, &s->fault);
}

void rnic_slots_fault(struct rnic_slots *s, const struct err *why)
{
	if (s->is_closing || s->fault.code)
		return;
	s->fault = *why;
	worker_defer(s->worker, &s->fault_defer, on_fault);
}

// --- slots ---

static struct rnic_slot *take(struct rnic_slots *s, void *task)
{
	struct rnic_slot *slot = s->free;
	s->free = slot->next_free;
	slot->task = task;
	slot->is_sending = slot->is_finished = false;
	return slot;
}

static void put(struct rnic_slot *slot)
{
	slot->task = NULL;
	slot->next_free = slot->of->free;
	slot->of->free = slot;
}

struct rnic_slot *rnic_slot_take(struct rnic_slots *s, void *task)
{
	return take(s, task);
}

struct rnic_slot *rnic_slot_take_control(struct rnic_slots *s)
{
	if (s->controls == s->controls_max)
		return NULL;
	s->controls++;
	return take(s, NULL);
}

void rnic_slot_put(struct rnic_slot *slot)
{
	slot->of->controls--;
	put(slot);
}

unsigned rnic_slot_index(const struct rnic_slot *slot)
{
	return (unsigned)(slot - slot->of->slot);
}

struct rnic_slot *rnic_slot_at(struct rnic_slots *s, uint64_t index)
{
	struct rnic_slot *slot = s->slot && index < s->count ? &s->slot[index] : NULL;
	return slot && slot->task && !slot->is_finished ? slot : NULL;
}

// --- the end of a command ---

static void end(struct rnic_slot *slot)
{
	struct rnic_slots *s = slot->of;
	void *task = slot->task;
	int res = slot->res;
	put(slot);
	s->ended(s, task, res);
}

void rnic_slot_finish(struct rnic_slot *slot, uint32_t filled, int res)
{
	rnic_exposure_end(&slot->exposure, slot->of->qp, filled);
	slot->res = res;
	slot->is_finished = true;
	if (!slot->is_sending)
		end(slot);
}

static void on_unsent(struct defer *defer)
{
	struct rnic_slots *s = container_of(defer, struct rnic_slots, unsent_defer);
	for (unsigned i = 0; i < s->count; i++) {
		struct rnic_slot *slot = &s->slot[i];
		if (slot->task && slot->is_finished && slot->res == -ENOMEM)
			end(slot);
	}
}

// From a fresh stack, since callers do not expect the call that sends a command to end it.
void rnic_slot_unsent(struct rnic_slot *slot)
{
	rnic_exposure_end(&slot->exposure, slot->of->qp, 0);
	slot->is_finished = true;
	slot->res = -ENOMEM;
	worker_defer(slot->of->worker, &slot->of->unsent_defer, on_unsent);
}

// --- sending ---

static void on_sent(struct rnic_wr *wr, int res)
{
	struct rnic_slot *slot = container_of(wr, struct rnic_slot, wr);
	slot->is_sending = false;
	if (!slot->task)
		rnic_slot_put(slot);
	else if (slot->is_finished)
		end(slot);
}

bool rnic_slot_data(struct rnic_slot *slot)
{
	if (!slot->own.addr) {
		struct rnic_slots *s = slot->of;
		struct buf *b = buf_get(s->worker, s->data_max);
		slot->own.mr = b ? rnic_find(s->qp->rnic, b->addr, s->data_max) : NULL;
		if (!slot->own.mr) {
			buf_put(b);
			return false;
		}
		slot->data = b;
		slot->own.addr = b->addr;
	}
	slot->sge[1] = slot->own;
	return true;
}

int rnic_slot_gather(struct rnic_slot *slot, const struct sg *sg, uint32_t len)
{
	struct rnic_slots *s = slot->of;
	struct rnic_mr *mr = sg[0].len < len ? NULL : rnic_find(s->qp->rnic, sg[0].addr, len);
	if (mr) {
		slot->sge[1] = (struct rnic_sge){ .addr = sg[0].addr, .mr = mr };
		return 0;
	}
	if (!rnic_slot_data(slot))
		return -ENOMEM;
	uint8_t *to = slot->own.addr;
	for (uint32_t left = len; left; sg++) {
		uint32_t n = sg->len < left ? sg->len : left;
		buf_copy(s->worker, to, sg->addr, n);
		to += n;
		left -= n;
	}
	return 0;
}

bool rnic_slot_post(struct rnic_slot *slot, uint32_t header, uint32_t data)
{
	struct err e;
	slot->sge[0].len = header;
	slot->sge[1].len = data;
	slot->wr.nsge = data ? 2 : 1;
	slot->is_sending = rnic_post(slot->of->qp, &slot->wr) == 0;
	if (slot->is_sending)
		return true;
	err_set(&e, -EIO, "the device does not accept a message of %u bytes", header + data);
	rnic_slots_fault(slot->of, &e);
	return false;
}

// --- start and end of the connection ---

int rnic_slots_open(struct rnic_slots *s, struct err *e)
{
	uint32_t len = s->count * s->header_max;
	s->slot = calloc(s->count, sizeof *s->slot);
	s->headers = buf_get(s->worker, len);
	struct rnic_mr *mr = s->headers ? rnic_find(s->qp->rnic, s->headers->addr, len) : NULL;
	if (!s->slot || !mr)
		return err_set(e, -ENOMEM, "out of registered memory for messages");
	for (unsigned i = s->count; i--;) {
		struct rnic_slot *slot = &s->slot[i];
		slot->of = s;
		slot->wr = (struct rnic_wr){ .opcode = RNIC_SEND,
					     .flags = RNIC_SIGNALED,
					     .sge = slot->sge,
					     .done = on_sent };
		slot->sge[0] =
			(struct rnic_sge){ .addr = s->headers->addr + i * s->header_max, .mr = mr };
		put(slot);
	}
	return 0;
}

void rnic_slots_closed(struct rnic_slots *s)
{
	s->is_closing = true;
	worker_defer_cancel(&s->fault_defer);
	worker_defer_cancel(&s->unsent_defer);
	for (unsigned i = 0; s->slot && i < s->count; i++) {
		struct rnic_slot *slot = &s->slot[i];
		if (!slot->task)
			continue;
		slot->is_sending = false;
		rnic_exposure_lost(&slot->exposure);
		rnic_slot_finish(slot, 0, slot->is_finished ? slot->res : -EPIPE);
	}
}

void rnic_slots_free(struct rnic_slots *s)
{
	worker_defer_cancel(&s->fault_defer);
	for (unsigned i = 0; s->slot && i < s->count; i++) {
		buf_put(s->slot[i].data);
		rnic_exposure_done(&s->slot[i].exposure);
	}
	buf_put(s->headers);
	free(s->slot);
}

// --- a connect that failed ---

static void cure_of(char *ret, size_t size, int code, const char *protocol)
{
	switch (code) {
	case -ECONNREFUSED:
		snprintf(ret, size, "check that a target listens there with %s enabled", protocol);
		break;
	case -ECONNRESET:
	case -EPROTO:
		snprintf(ret, size, "check that %s is enabled on that portal", protocol);
		break;
	case -ETIMEDOUT:
		snprintf(ret, size, "check the address and firewalls");
		break;
	}
}

void rnic_connect_failed(struct err *ret, const char *protocol, const struct err *why)
{
	char cure[64] = "";
	cure_of(cure, sizeof cure, why->code, protocol);
	if (cure[0] && !strchr(why->text, '('))
		err_set(ret, why->code, "%s: connect: %.160s (%s)", protocol, why->text, cure);
	else
		err_set(ret, why->code, "%s: connect: %.200s", protocol, why->text);
}
