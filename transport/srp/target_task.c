// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel, the steps of a command: data-out by immediate data or RDMA Reads,
// data-in by RDMA Writes followed by the response, and the end, reported when all its requests are
// done. T10 SRP 5.4. The connection's worker.
#include <errno.h>

#include "transport/srp/target_priv.h"

// --- the end of a command ---

static void task_free(struct srp_task *t)
{
	struct srp_channel *ch = t->channel;
	struct rnic_drain *drain = t->is_draining ? ch->drain : NULL;
	srpc_table_free(t);
	srpc_side_free(ch, &t->out);
	srpc_side_free(ch, &t->in);
	list_remove(&t->link);
	if (!t->has_answer)
		srpc_owe(ch);
	ch->up->released(ch, t); // ch may be gone, too, if it is closed
	if (drain)
		rnic_drain_end(drain);
}

static void drain_begin(struct srp_task *t)
{
	if (t->is_draining)
		return;
	t->is_draining = true;
	rnic_drain_begin(t->channel->drain);
}

static void data_done(struct srp_task *t, int res)
{
	t->step = SRP_IDLE;
	t->channel->up->data(t->channel, t, res);
}

static void part_done(struct srp_task *t, int res)
{
	t->step = SRP_IDLE;
	t->channel->up->part(t->channel, t, res);
}

static void finish(struct srp_task *t, const struct srp_result *r);

static void settle(struct srp_task *t)
{
	bool is_lost = t->channel->is_closed || t->is_failed;
	if (t->pending || t->move.in_flight)
		return;
	if (t->is_ending) {
		if (t->step == SRP_FETCHING && t->result && !is_lost)
			srpc_table_came(t);
		else
			task_free(t);
	} else if (t->result) {
		finish(t, t->result);
	} else if (is_lost) {
		// The close ends the task.
	} else if (t->step == SRP_FETCHING) {
		srpc_table_came(t);
	} else if (t->step == SRP_READING) {
		data_done(t, 0);
	} else if (t->step == SRP_WRITING) {
		part_done(t, 0);
	}
}

static void unref(struct srp_task *t)
{
	t->pending--;
	settle(t);
}

// --- data-in and response ---

static void on_sent(struct rnic_wr *wr, int res)
{
	struct rnic_send *tx = rnic_send_of(wr);
	struct srp_task *t = tx->task;
	rnic_send_end(tx);
	unref(t);
}

static void posted(struct srp_task *t)
{
	if (t->is_ending)
		srpc_send_result(t, t->result, on_sent);
}

// The next len bytes of data-in are to be moved, if the initiator has described room for them.
static void in_wants(struct srp_task *t, uint32_t len)
{
	uint32_t most = t->is_refused ? 0 : t->in.len - t->in_moved;
	t->base = t->in_moved;
	t->want = t->in_moved = t->base + (len < most ? len : most);
}

static void finish(struct srp_task *t, const struct srp_result *r)
{
	struct srp_channel *ch = t->channel;
	t->is_ending = t->is_in = true;
	t->result = r;
	t->since_ns = worker_now(ch->worker);
	if (!r && (t->pending || t->move.in_flight))
		drain_begin(t);
	if (!t->move.in_flight)
		srpc_table_free(t); // of data-out
	t->pending++;		    // holds the task until everything is posted
	if (r && !ch->is_closed) {
		t->sg = r->sg;
		t->nsg = r->nsg;
		in_wants(t, r->data_len);
		srpc_move(t);
	}
	unref(t);
}

void srp_put_part(struct srp_task *t, struct sg *sg, uint32_t nsg, uint32_t len)
{
	t->is_in = true;
	t->sg = sg;
	t->nsg = nsg;
	t->since_ns = worker_now(t->channel->worker);
	in_wants(t, len);
	if (t->channel->is_closed)
		return; // the close ends the task
	t->pending++;	// so that no completion comes between
	srpc_move(t);
	t->pending--;
}

void srp_put_data(struct srp_task *t, const struct srp_result *r)
{
	srpc_drop_immediate(t);
	srpc_wait_ends(t);
	// The response lets the initiator reuse its memory, so reads in flight end first.
	if (r && t->move.reads && !t->channel->is_closed)
		t->result = r;
	else
		finish(t, r);
}

// --- task management ---

// Tasks that have ended for the device server only: those of other channels may still write when
// the answer arrives, and of this one those whose response is not posted yet.
static void await_results(struct srp_channel *ch)
{
	list_each (struct srp_channel, other, &ch->drain->members, member)
		list_each (struct srp_task, t, &other->tasks, link)
			if (t->result && (other != ch || !t->has_answer))
				drain_begin(t);
}

void srp_answer_tmf(struct srp_channel *ch, uint64_t tag, enum srp_rsp_code code)
{
	await_results(ch);
	srpc_send_tmf(ch, tag, code);
}

// --- data-out ---

static void refused(struct srp_task *t)
{
	t->is_refused = true;
	if (t->is_ending) {
		t->step = SRP_WRITING;
		srpc_send_result(t, t->result, on_sent);
	} else if (t->is_in) {
		part_done(t, -EPROTO);
	} else {
		data_done(t, -EPROTO);
	}
}

// What is wrong with a command's data-out; 0: nothing.
static int out_error(const struct srp_task *t)
{
	if (t->channel->is_closed)
		return -EPIPE;
	if (t->want > t->out.len)
		return -EMSGSIZE; // never beyond the memory that the initiator has described
	return t->want && t->out.format == SRP_IMMEDIATE && !t->imm ? -ENOBUFS : 0;
}

void srp_get_data(struct srp_task *t, struct sg *sg, uint32_t nsg, uint32_t len)
{
	t->sg = sg;
	t->nsg = nsg;
	t->base = t->out_moved;
	t->want = t->out_moved = t->base + len;
	t->since_ns = worker_now(t->channel->worker);
	int r = out_error(t);
	if (r || !len || t->imm) {
		if (!r && len)
			srpc_place_immediate(t);
		srpc_drop_immediate(t);
		data_done(t, r);
		return;
	}
	t->pending++; // so that no completion comes between
	srpc_move(t);
	t->pending--;
}

const struct srpc_steps srpc_steps = {
	.posted = posted,
	.refused = refused,
	.settle = settle,
};

// --- what the peer owes ---

struct srp_wait srpc_reads(const struct srp_channel *ch)
{
	struct srp_wait w = { .stuck_ns = ch->reads ? ch->reads_ns : 0 };
	list_each (struct srp_task, t, &ch->tasks, link)
		if (t->move.reads && (!w.since_ns || t->since_ns < w.since_ns))
			w.since_ns = t->since_ns;
	return w;
}

// A task that waits for its turn waits for what is in flight.
struct srp_wait srpc_output(const struct srp_channel *ch)
{
	struct srp_wait w = { .stuck_ns = rnic_out_stuck_ns(&ch->transfers) };
	list_each (struct srp_task, t, &ch->tasks, link)
		if ((t->is_ending || t->step == SRP_WRITING) && !list_linked(&t->wait.link) &&
		    (!w.since_ns || t->since_ns < w.since_ns))
			w.since_ns = t->since_ns;
	w.since_ns = w.since_ns ? w.since_ns : w.stuck_ns; // responses without a task
	return w;
}
