// SPDX-License-Identifier: BSD-2-Clause
// NOP-Outs of a session and their answers, on its worker: a caller's ping and the session's own.
// RFC 7143 11.18, 11.19.
#include <errno.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/wire/be.h"

void ping_over(struct ini_session *s, int res)
{
	struct ini_ping *p = s->ping;
	s->ping_tag = 0;
	s->ping = NULL;
	if (!p)
		return;
	p->res = res;
	p->rtt_ns = clock_ns() - p->sent_ns;
	p->done(p);
}

void ping_send(struct ini_session *s)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_I | ISCSI_OP_NOP_OUT, ISCSI_F };
	struct iscsi_nop_out *h = (void *)bhs;
	s->ping_tag = session_tag(s);
	s->ping_ns = worker_now(s->worker);
	put_be32(h->itt, s->ping_tag);
	put_be32(h->ttt, ISCSI_TAG_NONE);
	s->dm->ops->send(s->dm, bhs, NULL, 0, false);
}

int ini_ping(struct scsi_session *scsi, struct ini_ping *p)
{
	struct ini_session *s = ini_of(scsi);
	if (s->state != SESSION_UP)
		return -ENOTCONN;
	if (s->ping)
		return -EBUSY;
	s->ping = p;
	p->sent_ns = clock_ns();
	ping_send(s); // a response to the session's own ping is ignored from now on
	s->dm->ops->flush(s->dm);
	return 0;
}
