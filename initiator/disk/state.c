// SPDX-License-Identifier: BSD-2-Clause
// The states of paths. On the disk's worker.
#include <string.h>

#include "initiator/disk/disk_priv.h"

void path_set_state(struct disk_path *p, enum disk_path_state s, const struct err *why)
{
	static const struct err none;
	struct disk *d = p->disk;
	bool is_new = p->state != s;
	bool is_other = why && why->code && strcmp(why->text, p->info.why.text) != 0;
	p->state = s;
	p->is_wrong &= s != DISK_PATH_UP && s != DISK_PATH_STANDBY;
	if (why && why->code)
		p->info.why = *why;
	if ((is_new || is_other) && d->ops.path)
		d->ops.path(d->arg, p->index, s, why ? why : &none);
	if (is_new)
		d->events->paths_changed(d);
}

bool disk_has_path(const struct disk *d)
{
	for (unsigned i = 0; i < d->path_count; i++)
		if (d->paths[i].state == DISK_PATH_UP)
			return true;
	return false;
}

void path_unregistered(struct disk_path *p)
{
	p->is_registered = false;
	if (p->state == DISK_PATH_UP && !p->disk->reservation.is_taken)
		path_set_state(p, DISK_PATH_CHECKING, NULL);
}

void path_set_wrong(struct disk_path *p, const struct err *why)
{
	struct disk *d = p->disk;
	p->is_wrong = true;
	path_set_state(p, DISK_PATH_FAULTY, why);
	for (unsigned i = 0; i < d->path_count; i++)
		if (!d->paths[i].is_wrong)
			return;
	if (!d->is_stale)
		d->events->stale(d, why);
}
