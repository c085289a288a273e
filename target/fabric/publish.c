// SPDX-License-Identifier: BSD-2-Clause
// Publishing a view: the workers' sessions follow it.
#include <stdlib.h>

#include "target/fabric/fabric.h"
#include "target/fabric/session.h"
#include "target/fabric/view.h"

// One per worker: apply the view that is current then.
struct follow_msg {
	struct msg msg;
	const struct fabric_ops *fabric;
};

static void follow_run(struct msg *m)
{
	struct follow_msg *f = container_of(m, struct follow_msg, msg);
	const struct fabric_ops *fabric = f->fabric;
	struct view *v = view_current(fabric);
	free(f);
	list_for_each_safe (it, sessions_here()) {
		struct session *s = session_of(it);
		if (s->fabric != fabric)
			continue;
		fabric->hold(s);
		session_follow(s, v);
		it_next = it->next; // it may have changed meanwhile; s is held
		fabric->release(s);
	}
	view_put(v);
}

void view_publish(struct view *v)
{
	const struct fabric_ops *fabric = v->fabric;
	view_set(v);
	for (unsigned i = 0; i < worker_count(); i++) {
		struct follow_msg *m = calloc(1, sizeof *m);
		if (!m)
			continue; // the next change or login applies it
		m->msg.fn = follow_run;
		m->fabric = fabric;
		worker_post(worker_at(i), &m->msg);
	}
}
