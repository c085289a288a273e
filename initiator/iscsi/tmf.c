// SPDX-License-Identifier: BSD-2-Clause
// Task management of a session, on its worker: one request at a time on the wire, which RFC 7143
// 11.5 and every target support. A task whose end the target has confirmed is dropped before the
// caller is notified.
#include <errno.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/wire/be.h"

static struct ini_tmf *first(struct ini_session *s)
{
	struct list *l = list_first(&s->tmfs);
	return l ? list_entry(l, struct ini_tmf, link) : NULL;
}

static void send_first(struct ini_session *s)
{
	struct ini_tmf *t = first(s);
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_I | ISCSI_OP_TMF_REQ };
	struct iscsi_tmf_req *h = (void *)bhs;
	if (!t || s->tmf_tag || !s->dm)
		return;
	s->tmf_tag = session_tag(s);
	s->tmf_cmd_sn = s->dm->sns.cmd_sn;
	s->tmf_deadline_ns = worker_now(s->worker) + s->config.abort_timeout * NS_PER_SEC;
	h->flags = ISCSI_F | t->function;
	put_be32(h->itt, s->tmf_tag);
	put_be32(h->ref_itt, ISCSI_TAG_NONE);
	memcpy(h->lun, t->lun, sizeof h->lun);
	if (t->cmd) {
		memcpy(h->lun, t->cmd->lun, sizeof h->lun);
		put_be32(h->ref_itt, task_of(t->cmd)->itt);
		put_be32(h->ref_cmd_sn, task_of(t->cmd)->cmd_sn);
	}
	s->dm->ops->send(s->dm, bhs, NULL, 0, false);
}

// --- the end of a request ---

static void run_over(struct defer *d)
{
	struct ini_session *s = container_of(d, struct ini_session, over_defer);
	struct list *l;
	while ((l = list_pop_front(&s->tmfs_over))) {
		struct ini_tmf *t = list_entry(l, struct ini_tmf, link);
		t->done(t);
	}
}

static void over(struct ini_session *s, struct ini_tmf *t, int res)
{
	list_remove(&t->link);
	t->res = res;
	list_push_back(&s->tmfs_over, &t->link);
	if (s->is_freed)
		run_over(&s->over_defer);
	else
		worker_defer(s->worker, &s->over_defer, run_over);
}

// --- the response ---

static void drop_lun(struct ini_session *s, const uint8_t *lun)
{
	struct list gone;
	list_init(&gone);
	list_for_each_safe (it, &s->scsi.flying) {
		struct scsi_cmd *c = list_entry(it, struct scsi_cmd, link);
		if (!c->sent || memcmp(c->lun, lun, sizeof c->lun) ||
		    !serial32_lt(task_of(c)->cmd_sn, s->tmf_cmd_sn))
			continue;
		list_remove(it);
		list_push_back(&gone, it);
	}
	while (!list_empty(&gone)) {
		struct scsi_cmd *c = list_entry(gone.next, struct scsi_cmd, link);
		list_remove(&c->link);
		list_push_back(&s->scsi.flying, &c->link);
		if (s->dm)
			s->dm->ops->drop(s->dm, task_of(c));
	}
}

// Whether a request's command is still in flight.
static bool is_flying(struct ini_session *s, const struct scsi_cmd *c)
{
	list_for_each (it, &s->scsi.flying)
		if (list_entry(it, struct scsi_cmd, link) == c)
			return c->sent != NULL;
	return false;
}

void tmf_response(struct ini_session *s, const uint8_t *bhs)
{
	const struct iscsi_tmf_rsp *h = (const void *)bhs;
	struct ini_tmf *t = first(s);
	if (!t || !s->tmf_tag || get_be32(h->itt) != s->tmf_tag)
		return; // to an abandoned request
	s->tmf_tag = 0;
	t->response = h->response;
	bool is_gone = h->response == ISCSI_TMF_RSP_COMPLETE;
	if (t->cmd) {
		// "No such task": its response would have come before this one.
		is_gone |= h->response == ISCSI_TMF_RSP_NO_TASK;
		if (is_gone && is_flying(s, t->cmd))
			s->dm->ops->drop(s->dm, task_of(t->cmd));
	} else if (is_gone && t->function == ISCSI_TMF_LUN_RESET) {
		drop_lun(s, t->lun);
	}
	over(s, t, 0);
	send_first(s);
}

void tmf_rejected(struct ini_session *s, uint32_t itt)
{
	struct ini_tmf *t = first(s);
	if (!t || !s->tmf_tag || itt != s->tmf_tag)
		return;
	s->tmf_tag = 0;
	t->response = ISCSI_TMF_RSP_REJECTED;
	over(s, t, 0);
	send_first(s);
}

void tmf_lost(struct ini_session *s, int res)
{
	s->tmf_tag = 0;
	while (first(s))
		over(s, first(s), res);
}

bool tmf_is_overdue(struct ini_session *s, uint64_t now)
{
	if (!s->tmf_tag || now < s->tmf_deadline_ns)
		return false;
	over(s, first(s), -ETIMEDOUT);
	return true;
}

// --- submitting ---

int ini_tmf_submit(struct scsi_session *scsi, struct ini_tmf *t)
{
	struct ini_session *s = ini_of(scsi);
	bool is_abort = t->function == ISCSI_TMF_ABORT_TASK;
	if (s->state != SESSION_UP)
		return -ENOTCONN;
	if (is_abort != !!t->cmd || (!is_abort && t->function != ISCSI_TMF_LUN_RESET))
		return -EINVAL;
	if (t->cmd && !is_flying(s, t->cmd))
		return -ESRCH;
	t->res = 0;
	t->response = 0;
	list_push_back(&s->tmfs, &t->link);
	send_first(s);
	return 0;
}
