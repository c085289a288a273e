// SPDX-License-Identifier: BSD-2-Clause
// Task management of a session, on its worker: requests and responses on the wire. A task whose end
// the target has confirmed is dropped before the caller is notified. RFC 7143 11.5, 11.6.
#include <errno.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/wire/be.h"

static const uint8_t functions[SCSI_TMF_COUNT] = {
	[SCSI_TMF_ABORT_TASK] = ISCSI_TMF_ABORT_TASK,
	[SCSI_TMF_ABORT_TASK_SET] = ISCSI_TMF_ABORT_TASK_SET,
	[SCSI_TMF_CLEAR_TASK_SET] = ISCSI_TMF_CLEAR_TASK_SET,
	[SCSI_TMF_LUN_RESET] = ISCSI_TMF_LUN_RESET,
	[SCSI_TMF_TARGET_WARM_RESET] = ISCSI_TMF_TARGET_WARM_RESET,
	[SCSI_TMF_TARGET_COLD_RESET] = ISCSI_TMF_TARGET_COLD_RESET,
};

int tmf_send(struct scsi_session *scsi, struct scsi_tmf *t)
{
	struct ini_session *s = ini_of(scsi);
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_I | ISCSI_OP_TMF_REQ };
	struct iscsi_tmf_req *h = (void *)bhs;
	if (s->state != SESSION_UP)
		return 0; // it is logging out: the loss that follows ends t
	s->tmf = t;
	s->tmf_tag = session_tag(s);
	s->tmf_cmd_sn = s->dm->sns.cmd_sn;
	s->tmf_deadline_ns = worker_now(s->worker) + s->config.abort_timeout * NS_PER_SEC;
	h->flags = ISCSI_F | functions[t->function];
	put_be32(h->itt, s->tmf_tag);
	put_be32(h->ref_itt, ISCSI_TAG_NONE);
	memcpy(h->lun, t->lun, sizeof h->lun);
	if (t->cmd) {
		memcpy(h->lun, t->cmd->lun, sizeof h->lun);
		put_be32(h->ref_itt, task_of(t->cmd)->itt);
		put_be32(h->ref_cmd_sn, task_of(t->cmd)->cmd_sn);
	}
	s->dm->ops->send(s->dm, bhs, NULL, 0, false);
	return 0;
}

// --- the response ---

// Of a logical unit; lun NULL: of all.
static void drop_tasks(struct ini_session *s, const uint8_t *lun)
{
	struct list gone;
	list_init(&gone);
	list_for_each_safe (it, &s->scsi.flying) {
		struct scsi_cmd *c = list_entry(it, struct scsi_cmd, link);
		if (!c->sent || (lun && memcmp(c->lun, lun, sizeof c->lun)) ||
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

static const struct {
	uint8_t code;
	enum scsi_tmf_response response;
} responses[] = {
	{ISCSI_TMF_RSP_COMPLETE,	  SCSI_TMF_COMPLETE   },
	{ ISCSI_TMF_RSP_NO_TASK,	 SCSI_TMF_NO_TASK	  },
	{ ISCSI_TMF_RSP_NO_LUN,	SCSI_TMF_NO_LUN	},
	{ ISCSI_TMF_RSP_UNSUPPORTED, SCSI_TMF_UNSUPPORTED},
};

static void ended(struct ini_session *s, uint8_t code)
{
	struct scsi_tmf *t = s->tmf;
	t->response = SCSI_TMF_REJECTED;
	for (size_t i = 0; i < sizeof responses / sizeof *responses; i++)
		if (responses[i].code == code)
			t->response = responses[i].response;
	s->tmf = NULL;
	scsi_tmf_ended(&s->scsi, 0);
}

// "No such task": its response would have come before this one.
static void drop_aborted(struct ini_session *s, uint8_t code)
{
	const struct scsi_tmf *t = s->tmf;
	bool is_reset = t->function >= SCSI_TMF_TARGET_WARM_RESET;
	if (t->cmd && (code == ISCSI_TMF_RSP_COMPLETE || code == ISCSI_TMF_RSP_NO_TASK)) {
		if (scsi_cmd_is_sent(&s->scsi, t->cmd))
			s->dm->ops->drop(s->dm, task_of(t->cmd));
	} else if (!t->cmd && code == ISCSI_TMF_RSP_COMPLETE) {
		drop_tasks(s, is_reset ? NULL : t->lun);
	}
}

void tmf_response(struct ini_session *s, const uint8_t *bhs)
{
	const struct iscsi_tmf_rsp *h = (const void *)bhs;
	uint8_t code = h->response;
	if (!s->tmf || get_be32(h->itt) != s->tmf_tag)
		return; // to an abandoned request
	drop_aborted(s, code);
	if (s->tmf) // a command's end may have ended the connection
		ended(s, code);
}

void tmf_rejected(struct ini_session *s, uint32_t itt)
{
	if (s->tmf && itt == s->tmf_tag)
		ended(s, ISCSI_TMF_RSP_REJECTED);
}

bool tmf_is_overdue(struct ini_session *s, uint64_t now)
{
	if (!s->tmf || now < s->tmf_deadline_ns)
		return false;
	s->tmf = NULL;
	scsi_tmf_ended(&s->scsi, -ETIMEDOUT);
	return true;
}
