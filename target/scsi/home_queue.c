// SPDX-License-Identifier: BSD-2-Clause
// Changes one after the other, see home_queue.h.
#include "target/scsi/home_queue.h"

#include "target/scsi/lu.h"

// Runs the first change, and later ones while they end at once: a loop instead of recursion, since
// peers determine the length of the queue.
static void drain(struct home_queue *q)
{
	struct list *first;
	if (q->is_draining)
		return;
	q->is_draining = true;
	while ((first = list_first(&q->changes))) {
		struct home_change *c = list_entry(first, struct home_change, link);
		if (c->is_started)
			break;
		c->is_started = true;
		c->run(c);
	}
	q->is_draining = false;
}

void home_change_start(struct home_change *c, struct lu *lu, struct home_queue *q)
{
	c->lu = lu;
	c->queue = q;
	c->is_started = false;
	list_push_back(&q->changes, &c->link);
	drain(q);
}

void home_change_end(struct home_change *c)
{
	struct home_queue *q = c->queue;
	struct lu *lu = lu_get(c->lu); // the owner may drop the last one
	list_remove(&c->link);
	c->ended(c);
	drain(q);
	lu_put(lu);
}
