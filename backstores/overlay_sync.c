// SPDX-License-Identifier: BSD-2-Clause
// Makes an overlay's map durable: first a sync, so that the data of all bits that are set now is
// durable, then those bits, then a sync for them. A bit that is durable therefore stands for data
// that is. The lock is taken once by each flush and each durable first write, for some
// instructions; the map that a commit writes is a copy (overlay_map_stage).
#include <errno.h>
#include <liburing.h>
#include <unistd.h>

#include "backstores/fdstore_priv.h"
#include "backstores/overlay.h"

#define TRIES_MAX 100 // of EAGAIN and EINTR in a row

enum step { SYNC_DATA, WRITE_MAP, SYNC_MAP };

static void run(struct overlay *o);

// Back on its worker.
static void io_ends(struct msg *m)
{
	struct offload *off = container_of(m, struct offload, msg);
	struct bs_io *io = container_of(off, struct bs_io, offload);
	fdstore_end(io, io->result);
}

static void end_io(struct bs_io *io, int res)
{
	if (io->offload.home == worker_self()) {
		fdstore_end(io, res);
		return;
	}
	io->result = res;
	io->offload.msg.fn = io_ends;
	worker_post(io->offload.home, &io->offload.msg);
}

// The next commit begins at the end of the round: it covers all that completed in it.
static void round_ends(struct defer *d)
{
	struct overlay *o = container_of(d, struct overlay, sync.defer);
	pthread_mutex_lock(&o->sync.lock);
	list_splice_back(&o->sync.served, &o->sync.waiting);
	pthread_mutex_unlock(&o->sync.lock);
	overlay_map_stage(&o->map);
	o->sync.step = SYNC_DATA;
	o->sync.tries = 0;
	run(o);
}

static void finish(struct overlay *o, int res)
{
	struct overlay_sync *s = &o->sync;
	struct list ended, *n;
	overlay_map_commit(&o->map, res < 0);
	list_init(&ended);
	list_splice_back(&ended, &s->served);
	pthread_mutex_lock(&s->lock);
	s->is_running = !list_empty(&s->waiting);
	if (s->is_running)
		worker_defer(worker_self(), &s->defer, round_ends);
	else
		pthread_cond_broadcast(&s->idle);
	pthread_mutex_unlock(&s->lock);
	// The last one may be the end of the overlay, but not while others wait.
	while ((n = list_pop_front(&ended)))
		end_io(list_entry(n, struct bs_io, link), res);
}

// The next pages to write; false: there are no more.
static bool next_pages(struct overlay *o)
{
	o->sync.at = overlay_map_staged(&o->map, o->sync.at, &o->sync.length);
	return o->sync.length;
}

// After a step without an error. Without changed pages the first sync is all.
static void next_step(struct overlay *o)
{
	struct overlay_sync *s = &o->sync;
	if (s->step == SYNC_DATA) {
		s->at = 0;
		s->step = WRITE_MAP;
		if (!next_pages(o)) {
			finish(o, 0);
			return;
		}
	} else if (s->step == WRITE_MAP && !next_pages(o)) {
		s->step = SYNC_MAP;
	} else if (s->step == SYNC_MAP) {
		finish(o, 0);
		return;
	}
	run(o);
}

// A sync that has failed may have dropped data of any block: no bit becomes durable after it. A map
// that cannot be written loses nothing, since the next commit writes the same pages.
static int synced(struct overlay *o, int res)
{
	if (res < 0)
		fdstore_note_lost(o->store, res);
	return res >= 0 && fdstore_has_lost(o->store) ? -EIO : res;
}

static void step_done(struct uring_op *op, int res)
{
	struct overlay *o = container_of(op, struct overlay, sync.op);
	if ((res == -EAGAIN || res == -EINTR) && ++o->sync.tries < TRIES_MAX) {
		run(o);
		return;
	}
	o->sync.tries = 0;
	if (o->sync.step == WRITE_MAP && res >= 0) {
		if (!res)
			res = -EIO;
		o->sync.at += (uint64_t)res - (uint64_t)res % OVERLAY_BLOCK;
		if (res > 0 && (uint32_t)res < OVERLAY_BLOCK)
			res = -ENOSPC; // not even a page
	}
	if (o->sync.step != WRITE_MAP)
		res = synced(o, res);
	if (res < 0)
		finish(o, res);
	else
		next_step(o);
}

static void run(struct overlay *o)
{
	struct overlay_sync *s = &o->sync;
	s->op.done = step_done;
	struct io_uring_sqe *sqe = worker_sqe(worker_self(), &s->op);
	if (s->step == WRITE_MAP)
		io_uring_prep_write(sqe, o->map_fd, o->map.staged + s->at, (unsigned)s->length,
				    o->layout.kept + s->at);
	else
		io_uring_prep_fsync(sqe, o->store->fd, IORING_FSYNC_DATASYNC);
}

void overlay_sync_wait(struct overlay *o, struct bs_io *io)
{
	struct overlay_sync *s = &o->sync;
	io->offload.home = worker_self();
	pthread_mutex_lock(&s->lock);
	list_push_back(&s->waiting, &io->link);
	if (!s->is_running)
		worker_defer(worker_self(), &s->defer, round_ends);
	s->is_running = true;
	pthread_mutex_unlock(&s->lock);
}

// --- on the control thread ---

static int sync_file(int fd)
{
	int r;
	do
		r = fdatasync(fd) < 0 ? -errno : 0;
	while (r == -EINTR);
	return r;
}

static int write_pages(struct overlay *o, bool *ret_has_pages)
{
	struct overlay_sync *s = &o->sync;
	*ret_has_pages = false;
	for (s->at = 0; next_pages(o);) {
		*ret_has_pages = true;
		ssize_t n = pwrite(o->map_fd, o->map.staged + s->at, s->length,
				   (off_t)(o->layout.kept + s->at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < (ssize_t)OVERLAY_BLOCK)
			return n < 0 ? -errno : -ENOSPC;
		s->at += (uint64_t)n - (uint64_t)n % OVERLAY_BLOCK;
	}
	return 0;
}

static int commit_now(struct overlay *o)
{
	bool has_pages;
	overlay_map_stage(&o->map);
	int r = synced(o, sync_file(o->store->fd));
	if (!r)
		r = write_pages(o, &has_pages);
	if (!r && has_pages)
		r = synced(o, sync_file(o->store->fd));
	overlay_map_commit(&o->map, r < 0);
	return r;
}

// Those that came meanwhile get a commit on the first one's worker.
static void hand_over(struct msg *m)
{
	struct offload *off = container_of(m, struct offload, msg);
	struct bs_io *io = container_of(off, struct bs_io, offload);
	struct overlay *o = ((struct fdstore *)io->bs)->overlay;
	worker_defer(worker_self(), &o->sync.defer, round_ends);
}

int overlay_sync_now(struct overlay *o)
{
	struct overlay_sync *s = &o->sync;
	pthread_mutex_lock(&s->lock);
	while (s->is_running)
		pthread_cond_wait(&s->idle, &s->lock);
	s->is_running = true;
	pthread_mutex_unlock(&s->lock);
	int r = commit_now(o);
	pthread_mutex_lock(&s->lock);
	s->is_running = !list_empty(&s->waiting);
	if (s->is_running) {
		struct bs_io *first = list_entry(s->waiting.next, struct bs_io, link);
		first->offload.msg.fn = hand_over;
		worker_post(first->offload.home, &first->offload.msg);
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

void overlay_sync_init(struct overlay *o)
{
	pthread_mutex_init(&o->sync.lock, NULL);
	pthread_cond_init(&o->sync.idle, NULL);
	list_init(&o->sync.waiting);
	list_init(&o->sync.served);
}

void overlay_sync_done(struct overlay *o)
{
	pthread_mutex_destroy(&o->sync.lock);
	pthread_cond_destroy(&o->sync.idle);
}
