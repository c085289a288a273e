// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel, RDMA: the data of a task is moved descriptor by descriptor; an
// external table is fetched first. T10 SRP 5.4. The connection's worker.
//
// Requests in flight and tables in memory are limited for each channel; tasks that find the limit
// reached wait for their turn. The table is kept only until the last request is posted.
#include <errno.h>

#include "transport/srp/target_priv.h"

static struct srp_side *side_of(struct srp_task *t)
{
	return t->is_in ? &t->in : &t->out;
}

static void unref(struct srp_task *t)
{
	t->pending--;
	t->channel->steps->settle(t);
}

// --- waiting ---

static void resume(struct srp_task *t);

static void buffer_came(struct buf_wait *w)
{
	struct srp_task *t = container_of(w, struct srp_task, wait);
	resume(t);
	unref(t); // a further wait has its own reference
}

static void wait_for_buffer(struct srp_task *t)
{
	t->pending++;
	buf_wait_add(t->channel->worker, &t->wait, buffer_came);
}

static void wait_for_turn(struct srp_task *t, struct list *turns)
{
	t->pending++;
	list_push_back(turns, &t->turn);
}

// False: no task waits there, or none may continue.
static bool next_turn(struct srp_channel *ch, struct list *turns)
{
	struct list *l = ch->is_closing || ch->is_closed ? NULL : list_pop_front(turns);
	if (!l)
		return false;
	struct srp_task *t = list_entry(l, struct srp_task, turn);
	resume(t);
	unref(t);
	return true;
}

void srpc_wait_ends(struct srp_task *t)
{
	if (list_linked(&t->wait.link)) {
		buf_wait_cancel(&t->wait);
		t->pending--;
	}
	if (list_linked(&t->turn)) {
		list_remove(&t->turn);
		t->pending--;
	}
}

void srpc_drop_waits(struct srp_channel *ch)
{
	list_each_safe (struct srp_task, t, &ch->tasks, link) {
		if (!list_linked(&t->wait.link) && !list_linked(&t->turn))
			continue;
		srpc_wait_ends(t);
		t->channel->steps->settle(t);
	}
}

// --- requests ---

static void on_moved(struct rnic_wr *wr, int res)
{
	struct srp_task *t = container_of(rnic_transfer_of(wr), struct srp_task, move);
	struct srp_channel *ch = t->channel;
	if (wr->opcode == RNIC_READ) {
		ch->reads--;
		ch->reads_ns = worker_now(ch->worker);
	}
	t->is_failed |= res < 0 && (wr->opcode == RNIC_READ || !t->is_ending);
	rnic_transfer_end(wr, res == 0 && !(t->is_ending && !t->result));
	t->is_fetching = t->step == SRP_READING && t->move.reads;
	ch->moves--;
	t->channel->steps->settle(t);
	while (ch->moves < SRP_MOVES_MAX && next_turn(ch, &ch->turns))
		;
}

// Posts what is left of one descriptor.
static int move_post(struct srp_task *t)
{
	struct srp_channel *ch = t->channel;
	unsigned before = t->move.in_flight, reads = t->move.reads;
	int r = rnic_transfer_post(&t->move, on_moved);
	ch->moves += t->move.in_flight - before;
	if (!ch->reads)
		ch->reads_ns = worker_now(ch->worker);
	ch->reads += t->move.reads - reads;
	t->is_fetching = t->step == SRP_READING && t->move.reads;
	return r;
}

static void move_failed(struct srp_task *t, int r)
{
	if (r == -EAGAIN) {
		wait_for_buffer(t);
		return;
	}
	t->is_failed = true;
	srpc_fail(t->channel, r, "SRP: cannot post an RDMA request");
}

// --- data ---

static const uint8_t *descs_of(const struct srp_task *t, const struct srp_side *s, uint32_t *count)
{
	*count = t->fetched ? s->table.len / SRP_DIRECT_LEN : s->count;
	return t->fetched ? t->fetched->addr : s->descs;
}

// The next descriptor becomes the current transfer.
static void begin_desc(struct srp_task *t, const uint8_t *raw)
{
	struct srp_desc d;
	srp_desc_parse(&d, raw);
	uint32_t from = t->at > t->base ? t->at : t->base;
	uint32_t end = d.len < t->want - t->at ? t->at + d.len : t->want;
	t->move.rkey = d.key;
	t->move.remote = d.va - t->at + t->base; // of byte 0 of sg
	if (from < end)
		rnic_transfer_begin(&t->move, t->sg, t->nsg, from - t->base, end - t->base);
	t->at = end;
	t->next++;
}

static void data_post(struct srp_task *t)
{
	struct srp_channel *ch = t->channel;
	uint32_t count;
	const uint8_t *descs = descs_of(t, side_of(t), &count);
	int r;
	while (!(r = move_post(t)) && t->at < t->want && t->next < count) {
		if (ch->moves >= SRP_MOVES_MAX) {
			wait_for_turn(t, &ch->turns);
			return;
		}
		begin_desc(t, descs + (size_t)t->next * SRP_DIRECT_LEN);
	}
	if (r < 0) {
		move_failed(t, r);
		return;
	}
	srpc_table_free(t);
	t->channel->steps->posted(t);
}

static void data_begin(struct srp_task *t)
{
	t->step = t->is_in ? SRP_WRITING : SRP_READING;
	t->move.opcode = t->is_in ? RNIC_WRITE : RNIC_READ;
	t->move.is_awaited = !t->is_ending;
	t->move.at = t->move.end = 0;
	t->at = t->next = 0;
	data_post(t);
}

// --- tables ---

static bool is_external(const struct srp_side *s)
{
	return s->format == SRP_INDIRECT && s->count < s->table.len / SRP_DIRECT_LEN;
}

static void fetch_post(struct srp_task *t)
{
	int r = move_post(t);
	if (r < 0)
		move_failed(t, r);
}

static void fetch(struct srp_task *t)
{
	struct srp_channel *ch = t->channel;
	const struct srp_desc *d = &side_of(t)->table;
	t->step = SRP_FETCHING;
	if (ch->tables >= SRP_TABLES_MAX) {
		wait_for_turn(t, &ch->table_turns);
		return;
	}
	t->fetched = buf_get(ch->worker, d->len);
	if (!t->fetched) {
		wait_for_buffer(t);
		return;
	}
	ch->tables++;
	t->table_sg = (struct sg){ .addr = t->fetched->addr, .len = d->len };
	t->move.opcode = RNIC_READ;
	t->move.rkey = d->key;
	t->move.remote = d->va;
	rnic_transfer_begin(&t->move, &t->table_sg, 1, 0, d->len);
	fetch_post(t);
}

void srpc_table_put(struct srp_task *t)
{
	struct srp_channel *ch = t->channel;
	buf_put(t->fetched);
	t->fetched = NULL;
	ch->tables--;
	while (ch->tables < SRP_TABLES_MAX && next_turn(ch, &ch->table_turns))
		;
}

void srpc_table_came(struct srp_task *t)
{
	const struct srp_side *s = side_of(t);
	uint32_t count = s->table.len / SRP_DIRECT_LEN;
	t->pending++;
	if (srp_table_is_valid(t->fetched->addr, count, s->len)) {
		data_begin(t);
	} else {
		srpc_table_free(t);
		t->channel->steps->refused(t);
	}
	unref(t);
}

// --- both ---

static void resume(struct srp_task *t)
{
	if (t->step != SRP_FETCHING)
		data_post(t);
	else if (t->fetched)
		fetch_post(t);
	else
		fetch(t);
}

void srpc_move(struct srp_task *t)
{
	if (t->want > t->base && is_external(side_of(t)))
		fetch(t);
	else
		data_begin(t);
}
