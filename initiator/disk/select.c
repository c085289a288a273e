// SPDX-License-Identifier: BSD-2-Clause
// Which path a request takes: of those with the best access state, by the policy. On the disk's
// worker.
#include "initiator/disk/disk_priv.h"

#define RATE_SHARE 8 // of the latest request in the average

static unsigned rank(const struct disk_path *p)
{
	if (p->state != DISK_PATH_UP)
		return ALUA_USELESS;
	return alua_rank(p->alua, p->is_preferred);
}

// The time that p needs for what it has, in units that only compare; a path without a known rate
// is tried first.
static uint64_t service_time(const struct disk_path *p)
{
	return p->rate ? p->flying_bytes * 1024 / (p->rate / 1024 + 1) : p->flying_count;
}

static bool is_less_busy(const struct disk *d, const struct disk_path *a, const struct disk_path *b)
{
	if (d->config.policy == DISK_SERVICE_TIME && service_time(a) != service_time(b))
		return service_time(a) < service_time(b);
	return a->flying_count < b->flying_count;
}

struct disk_path *select_path(struct disk *d)
{
	struct disk_path *best = NULL;
	unsigned best_rank = ALUA_USELESS;
	// Ties go round, as the first one that is looked at changes.
	for (unsigned i = 0; i < d->path_count; i++) {
		struct disk_path *p = &d->paths[(d->next + i) % d->path_count];
		unsigned r = rank(p);
		if (r > best_rank || r == ALUA_USELESS)
			continue;
		if (!best || r < best_rank ||
		    (d->config.policy != DISK_ROUND_ROBIN && is_less_busy(d, p, best)))
			best = p;
		best_rank = r;
	}
	if (best)
		d->next = (best->index + 1) % d->path_count;
	return best;
}

void select_begin(struct disk_path *p, const struct disk_io *io)
{
	p->flying_count++;
	p->flying_bytes += io->cmd.len;
	p->info.commands++;
}

void select_end(struct disk_path *p, const struct disk_io *io)
{
	uint64_t ns = worker_now(p->disk->worker) - io->since_ns;
	p->flying_count--;
	p->flying_bytes -= io->cmd.len;
	if (!io->cmd.len || io->cmd.res || !ns)
		return;
	uint64_t rate = (uint64_t)io->cmd.len * NS_PER_SEC / ns;
	p->rate = p->rate ? p->rate - p->rate / RATE_SHARE + rate / RATE_SHARE : rate;
}
