// SPDX-License-Identifier: BSD-2-Clause
#include "target/fabric/memory_trim.h"

#include <malloc.h>

#include "core/peer_memory.h"

#define MANY 64 // connections whose end is worth a look at the allocator

static void work(struct offload *o)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static void start(struct memory_trim *t);

static void done(struct offload *o)
{
	struct memory_trim *t = container_of(o, struct memory_trim, job);
	t->is_running = false;
	start(t);
}

static void start(struct memory_trim *t)
{
	if (t->is_running || !t->is_wanted)
		return;
	t->is_wanted = false;
	t->is_running = true;
	t->job.work = work;
	t->job.done = done;
	offload_submit(&t->job);
}

// Whether most connections have gone since so many were there.
static bool most_have_gone(struct memory_trim *t, unsigned count)
{
	bool has_gone = t->most >= MANY && count < t->most / 4;
	if (has_gone || count > t->most)
		t->most = count;
	return has_gone;
}

void memory_trim_tick(struct memory_trim *t, unsigned count)
{
	t->is_wanted |= peer_memory_was_freed();
	t->is_wanted |= most_have_gone(t, count);
	start(t);
}
