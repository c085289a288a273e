// SPDX-License-Identifier: BSD-2-Clause
// Task management requests. T10 SRP 6.7; SAM-5 7.
//
// ABORT TASK concerns a command of any channel of the nexus and is done here; what a logical unit
// concerns goes to the device server. A response follows the RDMA of what was aborted
// (srp_session.drain).
#include "target/srp/tmf.h"

#include <stdlib.h>
#include <string.h>

#include "core/peer_memory.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/tmf.h"
#include "target/srp/cmd.h"
#include "target/srp/worker.h"

// Under way: of a session, and of an initiator's sessions that are over; of all of these on a
// worker. Beyond that a session that is over waits for its own.
#define TMFS_MAX    16
#define ORPHANS_MAX 1024

// A request of the device server under way.
struct tmf_wait {
	struct tmf tmf;
	struct list link;		 // of its session's, or of the worker's orphans
	struct session_channel *channel; // NULL: an orphan
	char initiator[PORT_NAME_SIZE];	 // of an orphan
	uint64_t tag;
};

static void answer(struct session_channel *c, uint64_t tag, enum srp_rsp_code code)
{
	if (!c->is_closed)
		srp_answer_tmf(c->ch, tag, code);
}

// ---- what the requests under way keep ----

static void *wait_new(struct session_channel *c, size_t size)
{
	unsigned most = peer_memory_is_short(PEER_ANSWERS) ? 1 : TMFS_MAX;
	void *w = c->session->tmfs < most ? calloc(1, size) : NULL;
	if (!w)
		return NULL;
	peer_memory_take(PEER_ANSWERS, size);
	c->session->tmfs++;
	c->holds++;
	return w;
}

static void wait_leave(struct session_channel *c)
{
	c->session->tmfs--;
	c->holds--;
	channel_check_end(c);
}

static void wait_free(void *w, size_t size)
{
	peer_memory_give(PEER_ANSWERS, size);
	free(w);
}

// ---- ABORT TASK ----

// A command that ended before it could be aborted is not in the task set either.
static void abort_done(struct abort_wait *w)
{
	struct session_channel *c = w->channel;
	answer(c, w->tag, SRP_RSP_COMPLETE);
	wait_free(w, sizeof *w);
	wait_leave(c);
}

static void abort_task(struct session_channel *c, const struct srp_task_mgmt *m)
{
	struct cmd *cmd = srp_cmd_find(c->session, m->task_tag);
	if (!cmd || memcmp(cmd->lun, m->lun, sizeof cmd->lun)) {
		answer(c, m->tag, SRP_RSP_COMPLETE); // SAM-5 7.2: it is not there
		return;
	}
	struct abort_wait *w = cmd->abort_wait ? NULL : wait_new(c, sizeof *w);
	if (!w) {
		answer(c, m->tag, SRP_RSP_TMF_FAILED); // it is being aborted already
		return;
	}
	w->done = abort_done;
	w->channel = c;
	w->tag = m->tag;
	cmd->abort_wait = w;
	srp_cmd_abort(cmd);
}

// ---- what the device server does ----

static void lu_tmf_done(struct tmf *t, enum tmf_result result)
{
	struct tmf_wait *w = container_of(t, struct tmf_wait, tmf);
	struct session_channel *c = w->channel;
	if (c)
		answer(c, w->tag, result == TMF_COMPLETE ? SRP_RSP_COMPLETE : SRP_RSP_TMF_FAILED);
	list_remove(&w->link);
	wait_free(w, sizeof *w);
	if (c)
		wait_leave(c);
}

static void lu_tmf(struct session_channel *c, const struct srp_task_mgmt *m,
		   enum tmf_function function)
{
	struct tmf_wait *w = wait_new(c, sizeof *w);
	if (!w) {
		answer(c, m->tag, SRP_RSP_TMF_FAILED);
		return;
	}
	w->channel = c;
	w->tag = m->tag;
	w->tmf.nexus = c->session->session.nexus;
	w->tmf.function = function;
	w->tmf.lun = lun_decode(m->lun);
	w->tmf.done = lu_tmf_done;
	list_push_back(&c->session->tmf_waits, &w->link);
	tmf_submit(&w->tmf);
}

// Whoever logs in again and again has its own limit, and does not use up that of others.
static bool may_leave(const struct srp_session *s)
{
	unsigned own = 0, all = 0;
	list_for_each (it, &s->worker->orphans) {
		const struct tmf_wait *w = list_entry(it, struct tmf_wait, link);
		own += !strcmp(w->initiator, s->initiator);
		all++;
	}
	return own < TMFS_MAX && all < ORPHANS_MAX;
}

void srp_tmf_leave(struct srp_session *s)
{
	while (!list_empty(&s->tmf_waits) && may_leave(s)) {
		struct list *first = list_pop_front(&s->tmf_waits);
		struct tmf_wait *w = list_entry(first, struct tmf_wait, link);
		struct session_channel *c = w->channel;
		w->channel = NULL;
		memcpy(w->initiator, s->initiator, sizeof w->initiator);
		list_push_back(&s->worker->orphans, &w->link);
		tmf_lose_nexus(&w->tmf);
		wait_leave(c);
	}
}

static const struct {
	uint8_t code;
	enum tmf_function function;
} functions[] = {
	{SRP_TMF_ABORT_TASK_SET,  TMF_ABORT_TASK_SET},
	{ SRP_TMF_CLEAR_TASK_SET, TMF_CLEAR_TASK_SET},
	{ SRP_TMF_LUN_RESET,	     TMF_LU_RESET	  },
};

void srp_tmf_request(struct srp_channel *ch, const struct srp_task_mgmt *m)
{
	struct session_channel *c = srp_channel_role(ch);
	c->session->has_heard = true;
	if (m->function == SRP_TMF_ABORT_TASK) {
		abort_task(c, m);
		return;
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (functions[i].code == m->function) {
			lu_tmf(c, m, functions[i].function);
			return;
		}
	answer(c, m->tag, SRP_RSP_TMF_UNSUPPORTED); // CLEAR ACA: NormACA is 0
}
