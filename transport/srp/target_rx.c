// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel, receiving side: IUs are checked and passed up, and counted against
// the REQUEST LIMIT. T10 SRP 5.2, 6.6 to 6.15. The connection's worker.
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "transport/srp/target_priv.h"

// --- commands ---

// Zeroing the whole struct would take longer than the rest.
static void task_init(struct srp_channel *ch, struct srp_task *t, uint64_t tag)
{
	memset(t, 0, offsetof(struct srp_task, sg));
	t->tag = tag;
	t->channel = ch;
	t->move.of = &ch->transfers;
	list_push_back(&ch->tasks, &t->link);
}

static void task_begin(struct srp_channel *ch, const struct srp_command *c)
{
	struct srp_task *t = ch->up->command(ch, c);
	if (!t) {
		srpc_owe(ch);
		return;
	}
	if (srpc_sides_copy(ch, &t->out, &t->in, c) < 0) {
		srpc_send_busy(ch, c->tag);
		ch->up->released(ch, t);
		return;
	}
	task_init(ch, t, c->tag);
	if (c->out.format == SRP_IMMEDIATE && c->out.len)
		srpc_keep_immediate(t, c->out.imm);
	ch->up->begin(ch, t);
	if (ch->rx_task)
		srpc_give_back(ch->rx_task);
	ch->rx_task = NULL;
}

static int on_command(struct srp_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	struct srp_command c;
	int r = srp_command_parse(&c, iu, len, ch->imm_offset, e);
	if (r == -EINVAL) {
		srpc_send_invalid(ch, c.tag);
		return 0;
	}
	if (!r)
		task_begin(ch, &c);
	return r;
}

// --- other IUs ---

static int on_task_mgmt(struct srp_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	struct srp_task_mgmt m;
	int r = srp_task_mgmt_parse(&m, iu, len, e);
	if (!r)
		ch->up->task_mgmt(ch, &m);
	return r;
}

static int on_logout(struct srp_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	uint64_t tag;
	uint32_t value;
	int r = srp_short_parse(&tag, &value, iu, len, e);
	if (!r)
		ch->up->logout(ch);
	return r;
}

static int on_cred_rsp(struct srp_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	uint64_t tag;
	uint32_t value;
	int r = srp_short_parse(&tag, &value, iu, len, e);
	if (!r)
		srpc_on_cred_rsp(ch, tag);
	return r;
}

static int on_aer_rsp(struct srp_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	uint64_t tag;
	uint32_t value;
	int r = srp_short_parse(&tag, &value, iu, len, e);
	if (!r)
		srpc_on_aer_rsp(ch, tag);
	return r;
}

// --- IUs ---

static const struct iu_row {
	uint8_t opcode;
	bool takes_credit;
	// 0, or -EPROTO: the channel is closed.
	int (*handle)(struct srp_channel *ch, const uint8_t *iu, uint32_t len, struct err *e);
} rows[] = {
	{SRP_CMD,	   true,	 on_command  },
	    { SRP_TSK_MGMT, true,  on_task_mgmt},
	{ SRP_I_LOGOUT, false, on_logout	 },
	    { SRP_CRED_RSP, false, on_cred_rsp },
	{ SRP_AER_RSP,  false, on_aer_rsp	 },
};

static const struct iu_row *row_of(uint8_t opcode)
{
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].opcode == opcode)
			return &rows[i];
	return NULL;
}

static int handle(struct srp_channel *ch, const struct rnic_rx *rx, struct err *e)
{
	const struct iu_row *row = rx->len ? row_of(rx->data[0]) : NULL;
	if (rx->len > ch->accept.it_iu_len)
		return err_set(e, -EPROTO, "SRP: IU of %u bytes, at most %u were agreed on",
			       rx->len, ch->accept.it_iu_len);
	if (!row)
		return err_set(e, -EPROTO, "SRP: unexpected IU 0x%02x of %u bytes",
			       rx->len ? rx->data[0] : 0, rx->len);
	if (row->takes_credit && !ch->credits)
		return err_set(e, -EPROTO, "SRP: more IUs than the REQUEST LIMIT of %u permits",
			       ch->accept.credits);
	ch->credits -= row->takes_credit;
	return row->handle(ch, rx->data, rx->len, e);
}

void srpc_received(struct srp_channel *ch, struct rnic_rx *rx)
{
	struct err e;
	bool had_heard = ch->has_heard;
	ch->current = rx;
	// Messages still in transit are ignored.
	if (!ch->is_closing && !ch->is_closed) {
		ch->ius_in++;
		ch->has_heard = true; // the initiator has posted receive buffers
		int r = handle(ch, rx, &e);
		if (r < 0 && had_heard)
			srpc_logout(ch, SRP_LOGOUT_INVALID_IU, r, "%s", e.text);
		else if (r < 0)
			srpc_fail(ch, r, "%s", e.text);
	}
	if (ch->current)
		rnic_rx_put(ch->current);
	ch->current = NULL;
}
