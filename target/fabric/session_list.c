// SPDX-License-Identifier: BSD-2-Clause
// Live sessions for the administrator. Control thread; visits the workers.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/fabric/fabric.h"
#include "target/fabric/portal.h"
#include "target/fabric/session.h"
#include "target/scsi/lu.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"

// Runs fn on every worker.
static void visit(void (*fn)(void *arg), void *arg)
{
	for (unsigned i = 0; i < worker_count(); i++)
		worker_call(worker_at(i), fn, arg);
}

struct collect {
	struct session_info *list;
	unsigned count, size;
	bool no_memory;
};

static void fill_luns(struct session_info *to, const struct nexus *n)
{
	for (uint32_t i = 0; i < n->lun_limit; i++) {
		const struct nexus_lun *nl = n->luns[i];
		if (!nl)
			continue;
		if (to->lun_count < sizeof to->luns / sizeof to->luns[0]) {
			struct session_lun *l = &to->luns[to->lun_count];
			l->lun = nl->number;
			l->is_write_protected = nl->is_write_protected;
			l->in_flight = nl->inflight;
			lu_object_name(nl->lu, l->storage_object, sizeof l->storage_object);
		}
		to->lun_count++;
	}
}

static void fill(struct session_info *to, const struct session *s)
{
	memset(to, 0, sizeof *to);
	to->id = s->id;
	to->fabric = s->fabric;
	snprintf(to->initiator, sizeof to->initiator, "%s", s->initiator);
	snprintf(to->target, sizeof to->target, "%s", s->target_name);
	to->tpg = s->tpg ? s->tpg->tag : 0;
	to->is_discovery = s->is_discovery;
	to->is_dynamic_acl = s->tpg && !s->acl;
	snprintf(to->acl, sizeof to->acl, "%s", s->acl ? s->acl->initiator : "");
	snprintf(to->proof, sizeof to->proof, "none");
	snprintf(to->transport, sizeof to->transport, "%s", s->transport);
	snprintf(to->carrier, sizeof to->carrier, "%s", s->carrier);
	snprintf(to->peer, sizeof to->peer, "%s", s->peer);
	snprintf(to->local, sizeof to->local, "%s", s->local);
	to->age_s = (worker_now(s->worker) - s->start_ns) / 1000000000;
	to->commands = s->commands;
	to->read_bytes = s->read_bytes;
	to->written_bytes = s->written_bytes;
	session_add_traffic(s, &to->traffic);
	to->worker = worker_index(s->worker);
	if (s->nexus)
		fill_luns(to, s->nexus);
	s->fabric->describe(s, to);
}

static void collect_run(void *arg)
{
	struct collect *k = arg;
	list_for_each (it, sessions_here()) {
		const struct session *s = session_of(it);
		if (!session_is_up(s))
			continue;
		if (k->count == k->size) {
			unsigned size = k->size ? k->size * 2 : 16;
			void *grown = realloc(k->list, size * sizeof *k->list);
			if (!grown) {
				k->no_memory = true;
				return;
			}
			k->list = grown;
			k->size = size;
		}
		fill(&k->list[k->count++], s);
	}
}

int sessions_list(struct session_info **ret, unsigned *ret_count)
{
	struct collect k = { 0 };
	visit(collect_run, &k);
	if (k.no_memory) {
		free(k.list);
		return -ENOMEM;
	}
	*ret = k.list;
	*ret_count = k.count;
	return 0;
}

struct drop {
	uint64_t id;
	unsigned drain_s;
	bool found, asked;
};

static void drop_run(void *arg)
{
	struct drop *d = arg;
	list_for_each_safe (it, sessions_here()) {
		struct session *s = session_of(it);
		if (s->id != d->id || s->state == SESSION_ENDING)
			continue;
		d->found = true;
		d->asked = d->drain_s && s->fabric->ask_logout(s, d->drain_s);
		if (!d->asked)
			s->fabric->close(s, "dropped by the administrator");
	}
}

int session_drop(uint64_t id, unsigned drain_s, bool *ret_asked, struct err *e)
{
	struct drop d = { .id = id, .drain_s = drain_s };
	visit(drop_run, &d);
	*ret_asked = d.asked;
	return d.found ? 0 : err_set(e, -ENOENT, "no session %lu", (unsigned long)id);
}

struct count {
	const char *target, *acl;
	int tag;
	unsigned found;
};

static void count_run(void *arg)
{
	struct count *k = arg;
	list_for_each (it, sessions_here()) {
		const struct session *s = session_of(it);
		if (s->state != SESSION_LIVE || !s->tpg)
			continue;
		k->found += (!k->target || !strcmp(k->target, s->target_name)) &&
			    (k->tag < 0 || k->tag == s->tpg->tag) &&
			    (!k->acl || (s->acl && !strcmp(k->acl, s->acl->initiator)));
	}
}

unsigned sessions_count(const char *target, int tag, const char *acl)
{
	struct count k = { .target = target, .tag = tag, .acl = acl };
	visit(count_run, &k);
	return k.found;
}

struct traffic_call {
	const struct portal *portal;
	struct session_traffic *sum;
};

// A session ends on its worker: it is found here either as live or as ended, never both.
static void traffic_run(void *arg)
{
	struct traffic_call *call = arg;
	traffic_add(call->sum, portal_ended_here(call->portal));
	list_for_each (it, sessions_here())
		if (session_of(it)->portal == call->portal)
			session_add_traffic(session_of(it), call->sum);
}

void sessions_portal_traffic(const struct portal *p, struct session_traffic *ret)
{
	struct traffic_call call = { p, ret };
	*ret = (struct session_traffic){ 0 };
	visit(traffic_run, &call);
}
