// SPDX-License-Identifier: BSD-2-Clause
// See fdsync.h. A sync starts when no more writes are about to join it, but waits for them no
// longer than one takes.
#include "backstores/fdsync.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#define TRIES_MAX  100 // of EAGAIN and EINTR in a row
#define MEAN_SHIFT 3
#define NS_PER_US  1000u

struct fdsync {
	int fd;
	void (*done)(struct bs_io *io, int res);
	struct list waiting; // for the next sync
	struct list served;  // by the one that runs
	struct defer defer;
	struct timer timer; // runs while others are awaited
	struct uring_op op;
	bool is_running;
	uint32_t tries;
	uint32_t writes;  // durable ones in flight
	uint32_t most;	  // of them at once since there were none
	uint32_t usual;	  // most, the last time before
	uint32_t writing; // of them, which will join the next sync
	uint64_t since_ns, mean_ns;
};

static void sync_done(struct uring_op *op, int res);

static void sync_submit(struct fdsync *s)
{
	s->op.done = sync_done;
	struct io_uring_sqe *sqe = worker_sqe(worker_self(), &s->op);
	io_uring_prep_fsync(sqe, s->fd, IORING_FSYNC_DATASYNC);
}

static void sync_start(struct fdsync *s)
{
	worker_defer_cancel(&s->defer);
	timer_cancel(worker_self(), &s->timer);
	list_splice_back(&s->served, &s->waiting);
	s->is_running = true;
	s->tries = 0;
	s->since_ns = worker_now(worker_self());
	sync_submit(s);
}

// At the end of the round: it covers all that completed in it.
static void round_ends(struct defer *d)
{
	struct fdsync *s = container_of(d, struct fdsync, defer);
	if (!s->writing)
		sync_start(s);
	else if (!timer_is_armed(&s->timer))
		timer_arm(worker_self(), &s->timer, s->mean_ns / NS_PER_US);
}

static void time_is_over(struct timer *t)
{
	sync_start(container_of(t, struct fdsync, timer));
}

// Defers nothing while nothing waits: s may be freed then.
static void look_later(struct fdsync *s)
{
	if (!s->is_running && !list_empty(&s->waiting))
		worker_defer(worker_self(), &s->defer, round_ends);
}

static void sync_done(struct uring_op *op, int res)
{
	struct fdsync *s = container_of(op, struct fdsync, op);
	uint64_t took = worker_now(worker_self()) - s->since_ns;
	struct list ended, *n;
	if ((res == -EAGAIN || res == -EINTR) && ++s->tries < TRIES_MAX) {
		sync_submit(s);
		return;
	}
	list_init(&ended);
	list_splice_back(&ended, &s->served);
	s->mean_ns += (took >> MEAN_SHIFT) - (s->mean_ns >> MEAN_SHIFT);
	s->is_running = false;
	look_later(s);
	while ((n = list_pop_front(&ended)))
		s->done(list_entry(n, struct bs_io, link), res);
}

struct fdsync *fdsync_get(struct fdsyncs *all, int fd, void (*done)(struct bs_io *io, int res))
{
	struct fdsync **s = &all->of[worker_index(worker_self())];
	if (*s)
		return *s;
	*s = calloc(1, sizeof **s);
	if (!*s)
		return NULL;
	(*s)->fd = fd;
	(*s)->done = done;
	list_init(&(*s)->waiting);
	list_init(&(*s)->served);
	timer_init(&(*s)->timer, time_is_over);
	return *s;
}

void fdsyncs_done(struct fdsyncs *all)
{
	for (unsigned i = 0; i <= WORKER_MAX; i++)
		free(all->of[i]);
}

// It is written, or has failed.
static void note_written(struct fdsync *s, struct bs_io *io)
{
	if (io->durable != BS_WRITTEN_BEFORE_SYNC)
		return;
	io->durable = BS_DURABLE_BY_SYNC;
	s->writing--;
	look_later(s);
}

void fdsync_wait(struct fdsync *s, struct bs_io *io)
{
	note_written(s, io);
	list_push_back(&s->waiting, &io->link);
	look_later(s);
}

void fdsync_begin(struct fdsync *s, struct bs_io *io, bool has_fua, bool is_split)
{
	if (++s->writes > s->most)
		s->most = s->writes;
	bool is_alone = s->most == 1 && s->usual <= 1;
	io->durable =
		has_fua || (is_alone && !is_split) ? BS_WRITTEN_DURABLY : BS_WRITTEN_BEFORE_SYNC;
	s->writing += io->durable == BS_WRITTEN_BEFORE_SYNC;
}

void fdsync_end(struct fdsync *s, struct bs_io *io)
{
	note_written(s, io);
	if (--s->writes)
		return;
	s->usual = s->most;
	s->most = 0;
}
