// SPDX-License-Identifier: BSD-2-Clause
// Live sessions for the administrator. Control thread; visits the workers.
#include "target/iscsi/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"
#include "core/log.h"
#include "core/utf8.h"
#include "target/iscsi/conn.h"
#include "target/iscsi/peer_log.h"
#include "target/iscsi/peers.h"
#include "target/iscsi/portal.h"
#include "target/scsi/lu.h"
#include "target/scsi/nexus.h"
#include "transport/iser/dm_iser.h"

// Both structs consist of words, which are summed.
void traffic_add(struct session_traffic *sum, const struct session_traffic *more)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)more;
	for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
		to[i] += from[i];
}

void conn_add_traffic(const struct conn *c, struct session_traffic *sum)
{
	struct dm_counters moved;
	if (!c->nexus)
		return;
	struct session_traffic mine = { c->nexus->counters, c->nexus->copied };
	c->dm->ops->counters(c->dm, &moved);
	mine.copied.count += moved.copied.count;
	mine.copied.bytes += moved.copied.bytes;
	traffic_add(sum, &mine);
}

struct collect {
	struct session_info *list;
	unsigned count, size;
	bool no_memory;
};

static void fill_luns(struct session_info *s, const struct nexus *n)
{
	for (uint32_t i = 0; i < n->lun_limit; i++) {
		const struct nexus_lun *nl = n->luns[i];
		if (!nl)
			continue;
		if (s->lun_count < sizeof s->luns / sizeof s->luns[0]) {
			struct session_lun *l = &s->luns[s->lun_count];
			l->lun = nl->number;
			l->is_write_protected = nl->is_write_protected;
			l->in_flight = nl->inflight;
			snprintf(l->storage_object, sizeof l->storage_object, "%s/%s",
				 nl->lu->type->name, nl->lu->name);
		}
		s->lun_count++;
	}
}

static uint64_t output_waits_us(const struct conn *c)
{
	struct dm_counters k;
	uint64_t now = worker_now(c->worker);
	c->dm->ops->counters(c->dm, &k);
	return k.tx_since_ns && now > k.tx_since_ns ? (now - k.tx_since_ns) / 1000 : 0;
}

static void fill(struct session_info *s, const struct conn *c)
{
	const struct iscsi_params *p = &c->params;
	char isid[ISCSI_ISID_TEXT];
	memset(s, 0, sizeof *s);
	s->id = c->id;
	snprintf(s->initiator, sizeof s->initiator, "%s", c->names.initiator_name);
	snprintf(s->alias, sizeof s->alias, "%s", c->names.initiator_alias);
	utf8_tame(s->alias); // the initiator may have sent any bytes
	snprintf(s->target, sizeof s->target, "%s", c->names.target_name);
	s->tpg = c->tpg ? c->tpg->tag : 0;
	s->tsih = c->tsih;
	s->cid = c->names.cid;
	iscsi_isid_format(c->names.isid, isid);
	snprintf(s->isid, sizeof s->isid, "%s", isid + 2);
	s->is_discovery = p->is_discovery;
	s->is_dynamic_acl = c->tpg && !c->acl;
	s->chap_alg = c->proof.alg;
	s->is_mutual = c->proof.is_mutual;
	snprintf(s->transport, sizeof s->transport, "%s", c->dm->transport);
	snprintf(s->carrier, sizeof s->carrier, "%s", c->dm->carrier);
	snprintf(s->peer, sizeof s->peer, "%s", c->dm->peer);
	snprintf(s->local, sizeof s->local, "%s", c->dm->local);
	s->remote_rights = c->dm->is_rdma ? dm_iser_remote_rights(c->dm) : 0;
	s->age_s = (worker_now(c->worker) - c->start_ns) / 1000000000;
	s->header_digest = p->header_digest;
	s->data_digest = p->data_digest;
	s->initial_r2t = p->initial_r2t;
	s->immediate_data = p->immediate_data;
	s->max_recv_dsl = p->max_recv_data;
	s->max_xmit_dsl = p->max_send_data;
	s->max_burst = p->max_burst;
	s->first_burst = p->first_burst;
	s->max_outstanding_r2t = p->max_outstanding_r2t;
	s->window = c->window;
	s->commands_in_flight = c->cmd_count;
	s->commands = c->commands;
	s->read_bytes = c->read_bytes;
	s->written_bytes = c->written_bytes;
	conn_add_traffic(c, &s->traffic);
	s->output_waits_us = output_waits_us(c);
	s->worker = worker_index(c->worker);
	if (c->nexus)
		fill_luns(s, c->nexus);
}

static void collect_run(void *arg)
{
	struct collect *k = arg;
	list_for_each (it, &iscsi_worker()->conns) {
		const struct conn *c = list_entry(it, struct conn, link);
		if (c->state != CONN_FULL_FEATURE && c->state != CONN_LOGOUT)
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
		fill(&k->list[k->count++], c);
	}
}

int sessions_list(struct session_info **ret, unsigned *ret_count)
{
	struct collect k = { 0 };
	for (unsigned i = 0; i < worker_count(); i++)
		worker_call(worker_at(i), collect_run, &k);
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
	list_for_each_safe (it, &iscsi_worker()->conns) {
		struct conn *c = list_entry(it, struct conn, link);
		if (c->id != d->id || c->state == CONN_ENDING)
			continue;
		d->found = true;
		if (d->drain_s && c->state == CONN_FULL_FEATURE && c->tpg) {
			d->asked = true;
			async_logout(c, d->drain_s);
			c->drain_ns = worker_now(c->worker) + d->drain_s * 1000000000ull;
		} else {
			conn_close(c, true, "dropped by the administrator");
		}
	}
}

int session_drop(uint64_t id, unsigned drain_s, bool *ret_asked, struct err *e)
{
	struct drop d = { .id = id, .drain_s = drain_s };
	for (unsigned i = 0; i < worker_count() && !d.found; i++)
		worker_call(worker_at(i), drop_run, &d);
	*ret_asked = d.asked;
	return d.found ? 0 : err_set(e, -ENOENT, "no session %lu", (unsigned long)id);
}

struct count {
	const char *target, *initiator;
	int tag;
	unsigned found;
};

static void count_run(void *arg)
{
	struct count *k = arg;
	list_for_each (it, &iscsi_worker()->conns) {
		const struct conn *c = list_entry(it, struct conn, link);
		if (c->state != CONN_FULL_FEATURE || !c->tpg)
			continue;
		k->found += (!k->target || !strcmp(k->target, c->names.target_name)) &&
			    (k->tag < 0 || k->tag == c->tpg->tag) &&
			    (!k->initiator || !strcmp(k->initiator, c->names.initiator_name));
	}
}

unsigned sessions_count(const char *target, int tag, const char *initiator)
{
	struct count k = { .target = target, .tag = tag, .initiator = initiator };
	for (unsigned i = 0; i < worker_count(); i++)
		worker_call(worker_at(i), count_run, &k);
	return k.found;
}

void iscsi_counters(struct iscsi_counters *ret)
{
	memset(ret, 0, sizeof *ret);
	uint64_t *sum = (uint64_t *)ret;
	for (unsigned i = 0; i < worker_count(); i++) {
		const uint64_t *n = (const uint64_t *)&iscsi_worker_at(i)->counters;
		for (unsigned f = 0; f < sizeof *ret / sizeof *sum; f++)
			sum[f] += counter_get(&n[f]);
	}
}

// --- start and end ---

int iscsi_target_init(struct worker *control, struct err *e)
{
	for (unsigned i = 0; i < worker_count(); i++) {
		struct iscsi_worker *iw = iscsi_worker_at(i);
		iw->worker = worker_at(i);
		list_init(&iw->conns);
		list_init(&iw->login_peers);
		for (unsigned k = 0; k < CMD_POOLS; k++)
			list_init(&iw->cmds[k].free);
		list_init(&iw->greetings);
		list_init(&iw->texts);
	}
	struct iscsi_view *v = iscsi_view_new(0);
	if (!v)
		return err_set(e, -ENOMEM, "iscsi: out of memory");
	iscsi_view_publish(v);
	peer_log_init(control);
	iscsi_limits_fit();
	return 0;
}

static void close_run(void *arg)
{
	bool *is_busy = arg;
	list_for_each_safe (it, &iscsi_worker()->conns) {
		struct conn *c = list_entry(it, struct conn, link);
		*is_busy = true;
		conn_close(c, false, "the target is stopping");
	}
}

void iscsi_target_done(void)
{
	for (bool is_busy = true; is_busy;) {
		is_busy = false;
		for (unsigned i = 0; i < worker_count(); i++)
			worker_call(worker_at(i), close_run, &is_busy);
	}
	peer_log_done();
	iscsi_view_retire();
}
