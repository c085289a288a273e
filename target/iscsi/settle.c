// SPDX-License-Identifier: BSD-2-Clause
// What a login waits for before it enters the table of sessions: every worker handles what its
// sockets had received by then. An initiator that closes a connection and logs in again thus finds
// its old nexus gone, with its reservations and preventions, whichever worker served it.
#include <errno.h>
#include <stdlib.h>

#include "target/iscsi/conn.h"

// Rounds that a worker makes: the first one's events may be older than the request; the second one
// handles the close, the third one frees the nexus.
#define ROUNDS 4

struct settle_slot {
	struct msg msg;
	struct settle *settle;
	struct worker *worker;
	unsigned rounds;
};

struct settle {
	struct conn *conn;
	unsigned pending; // atomic: workers that have not settled
	struct settle_slot slots[];
};

static void slot_run(struct msg *m)
{
	struct settle_slot *slot = container_of(m, struct settle_slot, msg);
	struct settle *s = slot->settle;
	if (slot->rounds--) {
		worker_post(slot->worker, m);
		return;
	}
	if (__atomic_sub_fetch(&s->pending, 1, __ATOMIC_ACQ_REL))
		return;
	worker_post(s->conn->worker, &s->conn->resume_msg);
	free(s);
}

int settle_start(struct conn *c)
{
	unsigned n = worker_count();
	struct settle *s = calloc(1, sizeof *s + n * sizeof s->slots[0]);
	if (!s)
		return -ENOMEM;
	s->conn = c;
	s->pending = n;
	conn_hold(c); // until the message
	for (unsigned i = 0; i < n; i++) {
		struct worker *w = worker_at(i);
		s->slots[i] = (struct settle_slot){
			.msg.fn = slot_run, .settle = s, .worker = w, .rounds = ROUNDS - 1
		};
		worker_post(w, &s->slots[i].msg);
	}
	return 0;
}
