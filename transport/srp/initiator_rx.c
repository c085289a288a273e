// SPDX-License-Identifier: BSD-2-Clause
// The initiator's end of a channel, receiving: responses, CRED_REQ, AER_REQ, T_LOGOUT. On the
// worker that owns it. T10 SRP 6.6, 6.9 to 6.15.
//
// Everything from the target is checked: a tag must be that of a command in flight, lengths and
// residuals must fit, the request limit must stay a number. Anything else closes the connection.
#include <errno.h>
#include <string.h>

#include "transport/srp/initiator_priv.h"

static int take_credits(struct srpi_channel *ch, int32_t delta, struct err *e)
{
	int64_t sum = ch->credits + delta;
	if (sum > INT32_MAX || sum < INT32_MIN)
		return err_set(e, -EPROTO, "SRP: request limit of %lld", (long long)sum);
	ch->credits = sum;
	return 0;
}

// --- the response to a command ---

// How much data was moved. With a status other than GOOD nothing, unless the residual says
// otherwise. At most what the target has written or requested, if the device counts that.
static uint32_t moved(const struct rnic_slot *slot)
{
	const struct srpi_task *t = slot->task;
	if (t->status && !t->is_under && !t->is_over)
		return 0;
	return slot->exposure.count ? rnic_exposure_moved(&slot->exposure) : t->len;
}

// The residual of the command's direction; that of a command without data says what would have
// been moved, in either one.
static int take_residual(struct rnic_slot *slot, const struct srp_response *r, struct err *e)
{
	struct srpi_task *t = slot->task;
	bool is_out = t->is_write || (!t->is_read && r->flags & SRP_DOOVER);
	uint8_t under = is_out ? SRP_DOUNDER : SRP_DIUNDER;
	uint8_t over = is_out ? SRP_DOOVER : SRP_DIOVER;
	uint32_t len = t->is_read || t->is_write ? t->len : 0;
	t->is_under = r->flags & under;
	t->is_over = !t->is_under && r->flags & over;
	if (t->is_under || t->is_over)
		t->residual = is_out ? r->out_residual : r->in_residual;
	if (t->is_under && t->residual > len)
		return err_set(e, -EPROTO, "SRP: RSP: underflow of %u bytes in a transfer of %u",
			       t->residual, len);
	if (!t->is_read && (!t->is_write || t->status))
		return 0;
	// Data that did not arrive, or was never requested, is missing, whatever the target
	// reports.
	uint32_t most = t->is_under ? len - t->residual : len, done = moved(slot);
	done = done < most ? done : most;
	if (t->is_read)
		t->data_len = done;
	if (done < len && !t->is_over) {
		t->is_under = true;
		t->residual = len - done;
	}
	return 0;
}

static void take_sense(struct srpi_task *t, const struct srp_response *r)
{
	t->sense_len = (uint16_t)(r->sense_len < SRPI_SENSE_MAX ? r->sense_len : SRPI_SENSE_MAX);
	if (t->sense_len)
		memcpy(t->sense, r->sense, t->sense_len);
}

static int command_response(struct rnic_slot *slot, const struct srp_response *r, struct err *e)
{
	struct srpi_task *t = slot->task;
	if (r->has_code && r->code != SRP_RSP_COMPLETE) {
		t->code = r->code;
		srpi_finish(slot, -EREMOTEIO);
		return 0;
	}
	t->status = r->status;
	int res = take_residual(slot, r, e);
	if (res)
		return res;
	take_sense(t, r);
	srpi_finish(slot, 0);
	return 0;
}

// --- the response to task management ---

static int tmf_response(struct srpi_channel *ch, const struct srp_response *r, struct err *e)
{
	if (!r->has_code)
		return err_set(e, -EPROTO, "SRP: RSP to task management without response data");
	ch->has_tmf = false;
	ch->up->tmf_done(ch, r->code);
	return 0;
}

static int response(struct srpi_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	struct srp_response r;
	int res = srp_response_parse(&r, iu, len, e);
	if (!res)
		res = take_credits(ch, r.credits, e);
	if (res)
		return res;
	if (ch->has_tmf && r.tag == ch->tmf_tag) {
		res = tmf_response(ch, &r, e);
		if (!res)
			ch->up->room(ch);
		return res;
	}
	struct rnic_slot *slot = srpi_slot(ch, r.tag);
	if (!slot)
		return err_set(e, -EPROTO, "SRP: RSP: no command in flight with tag 0x%016llx",
			       (unsigned long long)r.tag);
	return command_response(slot, &r, e);
}

// --- other IUs ---

static int credit_request(struct srpi_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	uint64_t tag;
	uint32_t delta;
	int r = srp_short_parse(&tag, &delta, iu, len, e);
	if (!r)
		r = take_credits(ch, (int32_t)delta, e);
	if (r)
		return r;
	srpi_answer(ch, SRP_CRED_RSP, tag);
	ch->up->room(ch);
	return 0;
}

static int event_request(struct srpi_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	struct srp_event v;
	int r = srp_event_parse(&v, iu, len, e);
	if (!r)
		r = take_credits(ch, v.credits, e);
	if (r)
		return r;
	srpi_answer(ch, SRP_AER_RSP, v.tag);
	ch->up->event(ch, v.lun, v.sense, v.sense_len);
	if (!ch->slots.is_closing)
		ch->up->room(ch);
	return 0;
}

static const struct {
	enum srp_logout_reason reason;
	const char *text;
} logouts[] = {
	{SRP_LOGOUT_NO_REASON,		"no reason given"					  },
	{ SRP_LOGOUT_INACTIVE,	       "inactive channel"					  },
	{ SRP_LOGOUT_INVALID_IU,	 "it received an invalid IU"			     },
	{ SRP_LOGOUT_SPURIOUS_RSP,	   "it received an unexpected response"			},
	{ SRP_LOGOUT_NEW_LOGIN,		"another login of this initiator port ended the session"},
	{ SRP_LOGOUT_NO_TARGET_PORT,     "the target port was removed"			   },
	{ SRP_LOGOUT_UNSUPPORTED_FORMAT, "unsupported format of a buffer descriptor"	     },
	{ SRP_LOGOUT_BAD_MESSAGE,	  "it received an unexpected message"		      },
	{ SRP_LOGOUT_BAD_MULTICHAN,	    "invalid multi-channel action"			   },
};

static int logout_request(struct srpi_channel *ch, const uint8_t *iu, uint32_t len, struct err *e)
{
	uint64_t tag;
	uint32_t reason;
	const char *text = "unknown reason";
	int r = srp_short_parse(&tag, &reason, iu, len, e);
	if (r)
		return r;
	for (size_t i = 0; i < sizeof logouts / sizeof *logouts; i++)
		if (logouts[i].reason == reason)
			text = logouts[i].text;
	return err_set(e, -ECONNRESET, "SRP: the target logged out: %s (T_LOGOUT %u)", text,
		       reason);
}

static const struct {
	enum srp_opcode opcode;
	int (*run)(struct srpi_channel *ch, const uint8_t *iu, uint32_t len, struct err *e);
} handlers[] = {
	{SRP_RSP,	   response	    },
	{ SRP_CRED_REQ, credit_request},
	{ SRP_AER_REQ,  event_request },
	{ SRP_T_LOGOUT, logout_request},
};

static int message(struct srpi_channel *ch, const struct rnic_rx *rx, struct err *e)
{
	if (!rx->len || !ch->is_up)
		return err_set(e, -EPROTO, "SRP: %s",
			       rx->len ? "IU before the login" : "IU of 0 bytes");
	if (rx->is_invalidated)
		return err_set(e, -EPROTO, "SRP: STag 0x%08x invalidated by the target",
			       rx->invalidated_rkey);
	for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
		if (handlers[i].opcode == rx->data[0])
			return handlers[i].run(ch, rx->data, rx->len, e);
	return err_set(e, -EPROTO, "SRP: unexpected IU 0x%02x", rx->data[0]);
}

void srpi_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	struct srpi_channel *ch = qp->owner;
	struct err e;
	int r = ch->slots.is_closing ? 0 : message(ch, rx, &e);
	rnic_rx_put(rx);
	// A violation closes the connection at once, without sending what is queued.
	if (r < 0)
		rnic_slots_close(&ch->slots, &e);
}
