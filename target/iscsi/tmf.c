// SPDX-License-Identifier: BSD-2-Clause
// Task management requests. RFC 7143 4.2.3, 10.7, 11.5, 11.6; RFC 7144 6.3.
//
// What single tasks concern is done here; what a logical unit concerns goes to the device
// server. An aborted task's data-out need not arrive any more: initiators with fast abort
// never send it, and what does come is discarded.
#include "target/iscsi/tmf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/peer_memory.h"
#include "target/iscsi/cmd.h"
#include "target/iscsi/window.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/nexus.h"
#include "target/scsi/tmf.h"
#include "transport/wire/be.h"

// A request under way.
struct tmf_wait {
	struct tmf tmf;
	struct conn *conn;
	uint8_t itt[4];
	bool is_cold;
};

static void tmf_answer(struct conn *c, const uint8_t itt[4], uint8_t response)
{
	struct iscsi_tmf_rsp h = { .opcode = ISCSI_OP_TMF_RSP, .flags = ISCSI_F };
	h.response = response;
	memcpy(h.itt, itt, sizeof h.itt);
	if (c->session.state == SESSION_LIVE)
		conn_send(c, (const uint8_t *)&h, NULL, 0, DM_ADVANCES);
}

// --- ABORT TASK, QUERY TASK ---

static void abort_done(struct abort_wait *w, bool was_aborted)
{
	tmf_answer(w->conn, w->itt, was_aborted ? ISCSI_TMF_RSP_COMPLETE : ISCSI_TMF_RSP_NO_TASK);
	w->conn->tmfs--;
	conn_release(w->conn);
	free(w);
}

// RFC 7143 11.5.1: a task that has not arrived counts as received and is dropped when it does.
static void abort_missing(struct conn *c, const struct iscsi_tmf_req *h)
{
	uint32_t ref = get_be32(h->ref_cmd_sn), sn = get_be32(h->cmd_sn);
	bool is_due =
		serial32_in(ref, c->sns.exp_cmd_sn, c->sns.max_cmd_sn) && serial32_lt(ref, sn);
	bool is_skipped = is_due && !window_skip(c, ref);
	tmf_answer(c, h->itt, is_skipped ? ISCSI_TMF_RSP_COMPLETE : ISCSI_TMF_RSP_NO_TASK);
}

static void abort_task(struct conn *c, const struct iscsi_tmf_req *h)
{
	uint32_t itt;
	memcpy(&itt, h->ref_itt, sizeof itt);
	struct cmd *cmd = cmd_find(c, itt);
	if (!cmd) {
		abort_missing(c, h);
		return;
	}
	if (memcmp(cmd->dm.lun, h->lun, sizeof h->lun)) {
		tmf_answer(c, h->itt, ISCSI_TMF_RSP_NO_TASK);
		return;
	}
	struct abort_wait *w = cmd->abort_wait ? NULL : calloc(1, sizeof *w);
	if (!w) {
		tmf_answer(c, h->itt, ISCSI_TMF_RSP_REJECTED); // it is being aborted already
		return;
	}
	w->done = abort_done;
	w->conn = c;
	memcpy(w->itt, h->itt, sizeof w->itt);
	cmd->abort_wait = w;
	c->tmfs++;
	conn_hold(c);
	cmd_abort(cmd, false);
}

static void query_task(struct conn *c, const struct iscsi_tmf_req *h)
{
	uint32_t itt;
	memcpy(&itt, h->ref_itt, sizeof itt);
	tmf_answer(c, h->itt, cmd_find(c, itt) ? ISCSI_TMF_RSP_SUCCEEDED : ISCSI_TMF_RSP_COMPLETE);
}

// --- what the device server does ---

static const uint8_t tmf_responses[] = {
	[TMF_COMPLETE] = ISCSI_TMF_RSP_COMPLETE,
	[TMF_SUCCEEDED] = ISCSI_TMF_RSP_SUCCEEDED,
	[TMF_NO_LUN] = ISCSI_TMF_RSP_NO_LUN,
	[TMF_DENIED] = ISCSI_TMF_RSP_NOT_AUTHORIZED,
};

static struct tmf_wait *wait_new(void)
{
	struct tmf_wait *w = calloc(1, sizeof *w);
	if (w)
		peer_memory_take(PEER_ANSWERS, sizeof *w);
	return w;
}

static void wait_free(struct tmf_wait *w)
{
	peer_memory_give(PEER_ANSWERS, sizeof *w);
	free(w);
}

static void lu_tmf_done(struct tmf *t, enum tmf_result result)
{
	struct tmf_wait *w = container_of(t, struct tmf_wait, tmf);
	struct conn *c = w->conn;
	tmf_answer(c, w->itt, tmf_responses[result]);
	c->tmfs--;
	if (w->is_cold)
		conn_close(c, true, "TARGET COLD RESET");
	wait_free(w);
	conn_release(c);
}

static bool ends_tasks(const struct conn *c, enum tmf_function function, uint64_t lun)
{
	switch (function) {
	case TMF_TARGET_RESET:
	case TMF_NEXUS_RESET:
		return true;
	case TMF_ABORT_TASK_SET:
	case TMF_CLEAR_TASK_SET:
	case TMF_LU_RESET:
		return nexus_find_lun(c->session.nexus, lun) != NULL;
	default:
		return false;
	}
}

// The device server is done with a write that failed early; only its status waits, for data that
// an initiator with fast abort never sends after this. The writes of other sessions keep theirs:
// those initiators owe and send the data as ever.
static void drop_owing(struct conn *c, enum tmf_function function, uint64_t lun)
{
	if (!ends_tasks(c, function, lun))
		return;
	list_for_each_safe (it, &c->cmds) {
		struct cmd *cmd = list_entry(it, struct cmd, link);
		bool is_for_all = function == TMF_TARGET_RESET || function == TMF_NEXUS_RESET;
		if (cmd->dm.is_finished && (is_for_all || cmd->task.lun == lun))
			cmd_abort(cmd, false);
	}
}

static void lu_tmf(struct conn *c, const struct iscsi_tmf_req *h, enum tmf_function function)
{
	struct tmf_wait *w = wait_new();
	if (!w) {
		tmf_answer(c, h->itt, ISCSI_TMF_RSP_REJECTED);
		return;
	}
	w->conn = c;
	w->is_cold = (h->flags & ISCSI_TMF_MASK) == ISCSI_TMF_TARGET_COLD_RESET;
	memcpy(w->itt, h->itt, sizeof w->itt);
	w->tmf.nexus = c->session.nexus;
	w->tmf.function = function;
	w->tmf.lun = lun_decode(h->lun);
	w->tmf.done = lu_tmf_done;
	c->tmfs++;
	conn_hold(c);
	drop_owing(c, function, w->tmf.lun);
	tmf_submit(&w->tmf);
}

static const struct {
	bool is_known, needs_level2;
	void (*run)(struct conn *c, const struct iscsi_tmf_req *h); // NULL: the device server
	enum tmf_function function;
} functions[] = {
	[ISCSI_TMF_ABORT_TASK] = {true,	 false, abort_task, 0		      },
	[ISCSI_TMF_ABORT_TASK_SET] = { true, false, NULL,	  TMF_ABORT_TASK_SET},
	[ISCSI_TMF_CLEAR_TASK_SET] = { true, false, NULL,	  TMF_CLEAR_TASK_SET},
	[ISCSI_TMF_LUN_RESET] = { true, false, NULL,	     TMF_LU_RESET	  },
	[ISCSI_TMF_TARGET_WARM_RESET] = { true, false, NULL,	     TMF_TARGET_RESET  },
	[ISCSI_TMF_TARGET_COLD_RESET] = { true, false, NULL,	     TMF_TARGET_RESET  },
	[ISCSI_TMF_QUERY_TASK] = { true, true,  query_task, 0		     },
	[ISCSI_TMF_QUERY_TASK_SET] = { true, true,  NULL,	 TMF_QUERY_TASK_SET},
	[ISCSI_TMF_I_T_NEXUS_RESET] = { true, true,  NULL,	  TMF_NEXUS_RESET	  },
};

// Those of a connection that may be under way.
static unsigned tmfs_max(void)
{
	return peer_memory_is_short(PEER_ANSWERS) ? 1 : 16;
}

int tmf_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		const uint8_t *data, struct err *e)
{
	const struct iscsi_tmf_req *h = (const void *)bhs;
	unsigned f = h->flags & ISCSI_TMF_MASK;
	if (f == ISCSI_TMF_TASK_REASSIGN) {
		tmf_answer(c, h->itt, ISCSI_TMF_RSP_REASSIGN_UNSUPPORTED);
		return 0;
	}
	if (f >= sizeof functions / sizeof functions[0] || !functions[f].is_known ||
	    (functions[f].needs_level2 && c->params.protocol_level < 2)) {
		tmf_answer(c, h->itt, ISCSI_TMF_RSP_UNSUPPORTED);
		return 0;
	}
	if (c->tmfs >= tmfs_max()) {
		conn_reject(c, ISCSI_REJECT_TOO_MANY_IMMEDIATE, bhs);
		return 0;
	}
	if (functions[f].run)
		functions[f].run(c, h);
	else
		lu_tmf(c, h, functions[f].function);
	return 0;
}
