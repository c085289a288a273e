// SPDX-License-Identifier: BSD-2-Clause
// Pollers of a worker, on its thread.
#include "core/worker_priv.h"

void poller_add(struct worker *w, struct poller *p)
{
	list_push_back(&w->pollers, &p->link);
}

void poller_remove(struct poller *p)
{
	struct worker *w = worker_self();

	if (w && w->poller_next == &p->link)
		w->poller_next = p->link.next;
	list_remove(&p->link);
}

bool pollers_run(struct worker *w, bool is_arming)
{
	bool had_work = false;

	for (struct list *it = w->pollers.next; it != &w->pollers; it = w->poller_next) {
		struct poller *p = list_entry(it, struct poller, link);
		w->poller_next = it->next;
		had_work |= is_arming ? p->arm(p) : p->poll(p);
	}
	w->poller_next = NULL;
	return had_work;
}
