// SPDX-License-Identifier: BSD-2-Clause
// I_T nexus: creation, change of its LUN map, loss (SAM-5 4.8, 6.3.4). Everything runs on the
// nexus's worker.
#include "target/scsi/nexus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/nexus_ops.h"
#include "target/scsi/power_on.h"
#include "target/scsi/task_abort.h"

static void notice_nothing(struct nexus *n, uint16_t lun, uint32_t sense_code)
{
}
static const struct nexus_ops no_ops = { .notice = notice_nothing };

static struct nexus_lun *nexus_lun_new(struct nexus *n, const struct lun_entry *entry)
{
	struct nexus_lun *nl = calloc(1, sizeof *nl);
	struct lu_channel *c = nl ? lu_channel(entry->lu) : NULL;
	if (!c) {
		free(nl);
		return NULL;
	}
	nl->nexus = n;
	nl->lu = lu_get(entry->lu);
	nl->channel = c;
	nl->number = entry->number;
	nl->alua_group = entry->alua_group;
	nl->is_write_protected = entry->is_write_protected;
	list_init(&nl->open);
	list_init(&nl->aborting);
	list_init(&nl->abort_waiters);
	list_init(&nl->turn_waiters);
	list_push_back(&c->nexus_luns, &nl->channel_link);
	return nl;
}

bool nexus_lun_is_used(struct nexus_lun *nl)
{
	bool is_used = nl->has_accessed || nl->prevents_removal;
	for (const struct lu_part *const *p = nl->lu->server->parts; *p && !is_used; p++)
		is_used = (*p)->is_used && (*p)->is_used(nl);
	return is_used;
}

void nexus_lun_allow_removal(struct nexus_lun *nl)
{
	if (!nl->prevents_removal)
		return;
	nl->prevents_removal = false;
	__atomic_sub_fetch(&nl->lu->prevented, 1, __ATOMIC_RELAXED);
}

// The path is removed except for tasks that still refer to it.
static void nexus_lun_lose(struct nexus_lun *nl)
{
	for (const struct lu_part *const *p = nl->lu->server->parts; *p; p++) {
		if ((*p)->nexus_lost)
			(*p)->nexus_lost(nl);
	}
	nexus_lun_allow_removal(nl);
	list_remove(&nl->channel_link);
}

static void nexus_lun_free(struct nexus_lun *nl)
{
	struct lu *lu = nl->lu;
	list_remove(&nl->ready_link);
	free(nl);
	lu_put(lu);
}

static void leave_step(struct lun_leave *leave)
{
	if (--leave->waiting)
		return;
	void (*finished)(void *arg) = leave->finished;
	void *arg = leave->arg;
	free(leave);
	finished(arg);
}

static void nexus_lun_released(struct nexus_lun *nl)
{
	struct lun_leave *leave = nl->leave;
	nexus_lun_free(nl);
	leave_step(leave);
}

static bool nexus_resize(struct nexus *n, const struct lun_map *map)
{
	uint32_t limit = map->count ? map->entries[map->count - 1].number + 1u : 0;
	if (limit <= n->lun_limit)
		return true;
	struct nexus_lun **luns = realloc(n->luns, limit * sizeof *luns);
	if (!luns)
		return false;
	memset(luns + n->lun_limit, 0, (limit - n->lun_limit) * sizeof *luns);
	n->luns = luns;
	uint64_t *disks = realloc(n->disks, limit * sizeof *disks);
	if (!disks)
		return false;
	memset(disks + n->lun_limit, 0, (limit - n->lun_limit) * sizeof *disks);
	n->disks = disks;
	n->lun_limit = limit;
	return true;
}

static void info_free(struct nexus_info *info)
{
	free((char *)info->initiator_port);
	free((char *)info->initiator_name);
	free((char *)info->target_name);
	free((char *)info->target_port);
}

static char *copy_text(const char *s)
{
	return strdup(s ? s : "");
}

static bool info_copy(struct nexus_info *to, const struct nexus_info *from)
{
	*to = *from;
	to->initiator_port = copy_text(from->initiator_port);
	to->initiator_name = copy_text(from->initiator_name);
	to->target_name = copy_text(from->target_name);
	to->target_port = copy_text(from->target_port);
	return to->initiator_port && to->initiator_name && to->target_name && to->target_port;
}

// A pending unit attention must still be reported.
static void set_first_attention(struct nexus_lun *nl)
{
	bool is_known = power_on_was_reported(nl);
	ua_set(nl, is_known ? UA_NEXUS_LOSS : UA_POWER_ON);
	if (nl->lu->is_medium_new && !is_known)
		ua_set(nl, UA_MEDIUM_CHANGED);
}

// The disk that was there before one is missing stays the known one. Of one that has been
// missing since the login only the path and serial number are known.
static void know_disk(struct nexus *n, const struct lun_entry *e)
{
	uint64_t *known = &n->disks[e->number];
	if (e->lu->disk)
		*known = e->lu->disk;
	else if (!*known)
		*known = e->lu->awaited;
}

int nexus_new(struct nexus **ret, const struct nexus_info *info, const struct nexus_ops *ops,
	      void *owner, struct lun_map *map)
{
	static uint64_t last_id;
	struct nexus *n = calloc(1, sizeof *n);
	if (!n)
		return -ENOMEM;
	n->worker = worker_self();
	n->ops = ops && ops->notice ? ops : &no_ops;
	n->owner = owner;
	n->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	n->map = lun_map_get(map);
	struct buf_pool_stats pool;
	buf_pool_stats(n->worker, &pool);
	n->pool_limit = pool.bytes_limit;
	list_init(&n->pool_waiters);
	list_init(&n->copy_waiters);
	bool is_complete = info_copy(&n->info, info) && nexus_resize(n, map);
	for (uint32_t i = 0; is_complete && i < map->count; i++) {
		struct nexus_lun *nl = nexus_lun_new(n, &map->entries[i]);
		if (nl)
			set_first_attention(nl);
		n->luns[map->entries[i].number] = nl;
		know_disk(n, &map->entries[i]);
		is_complete = nl != NULL;
	}
	if (!is_complete) {
		nexus_free(n);
		return -ENOMEM;
	}
	*ret = n;
	return 0;
}

void nexus_lun_leave(struct nexus_lun *nl)
{
	for (const struct lu_part *const *p = nl->lu->server->parts; *p; p++) {
		if ((*p)->nexus_leaves)
			(*p)->nexus_leaves(nl);
	}
	nexus_lun_allow_removal(nl);
}

void nexus_leave(struct nexus *n)
{
	for (uint32_t i = 0; i < n->lun_limit; i++)
		if (n->luns[i])
			nexus_lun_leave(n->luns[i]);
}

void nexus_free(struct nexus *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->lun_limit; i++) {
		struct nexus_lun *nl = n->luns[i];
		if (!nl)
			continue;
		nexus_lun_lose(nl);
		nexus_lun_free(nl);
	}
	buf_wait_cancel(&n->pool_wait);
	free(n->luns);
	free(n->disks);
	lun_map_put(n->map);
	info_free(&n->info);
	free(n);
}

// Its number was that of another disk. What stands in for a missing disk has no data of another.
static bool is_withheld(const struct nexus *n, const struct lun_entry *e)
{
	uint64_t known = e->number < n->lun_limit ? n->disks[e->number] : 0;
	return known && e->lu->disk && known != e->lu->disk && known != e->lu->awaited;
}

// The unit's storage appeared or went (lu_set_absent()): nl is replaced, and what it had to report
// stays pending. A unit that becomes ready has the size and limits of its storage; it is no other
// medium, for which an initiator would give up the disk.
static struct nexus_lun *follow_unit(struct nexus *n, const struct nexus_lun *nl,
				     const struct lun_entry *e)
{
	struct nexus_lun *next = nexus_lun_new(n, e);
	if (!next)
		return NULL;
	know_disk(n, e);
	if (e->lu->is_absent) {
		set_first_attention(next);
		return next;
	}
	next->ua = nl->ua;
	ua_set(next, UA_CAPACITY_CHANGED);
	ua_set(next, UA_INQUIRY_CHANGED);
	if (e->lu->is_medium_new)
		ua_set(next, UA_MEDIUM_CHANGED);
	return next;
}

// Removes LUNs that the new map does not contain, tasks first. SAM-5 leaves open how they end.
static void map_remove(struct nexus *n, const struct lun_map *map, struct lun_leave *leave)
{
	for (uint32_t i = 0; i < n->lun_limit; i++) {
		struct nexus_lun *nl = n->luns[i];
		const struct lun_entry *e = nl ? lun_map_find(map, (uint16_t)i) : NULL;
		if (!nl || (e && e->lu == nl->lu))
			continue;
		bool is_followed = e && lu_stands_in(e->lu, nl->lu) && !is_withheld(n, e);
		n->luns[i] = is_followed ? follow_unit(n, nl, e) : NULL;
		leave->waiting++;
		nl->held++; // ours, until its tasks are aborted
		nl->leave = leave;
		tasks_abort_nexus(nl, true); // the nexus stays: no initiator waits in vain
		nexus_lun_lose(nl);
		nexus_lun_put(nl);
		if (is_followed && n->luns[i] && !e->lu->is_absent)
			n->ops->notice(n, e->number, ua_code(UA_CAPACITY_CHANGED));
	}
}

// Compares what a peer sees of maps: LUNs and write access.
static bool map_is_alike(const struct nexus *n, const struct lun_map *a, const struct lun_map *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct lun_entry *x = &a->entries[i], *y = &b->entries[i];
		if (x->number != y->number || (x->lu != y->lu && !lu_stands_in(x->lu, y->lu)) ||
		    is_withheld(n, x) != is_withheld(n, y) ||
		    x->is_write_protected != y->is_write_protected)
			return false;
	}
	return true;
}

// VPD page 83h of the path names its group, whose access state is the path's.
static void nexus_lun_move(struct nexus_lun *nl, uint16_t group)
{
	if (nl->alua_group == group)
		return;
	nl->alua_group = group;
	ua_set(nl, UA_ALUA_CHANGED);
	ua_set(nl, UA_INQUIRY_CHANGED);
}

unsigned nexus_withheld(const struct nexus *n)
{
	unsigned count = 0;
	for (uint32_t i = 0; i < n->map->count; i++)
		count += is_withheld(n, &n->map->entries[i]);
	return count;
}

static void map_add(struct nexus *n, const struct lun_map *map, bool is_told)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct lun_entry *e = &map->entries[i];
		struct nexus_lun *nl = nexus_find_lun(n, e->number);
		if (is_withheld(n, e))
			continue;
		if (!nl && e->number < n->lun_limit) {
			nl = n->luns[e->number] = nexus_lun_new(n, e);
			know_disk(n, e);
			if (nl)
				set_first_attention(nl);
		}
		if (!nl)
			continue; // no memory: the LUN is missing until the next change
		nexus_lun_move(nl, e->alua_group);
		nl->is_write_protected = e->is_write_protected;
		if (is_told)
			ua_set(nl, UA_LUNS_CHANGED);
	}
}

void nexus_set_map(struct nexus *n, struct lun_map *map, void (*finished)(void *arg), void *arg)
{
	struct lun_leave *leave = calloc(1, sizeof *leave);
	if (!leave) { // the old map stays
		finished(arg);
		return;
	}
	*leave = (struct lun_leave){
		.released = nexus_lun_released, .waiting = 1, .finished = finished, .arg = arg
	};
	map_remove(n, map, leave);
	nexus_resize(n, map);
	struct lun_map *old = n->map;
	bool is_told = !map_is_alike(n, old, map);
	map_add(n, map, is_told);
	n->map = lun_map_get(map);
	lun_map_put(old);
	if (is_told) {
		n->luns_changed = true;
		n->ops->notice(n, map->count ? map->entries[0].number : 0,
			       ua_code(UA_LUNS_CHANGED));
	}
	leave_step(leave);
}
