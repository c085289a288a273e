// SPDX-License-Identifier: BSD-2-Clause
// A second io_uring of a worker, for devices with poll queues: the kernel finds completions by
// polling the device instead of by interrupts (IORING_SETUP_IOPOLL). It is set up on first use.
// While operations are in flight the worker polls in every round and does not sleep.
#include "core/worker_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"

#define RING_ENTRIES 256

struct polled_ring {
	struct io_uring ring;
	struct poller poller;
	unsigned in_flight;
};

static struct polled_ring *polled_of(struct poller *p)
{
	return container_of(p, struct polled_ring, poller);
}

static bool polled_poll(struct poller *poller)
{
	struct polled_ring *p = polled_of(poller);
	struct io_uring_cqe *cqe;
	unsigned n = 0;

	if (!p->in_flight)
		return false;
	io_uring_submit_and_get_events(&p->ring);
	// Only the completions present now: their callbacks may submit more.
	for (unsigned left = io_uring_cq_ready(&p->ring); left; left--, n++) {
		cqe = &p->ring.cq.cqes[*p->ring.cq.khead & p->ring.cq.ring_mask];
		struct uring_op *op = (struct uring_op *)(uintptr_t)cqe->user_data;
		int res = cqe->res;
		op->cqe_flags = cqe->flags;
		io_uring_cq_advance(&p->ring, 1);
		p->in_flight--;
		op->done(op, res);
	}
	return n;
}

static bool polled_arm(struct poller *poller)
{
	return polled_of(poller)->in_flight;
}

static int polled_setup(struct io_uring *ring)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_IOPOLL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_SUBMIT_ALL,
	};
	return io_uring_queue_init_params(RING_ENTRIES, ring, &params);
}

static struct polled_ring *polled_new(struct worker *w)
{
	struct polled_ring *p = calloc(1, sizeof *p);
	int r = p ? polled_setup(&p->ring) : -ENOMEM;
	if (r < 0) {
		log_warn("worker %s: io_uring with IOPOLL: %s (disks with iopoll=true are served "
			 "without it)",
			 w->name, strerror(-r));
		free(p);
		return NULL;
	}
	p->poller.poll = polled_poll;
	p->poller.arm = polled_arm;
	poller_add(w, &p->poller);
	return p;
}

struct io_uring_sqe *worker_polled_sqe(struct worker *w, struct uring_op *op)
{
	if (!w->polled && !w->has_no_polled) {
		w->polled = polled_new(w);
		w->has_no_polled = !w->polled;
	}
	struct polled_ring *p = w->polled;
	if (!p)
		return NULL;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&p->ring);
	while (!sqe) {
		io_uring_submit_and_get_events(&p->ring);
		sqe = io_uring_get_sqe(&p->ring);
	}
	io_uring_sqe_set_data(sqe, op);
	p->in_flight++;
	return sqe;
}

void polled_submit(struct worker *w)
{
	if (w->polled && io_uring_sq_ready(&w->polled->ring))
		io_uring_submit(&w->polled->ring);
}

void polled_free(struct worker *w)
{
	if (!w->polled)
		return;
	io_uring_queue_exit(&w->polled->ring);
	free(w->polled);
	w->polled = NULL;
}
