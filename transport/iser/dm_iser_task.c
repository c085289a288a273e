// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover, the steps of a command: Get_Data as RDMA Reads of what did not come
// unsolicited, Put_Data as RDMA Writes followed by a SCSI Response, and the end, reported when all
// its requests are done. RFC 7145 7.3, 9.5. The connection's worker.
#include <errno.h>
#include <string.h>

#include "transport/iser/dm_iser_priv.h"
#include "transport/wire/be.h"

// --- the end of a command ---

static void task_free(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	struct dm_task *t = dm_task_of(it);
	bool was_draining = it->is_draining;
	list_remove(&it->link);
	d->dm.up->released(&d->dm, t);
	if (was_draining)
		rnic_drain_end(&d->drain);
}

// Takes the step that waited for requests in flight.
static void settle(struct dm_iser_task *it)
{
	if (it->pending || it->move.in_flight)
		return;
	if (it->is_ending) {
		task_free(it);
		return;
	}
	if (it->transfer == ISER_SENDING && !it->d->is_closed) {
		it->transfer = ISER_IDLE;
		it->d->dm.up->part(&it->d->dm, dm_task_of(it), it->out.error);
		return;
	}
	// Flushed reads need no result: the close ends the task.
	if (it->transfer != ISER_READING || it->d->is_closed || it->out.error == -EPIPE)
		return;
	it->transfer = ISER_IDLE;
	it->out.received = it->out.want;
	dm_iser_progress(it);
}

static void unref(struct dm_iser_task *it)
{
	it->pending--;
	settle(it);
}

// --- status ---

static void on_status_sent(struct rnic_wr *wr, int res)
{
	struct rnic_send *tx = rnic_send_of(wr);
	struct dm_iser_task *it = tx->task;
	rnic_send_end(tx);
	unref(it);
}

static void send_status(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	const struct dm_result *r = it->out.result;
	uint32_t sense = r->sense_len < ISER_SENSE_MAX ? r->sense_len : ISER_SENSE_MAX;
	uint32_t len = sense ? sense + 2 : 0;
	struct rnic_send *tx = dm_iser_tx_get(d, len);
	if (!tx)
		return;
	uint8_t *bhs = dm_iser_tx_bhs(tx);
	struct iscsi_scsi_rsp *h = (void *)bhs;
	h->opcode = ISCSI_OP_SCSI_RSP;
	h->flags = ISCSI_F | r->residual_flags;
	h->response = r->response;
	h->status = r->status;
	memcpy(h->itt, &dm_task_of(it)->itt, sizeof h->itt);
	put_be32(h->residual, r->residual);
	if (sense) {
		put_be16(bhs + ISCSI_BHS_LEN, (uint16_t)sense);
		memcpy(bhs + ISCSI_BHS_LEN + 2, r->sense, sense);
	}
	dm_stamp(&d->dm, bhs);
	d->dm.sns->stat_sn++;
	// The peer checks that the invalidated tag is this command's.
	uint32_t stag = it->has_read ? it->read.stag : it->has_write ? it->write.stag : 0;
	if (d->can_invalidate && stag) {
		tx->wr.opcode = RNIC_SEND_INVALIDATE;
		tx->wr.rkey = stag;
	}
	tx->task = it;
	tx->wr.done = on_status_sent;
	it->pending++;
	dm_iser_tx_post(d, tx, len);
}

// --- RDMA ---

static void wait_for_buffer(struct dm_iser_task *it);

static void on_moved(struct rnic_wr *wr, int res)
{
	struct dm_iser_task *it = container_of(rnic_transfer_of(wr), struct dm_iser_task, move);
	if (wr->opcode == RNIC_READ)
		it->out.progress_ns = worker_now(it->d->worker);
	if (res < 0 && it->transfer != ISER_WRITING)
		it->out.error = -EPIPE;
	rnic_transfer_end(wr, res == 0 && !it->is_ending);
	dm_task_of(it)->is_fetching = it->move.reads;
	settle(it);
}

// Posts the rest of the transfer. True if all of it is posted; else it continues by itself, or the
// connection is closing.
static bool transfer_post(struct dm_iser_task *it)
{
	int r = rnic_transfer_post(&it->move, on_moved);
	dm_task_of(it)->is_fetching = it->move.reads;
	if (r == -EAGAIN) {
		wait_for_buffer(it);
	} else if (r < 0) {
		it->out.error = it->transfer == ISER_READING ? -EPIPE : it->out.error;
		dm_iser_fail(it->d, r, "cannot post an RDMA request");
	}
	return !r;
}

static void transfer_begin(struct dm_iser_task *it, struct sg *sg, uint32_t nsg, uint32_t at,
			   uint32_t end)
{
	it->move.opcode = it->transfer == ISER_READING ? RNIC_READ : RNIC_WRITE;
	rnic_transfer_begin(&it->move, sg, nsg, at, end);
}

// --- waiting for buffers ---

static void buffer_came(struct buf_wait *w)
{
	struct dm_iser_task *it = container_of(w, struct dm_iser_task, wait);
	if (transfer_post(it) && it->is_ending)
		send_status(it);
	unref(it); // transfer_post() has taken another reference if necessary
}

static void wait_for_buffer(struct dm_iser_task *it)
{
	it->pending++;
	buf_wait_add(it->d->worker, &it->wait, buffer_came);
}

static void wait_ends(struct dm_iser_task *it)
{
	if (!list_linked(&it->wait.link))
		return;
	buf_wait_cancel(&it->wait);
	it->pending--;
}

void dm_iser_drop_waits(struct dm_iser *d)
{
	list_each_safe (struct dm_iser_task, it, &d->tasks, link) {
		if (!list_linked(&it->wait.link))
			continue;
		buf_wait_cancel(&it->wait);
		unref(it);
	}
}

// --- data-in and status ---

// Makes the next len bytes of data-in the current transfer. False: the connection is closing.
static bool write_begin(struct dm_iser_task *it, struct sg *sg, uint32_t nsg, uint32_t len)
{
	len = len < it->room ? len : it->room;
	it->transfer = it->is_ending ? ISER_WRITING : ISER_SENDING;
	if (len && !it->has_read) {
		dm_iser_fail(it->d, -EPROTO, "a read command has no Read STag");
		return false;
	}
	it->move.rkey = it->read.stag;
	it->move.remote = it->read.base;
	it->move.is_awaited = !it->is_ending;
	transfer_begin(it, sg, nsg, 0, len);
	it->read.base += len;
	it->room -= len;
	return true;
}

static void send_result(struct dm_iser_task *it, struct dm_result *r)
{
	struct dm_iser *d = it->d;
	dm_iser_forget(it);
	wait_ends(it);
	it->is_ending = true;
	it->sending_ns = worker_now(d->worker);
	if (!r && (it->pending || it->move.in_flight)) {
		it->is_draining = true;
		rnic_drain_begin(&d->drain);
	}
	it->pending++; // holds the task until everything is posted
	if (r && !d->is_closed) {
		it->out.result = r;
		if (write_begin(it, r->sg, r->nsg, r->data_len) && transfer_post(it))
			send_status(it);
	}
	unref(it);
}

// Of a closed connection up->part does not follow: the close ends its tasks.
void dm_iser_put_part(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len)
{
	struct dm_iser *d = dm_iser(dm);
	struct dm_iser_task *it = dm_iser_task(t);
	if (d->is_closed)
		return;
	it->sending_ns = worker_now(d->worker);
	it->pending++; // so that no completion comes between
	if (write_begin(it, sg, nsg, len))
		transfer_post(it);
	it->pending--;
}

void dm_iser_put_data(struct dm *dm, struct dm_task *t, struct dm_result *r)
{
	struct dm_iser *d = dm_iser(dm);
	struct dm_iser_task *it = dm_iser_task(t);
	// Status lets the initiator reuse its memory, so reads in flight end first.
	if (r && (it->out.owes_data || it->move.reads) && !d->is_closed) {
		dm_iser_drop_data(it);
		wait_ends(it);
		it->out.wants_data = false;
		t->is_finished = true;
		it->out.result = r;
		return;
	}
	t->is_finished = false;
	send_result(it, r);
}

// --- data-out ---

static void read_rest(struct dm_iser_task *it, uint32_t at)
{
	uint32_t base = it->out.base;
	// The initiator advertises the memory of the solicited data only. By the RFC's default it
	// would be all of the command's memory, but initiators do that only if they declare it.
	uint32_t skip = it->d->params.tagged_solicited_only ? it->out.requested : 0;
	it->transfer = ISER_READING;
	it->move.rkey = it->write.stag;
	it->move.remote = it->write.base - skip + base;
	transfer_begin(it, it->out.sg, it->out.nsg, at - base, it->out.want - base);
	it->pending++; // so that no completion comes between
	transfer_post(it);
	it->pending--;
}

static void data_done(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	struct dm_task *t = dm_task_of(it);
	it->out.wants_data = false;
	dm_owed_remove(&d->owed, t);
	d->dm.up->data(&d->dm, t, it->out.error);
}

void dm_iser_progress(struct dm_iser_task *it)
{
	struct dm_task *t = dm_task_of(it);
	if (it->out.wants_data)
		dm_iser_unpark(it);
	if (it->out.owes_data)
		return;
	if (t->is_finished) {
		struct dm_result *r = it->out.result;
		t->is_finished = false;
		send_result(it, r);
		return;
	}
	if (!it->out.wants_data || it->transfer == ISER_READING)
		return;
	if (!it->out.error && it->out.want > t->expected_out)
		it->out.error = -EMSGSIZE; // never beyond the memory that the initiator advertised
	if (!it->out.error && it->out.received < it->out.want && !it->has_write)
		it->out.error = -EPROTO;
	if (it->out.error || it->out.received >= it->out.want)
		data_done(it);
	else
		read_rest(it, it->out.received);
}

void dm_iser_get_data(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len)
{
	struct dm_iser *d = dm_iser(dm);
	struct dm_iser_task *it = dm_iser_task(t);
	it->out.sg = sg;
	it->out.nsg = nsg;
	it->out.base = it->out.want;
	it->out.want += len;
	it->out.wants_data = true;
	it->out.progress_ns = worker_now(d->worker);
	if (!it->out.owes_data)
		it->out.owed_ns = it->out.progress_ns;
	if (d->is_closed) {
		it->out.error = -EPIPE;
		it->out.owes_data = false;
	}
	dm_iser_progress(it);
}

// --- what the peer owes ---

static bool is_owed(const struct dm_iser_task *it)
{
	return it->out.owes_data || it->move.reads ||
	       (it->transfer == ISER_READING && it->out.wants_data);
}

uint64_t dm_iser_oldest_owed(struct dm *dm)
{
	uint64_t oldest = 0;
	list_for_each (l, &dm_iser(dm)->tasks) {
		const struct dm_iser_task *it = list_entry(l, struct dm_iser_task, link);
		if (is_owed(it) && (!oldest || it->out.progress_ns < oldest))
			oldest = it->out.progress_ns;
	}
	return oldest;
}

uint64_t dm_iser_owed_since(const struct dm_iser *d)
{
	uint64_t since = 0;
	list_for_each (l, &d->tasks) {
		const struct dm_iser_task *it = list_entry(l, struct dm_iser_task, link);
		if (is_owed(it) && (!since || it->out.owed_ns < since))
			since = it->out.owed_ns;
	}
	return since;
}

uint64_t dm_iser_tx_since(const struct dm_iser *d)
{
	uint64_t since = 0;
	list_for_each (l, &d->tasks) {
		const struct dm_iser_task *it = list_entry(l, struct dm_iser_task, link);
		bool is_sending = it->is_ending || it->transfer == ISER_SENDING;
		if (is_sending && (!since || it->sending_ns < since))
			since = it->sending_ns;
	}
	return since;
}
