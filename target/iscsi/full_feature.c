// SPDX-License-Identifier: BSD-2-Clause
// Control PDUs of full feature phase. RFC 7143 11.1.
#include "target/iscsi/full_feature.h"

#include <errno.h>

#include "target/iscsi/cmd.h"
#include "target/iscsi/logout.h"
#include "target/iscsi/nop.h"
#include "target/iscsi/text.h"
#include "target/iscsi/tmf.h"
#include "target/iscsi/window.h"

typedef int control_fn(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, struct err *e);

static int snack(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		 const uint8_t *data, struct err *e)
{
	conn_reject(c, ISCSI_REJECT_SNACK, bhs); // ERL 0: nothing can be sent again
	return 0;
}

static int login_again(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, struct err *e)
{
	return err_set(e, -EPROTO, "Login Request in full feature phase");
}

static const struct control {
	uint8_t opcode;
	bool has_cmd_sn;
	bool in_discovery; // allowed in a discovery session
	control_fn *run;
} controls[] = {
	{ISCSI_OP_NOP_OUT,	    true,  false, nop_out	 },
	{ ISCSI_OP_TMF_REQ,    true,  false, tmf_request   },
	{ ISCSI_OP_TEXT_REQ,   true,  true,	 text_request  },
	{ ISCSI_OP_LOGOUT_REQ, true,  true,  logout_request},
	{ ISCSI_OP_SNACK,	  false, false, snack	      },
	{ ISCSI_OP_LOGIN_REQ,  false, true,  login_again   },
};

static const struct control *control_find(uint8_t opcode)
{
	for (unsigned i = 0; i < sizeof controls / sizeof controls[0]; i++)
		if (controls[i].opcode == opcode)
			return &controls[i];
	return NULL;
}

void full_feature_held(struct conn *c, struct held_pdu *h)
{
	struct err e = { 0 };
	if (h->cmd) {
		h->cmd->is_held = false;
		cmd_submit(h->cmd);
		return;
	}
	c->sns.max_cmd_sn++; // no command: it takes no place
	if (h->is_aborted)
		return;
	if (control_find(h->pdu.opcode)->run(c, &h->pdu, h->bhs, h->data, &e) < 0)
		conn_close(c, true, "%s", e.text);
}

int full_feature_pdu(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     const uint8_t *data, struct err *e)
{
	const struct control *row = control_find(pdu->opcode);
	if (!row || (c->params.is_discovery && !row->in_discovery)) {
		conn_reject(c, row ? ISCSI_REJECT_PROTOCOL : ISCSI_REJECT_NOT_SUPPORTED, bhs);
		return 0;
	}
	if (!row->has_cmd_sn)
		return row->run(c, pdu, bhs, data, e);
	enum window_order order = window_order(c, bhs, pdu->is_immediate);
	if (order == WINDOW_DROP)
		return 0;
	if (order == WINDOW_HOLD) {
		int r = window_hold(c, pdu, bhs, data, NULL);
		return r < 0 ? err_set(e, r, "out of memory for a PDU ahead of its CmdSN") : 0;
	}
	if (!pdu->is_immediate)
		c->sns.max_cmd_sn++;
	window_widen(c);
	int r = row->run(c, pdu, bhs, data, e);
	if (r >= 0 && c->held_count)
		window_run_held(c);
	return r;
}
