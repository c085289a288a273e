// SPDX-License-Identifier: BSD-2-Clause
// Long commands in progress, see progress.h.
#include "target/scsi/progress.h"

#include <stdio.h>

#include "core/worker.h"
#include "target/scsi/lu.h"

static struct list lists[WORKER_MAX];

void progress_begin(struct progress *p, const char *operation, const struct lu *lu, uint64_t total,
		    const uint64_t *done)
{
	struct worker *w = worker_self();
	struct list *mine = &lists[worker_index(w)];
	if (!mine->next)
		list_init(mine);
	*p = (struct progress){
		.operation = operation,
		.lu = lu,
		.start_ns = worker_now(w),
		.total = total,
		.done = done,
	};
	list_push_back(mine, &p->link);
}

void progress_end(struct progress *p)
{
	list_remove(&p->link);
}

struct collect {
	struct progress_info *out;
	unsigned count, max;
};

static void collect_run(void *arg)
{
	struct collect *k = arg;
	struct worker *w = worker_self();
	const struct list *mine = &lists[worker_index(w)];
	if (!mine->next)
		return;
	list_for_each (it, mine) {
		const struct progress *p = list_entry(it, struct progress, link);
		if (k->count == k->max)
			return;
		struct progress_info *i = &k->out[k->count++];
		*i = (struct progress_info){
			.operation = p->operation,
			.done = *p->done,
			.total = p->total,
			.elapsed_ms = (worker_now(w) - p->start_ns) / 1000000,
		};
		lu_object_name(p->lu, i->storage_object, sizeof i->storage_object);
	}
}

unsigned progress_list(struct progress_info *out, unsigned max)
{
	struct collect k = { .out = out, .max = max };
	for (unsigned i = 0; i < worker_count(); i++)
		worker_call(worker_at(i), collect_run, &k);
	return k.count;
}
