// SPDX-License-Identifier: BSD-2-Clause
// Messages to all workers; the last one posts the message of the caller: see worker_barrier.h.
#include "core/worker_barrier.h"

#include <errno.h>
#include <stdlib.h>

// Rounds that a worker makes: the first one's events may be older than the request; the second one
// handles the close, the third one frees what belonged to it.
#define ROUNDS 4

struct slot {
	struct msg msg;
	struct barrier *barrier;
	struct worker *worker;
	unsigned rounds;
};

struct barrier {
	struct worker *worker;
	struct msg *done;
	unsigned pending; // atomic: workers that have not made their rounds
	struct slot slots[];
};

static void slot_run(struct msg *m)
{
	struct slot *slot = container_of(m, struct slot, msg);
	struct barrier *b = slot->barrier;
	if (slot->rounds--) {
		worker_post(slot->worker, m);
		return;
	}
	if (__atomic_sub_fetch(&b->pending, 1, __ATOMIC_ACQ_REL))
		return;
	worker_post(b->worker, b->done);
	free(b);
}

int worker_barrier(struct worker *w, struct msg *done)
{
	unsigned n = worker_count();
	struct barrier *b = calloc(1, sizeof *b + n * sizeof b->slots[0]);
	if (!b)
		return -ENOMEM;
	b->worker = w;
	b->done = done;
	b->pending = n;
	for (unsigned i = 0; i < n; i++) {
		b->slots[i] = (struct slot){ .msg.fn = slot_run,
					     .barrier = b,
					     .worker = worker_at(i),
					     .rounds = ROUNDS - 1 };
		worker_post(worker_at(i), &b->slots[i].msg);
	}
	return 0;
}
