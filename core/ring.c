// SPDX-License-Identifier: BSD-2-Clause
// The io_uring of a worker, on its thread: set up with the best flags the kernel knows,
// submissions once per round, no system call if there are no completions.
#include "core/worker_priv.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/log.h"

#define RING_ENTRIES 512
#define BLOCKING_MAX                                                                               \
	256		 // operations at once that block a thread of the kernel: syncs and others
			 // of a slow disk must not delay those of a fast one
#define RING_CQ_FACTOR 8 // operations in flight before completions overflow to the slow list

// Best first. A kernel that does not know a flag returns -EINVAL.
static const unsigned setups[] = {
	IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
		IORING_SETUP_SUBMIT_ALL,
	IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
	0,
};

static const struct {
	int code;
	const char *cure;
} cures[] = {
	{-ENOSYS,  "io_uring is missing: use Linux 6.1 or later, and allow io_uring_setup in the "
		   "seccomp filter"			    },
	{ -EPERM,  "io_uring is disabled: set sysctl kernel.io_uring_disabled=0"},
	{ -ENOMEM, "raise the memlock limit: LimitMEMLOCK=infinity or ulimit -l"},
	{ -EMFILE, "raise the limit on open files: LimitNOFILE or ulimit -n"    },
};

static const char *ring_cure(int code)
{
	for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
		if (cures[i].code == code)
			return cures[i].cure;
	return "farblockd needs io_uring";
}

static int ring_setup(struct worker *w)
{
	unsigned entries = w->options.ring_entries ? w->options.ring_entries : RING_ENTRIES;
	int r = -EINVAL;

	for (size_t i = 0; r == -EINVAL && i < sizeof setups / sizeof *setups; i++) {
		struct io_uring_params p = {
			.flags = setups[i] | IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE |
				 IORING_SETUP_CLAMP,
			.cq_entries = entries * RING_CQ_FACTOR,
		};
		r = io_uring_queue_init_params(entries, &w->ring, &p);
	}
	return r;
}

int ring_new(struct worker *w, struct err *e)
{
	w->ring.ring_fd = -1;
	int r = ring_setup(w);
	if (r < 0) {
		w->ring.ring_fd = -1;
		return err_set(e, r, "worker %s: io_uring: %s (%s)", w->name, strerror(-r),
			       ring_cure(r));
	}
	return 0;
}

int ring_enter(struct worker *w)
{
	// liburing 2.3 declares io_uring_enable_rings() but does not export it. -EBADFD: enabled
	// before, by an earlier worker_run().
	if (syscall(__NR_io_uring_register, w->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL,
		    0) < 0 &&
	    errno != EBADFD)
		return -errno;
	io_uring_register_ring_fd(&w->ring);	   // saves a lookup per call; optional
	unsigned threads[2] = { BLOCKING_MAX, 0 }; // 0: as it is, for what is not a file
	io_uring_register_iowq_max_workers(&w->ring, threads); // else 4 for each CPU; optional
	return 0;
}

void ring_leave(struct worker *w)
{
	io_uring_unregister_ring_fd(&w->ring); // the index belongs to this thread
}

static bool ring_needs_flush(const struct worker *w)
{
	return IO_URING_READ_ONCE(*w->ring.sq.kflags) & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW);
}

bool ring_is_ready(const struct worker *w)
{
	return io_uring_cq_ready(&w->ring) || ring_needs_flush(w);
}

static unsigned in_kernel(const struct worker *w)
{
	unsigned queued = io_uring_sq_ready(&w->ring); // the watch of the epoll instance, too
	return w->in_flight > queued ? w->in_flight - queued : 0;
}

void ring_reap(struct worker *w)
{
	struct io_uring *ring = &w->ring;

	if (ring_needs_flush(w))
		io_uring_get_events(ring);
	// Only the completions present now: work that completes at once must not starve the rest.
	for (unsigned n = io_uring_cq_ready(ring); n; n--) {
		const struct io_uring_cqe *cqe =
			&ring->cq.cqes[*ring->cq.khead & ring->cq.ring_mask];
		struct uring_op *op = (struct uring_op *)(uintptr_t)cqe->user_data;
		int res = cqe->res;
		uint32_t flags = cqe->flags;
		io_uring_cq_advance(ring, 1);
		if (op != &w->fds_op)
			w->worked_at = w->now;
		if (!(flags & IORING_CQE_F_MORE)) {
			w->in_flight -= op != &w->fds_op;
			list_remove(&op->link);
		}
		op->cqe_flags = flags;
		op->done(op, res);
	}
}

void ring_submit(struct worker *w)
{
	if (!io_uring_sq_ready(&w->ring))
		return;
	// Before the worker waits for the first of these, sockets must be watched: now it needs no
	// system call of its own.
	ring_watch_fds(w);
	io_uring_submit_and_get_events(&w->ring); // what it could not take stays for the next round
}

void ring_wait(struct worker *w, const struct timespec *timeout)
{
	struct __kernel_timespec t;
	struct io_uring_cqe *cqe;

	if (timeout)
		t = (struct __kernel_timespec){ timeout->tv_sec, timeout->tv_nsec };
	io_uring_submit_and_wait_timeout(&w->ring, &cqe, 1, timeout ? &t : NULL, NULL);
}

static struct io_uring_sqe *ring_sqe(struct worker *w, struct uring_op *op)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&w->ring);

	while (!sqe) {
		// -EAGAIN: the kernel is short of memory for requests, which completions free.
		if (io_uring_submit(&w->ring) < 0)
			sched_yield();
		sqe = io_uring_get_sqe(&w->ring);
	}
	io_uring_sqe_set_data(sqe, op);
	list_init(&op->link);
	return sqe;
}

struct io_uring_sqe *worker_sqe(struct worker *w, struct uring_op *op)
{
	// A device that has nothing to do gets the first operations of a batch at once, and one
	// that is busy not many small batches.
	unsigned ready = io_uring_sq_ready(&w->ring);
	if (ready && ready >= in_kernel(w))
		ring_submit(w);
	w->in_flight++;
	return ring_sqe(w, op);
}

static void fds_ready(struct uring_op *op, int res)
{
	struct worker *w = container_of(op, struct worker, fds_op);

	w->is_ring_watching = false;
	w->has_fds_ready = true;
}

void ring_watch_fds(struct worker *w)
{
	if (w->is_ring_watching)
		return;
	w->is_ring_watching = true;
	w->fds_op.done = fds_ready;
	io_uring_prep_poll_add(ring_sqe(w, &w->fds_op), w->epoll_fd, POLLIN);
}

struct io_uring *worker_ring(struct worker *w)
{
	return &w->ring;
}
