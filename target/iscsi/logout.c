// SPDX-License-Identifier: BSD-2-Clause
// Logout. RFC 7143 11.14, 11.15.
#include "target/iscsi/logout.h"

#include <string.h>

#include "target/iscsi/cmd.h"
#include "target/iscsi/text.h"
#include "target/scsi/nexus.h"
#include "transport/wire/be.h"

static void logout_answer(struct conn *c, const uint8_t *bhs, uint8_t response, unsigned flags)
{
	const struct iscsi_logout_req *req = (const void *)bhs;
	struct iscsi_logout_rsp h = { .opcode = ISCSI_OP_LOGOUT_RSP, .flags = ISCSI_F };
	h.response = response;
	memcpy(h.itt, req->itt, sizeof h.itt);
	put_be16(h.time2wait, (uint16_t)c->params.time2wait);
	put_be16(h.time2retain, 0); // ERL 0: no task outlives its connection
	conn_send(c, (const uint8_t *)&h, NULL, 0, DM_ADVANCES | flags);
}

// Every task has ended: sends the response; then the connection closes, over RDMA by the initiator.
static void logout_finish(struct conn *c)
{
	c->when_idle = NULL;
	c->session.state = SESSION_LEAVING;
	c->close_when_sent = true;
	text_drop(c); // nothing follows the Logout Response
	if (c->session.nexus)
		nexus_leave(c->session.nexus);
	logout_answer(c, c->logout_bhs, ISCSI_LOGOUT_RSP_OK, DM_WANTS_SENT);
}

int logout_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		   const uint8_t *data, struct err *e)
{
	const struct iscsi_logout_req *h = (const void *)bhs;
	uint8_t reason = h->flags & ISCSI_LOGOUT_MASK;
	if (reason == ISCSI_LOGOUT_RECOVERY) {
		logout_answer(c, bhs, ISCSI_LOGOUT_RSP_NO_RECOVERY, 0);
		return 0;
	}
	if (reason > ISCSI_LOGOUT_RECOVERY ||
	    (reason == ISCSI_LOGOUT_CLOSE_CONNECTION && c->params.is_discovery)) {
		conn_reject(c, ISCSI_REJECT_INVALID_FIELD, bhs);
		return 0;
	}
	if (reason == ISCSI_LOGOUT_CLOSE_CONNECTION && get_be16(h->cid) != c->names.cid) {
		logout_answer(c, bhs, ISCSI_LOGOUT_RSP_NO_CID, 0);
		return 0;
	}
	memcpy(c->logout_bhs, bhs, sizeof c->logout_bhs);
	c->when_idle = logout_finish;
	conn_hold(c);
	cmd_end_all(c); // RFC 7143 11.14.5: implicitly terminated, without status
	if (c->when_idle && list_empty(&c->cmds))
		logout_finish(c);
	conn_release(c);
	return 0;
}
