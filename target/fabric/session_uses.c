// SPDX-License-Identifier: BSD-2-Clause
// The LUNs that live sessions see or use. Control thread; visits the workers.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/fabric/session.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"

struct collect {
	struct session_use *list;
	unsigned count, size;
	bool is_seen, no_memory;
};

static bool counts(const struct collect *k, const struct nexus *n, uint32_t lun)
{
	return n->luns[lun] && (k->is_seen || nexus_lun_is_used(n->luns[lun]));
}

static uint32_t count_luns(const struct collect *k, const struct nexus *n)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < n->lun_limit; i++)
		count += counts(k, n, i);
	return count;
}

static bool copy_luns(const struct collect *k, struct session_use *u, const struct nexus *n,
		      uint32_t count)
{
	u->luns = malloc(count * sizeof *u->luns);
	for (uint32_t i = 0; u->luns && u->count < count; i++)
		if (counts(k, n, i))
			u->luns[u->count++] = (uint16_t)i;
	return u->luns;
}

static bool add(struct collect *k, const struct session *s, uint32_t count)
{
	if (k->count == k->size) {
		unsigned size = k->size ? k->size * 2 : 16;
		void *grown = realloc(k->list, size * sizeof *k->list);
		if (!grown)
			return false;
		k->list = grown;
		k->size = size;
	}
	struct session_use *u = &k->list[k->count++];
	*u = (struct session_use){ .id = s->id, .fabric = s->fabric, .tpg = s->tpg->tag };
	snprintf(u->initiator, sizeof u->initiator, "%s", s->initiator);
	snprintf(u->target, sizeof u->target, "%s", s->target_name);
	snprintf(u->acl, sizeof u->acl, "%s", s->acl ? s->acl->initiator : "");
	snprintf(u->peer, sizeof u->peer, "%s", s->peer);
	snprintf(u->local, sizeof u->local, "%s", s->local);
	return copy_luns(k, u, s->nexus, count);
}

static void collect_run(void *arg)
{
	struct collect *k = arg;
	list_for_each (it, sessions_here()) {
		const struct session *s = session_of(it);
		bool has_luns = session_is_up(s) && s->tpg && s->nexus;
		uint32_t count = has_luns ? count_luns(k, s->nexus) : 0;
		if (count && !add(k, s, count))
			k->no_memory = true;
	}
}

int session_uses_list(bool is_seen, struct session_use **ret, unsigned *ret_count)
{
	struct collect k = { .is_seen = is_seen };
	for (unsigned i = 0; i < worker_count(); i++)
		worker_call(worker_at(i), collect_run, &k);
	if (k.no_memory) {
		session_uses_free(k.list, k.count);
		return -ENOMEM;
	}
	*ret = k.list;
	*ret_count = k.count;
	return 0;
}

void session_uses_free(struct session_use *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(list[i].luns);
	free(list);
}
