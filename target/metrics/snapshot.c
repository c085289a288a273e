// SPDX-License-Identifier: BSD-2-Clause
// Copies all counters, see snapshot.h.
#include "target/metrics/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"
#include "target/config/report/survey.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_counters.h"
#include "target/scsi/medium.h"

struct taking {
	struct snapshot *s;
	bool no_memory;
};

// One more element at the end of a list, zeroed; NULL: no memory.
static void *one_more(struct taking *t, void *list, unsigned *count, size_t size)
{
	char **items = list;
	if ((*count & (*count - 1)) == 0) { // full at each power of two
		void *grown = realloc(*items, (*count ? *count * 2 : 1) * size);
		t->no_memory |= !grown;
		if (!grown)
			return NULL;
		*items = grown;
	}
	char *ret = *items + (*count)++ * size;
	memset(ret, 0, size);
	return ret;
}

static void name(char out[SNAPSHOT_NAME], const char *text)
{
	snprintf(out, SNAPSHOT_NAME, "%s", text);
}

static void take_disk(void *arg, const char *path, const struct lu *lu, uint64_t size)
{
	struct taking *t = arg;
	struct snapshot_disk *d = one_more(t, &t->s->disks, &t->s->disk_count, sizeof *d);
	if (!d)
		return;
	name(d->path, path);
	d->is_up = lu != NULL;
	d->size = size;
	if (lu) {
		d->sanitize = sanitize_state(lu);
		d->ended_writes = lu_ended_writes(lu);
		lu_counters_sum(lu, &d->counters);
	}
}

static void take_target(void *arg, const struct fabric_ops *fabric, const char *target)
{
	struct taking *t = arg;
	struct snapshot_target *n = one_more(t, &t->s->targets, &t->s->target_count, sizeof *n);
	if (!n)
		return;
	n->fabric = fabric;
	name(n->name, target);
}

static void take_lun(void *arg, const char *target, unsigned tpg, uint32_t lun, const char *disk)
{
	struct taking *t = arg;
	struct snapshot_lun *l = one_more(t, &t->s->luns, &t->s->lun_count, sizeof *l);
	if (!l)
		return;
	name(l->target, target);
	name(l->disk, disk);
	l->tpg = tpg;
	l->number = lun;
}

static void take_portal(void *arg, const char *target, unsigned tpg, const char *portal, bool is_up)
{
	struct taking *t = arg;
	struct snapshot_portal *p = one_more(t, &t->s->portals, &t->s->portal_count, sizeof *p);
	if (!p)
		return;
	name(p->target, target);
	name(p->name, portal);
	p->tpg = tpg;
	p->is_up = is_up;
}

static void take_workers(struct snapshot *s)
{
	s->worker_count = worker_count();
	for (unsigned i = 0; i < s->worker_count; i++) {
		const uint64_t *from = (const uint64_t *)worker_counters(worker_at(i));
		uint64_t *to = (uint64_t *)&s->workers[i].counters;
		for (size_t n = 0; n < sizeof(struct worker_counters) / sizeof *to; n++)
			to[n] = counter_get(&from[n]);
		s->workers[i].cpu_ns = worker_cpu_ns(worker_at(i));
	}
}

struct snapshot *snapshot_take(struct config *c)
{
	static const struct survey look = { take_disk, take_target, take_lun, take_portal };
	struct snapshot *s = calloc(1, sizeof *s);
	struct taking t = { .s = s };
	if (!s)
		return NULL;
	config_survey(c, &look, &t);
	if (t.no_memory || sessions_list(&s->sessions, &s->session_count) < 0) {
		snapshot_free(s);
		return NULL;
	}
	fabric_counters_sum(&s->logins);
	take_workers(s);
	s->progress_count = progress_list(s->progress, SNAPSHOT_PROGRESS);
	return s;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	free(s->disks);
	free(s->luns);
	free(s->portals);
	free(s->targets);
	free(s->sessions);
	free(s);
}
