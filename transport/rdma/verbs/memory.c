// SPDX-License-Identifier: BSD-2-Clause
// Registered memory of a device: regions (buffer pools, RAM disks) as they are added and removed,
// memory passed to rnic_register(), and memory exposed to peers by a connection.
//
// Lists change under the device's lock, on any thread; looking up an address takes no lock. Pinning
// pages blocks, a millisecond for an extent of a pool, seconds for a large RAM disk: it happens
// when regions are announced (a pool grows, a disk is created, the device gets its first user), and
// at the first exposure of an extent, never for a request.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "transport/rdma/verbs/priv.h"

#define CHUNK_BYTES   (1ull << 30)
#define OVERLAP_BYTES (16ull << 20) // so that no transfer crosses the end of a chunk
#define ALWAYS_BYTES  (64ull << 20) // such a region is pinned without checking free memory

static int access_flags(unsigned access)
{
	int flags = IBV_ACCESS_LOCAL_WRITE;

	if (access & RNIC_REMOTE_READ)
		flags |= IBV_ACCESS_REMOTE_READ;
	if (access & RNIC_REMOTE_WRITE)
		flags |= IBV_ACCESS_REMOTE_WRITE;
	return flags;
}

static int mr_new(struct verbs_device *d, struct verbs_mr **ret, void *addr, uint64_t len,
		  unsigned access, struct err *e)
{
	struct verbs_mr *m = calloc(1, sizeof *m);
	int r = 0;

	if (!m)
		return err_set(e, -ENOMEM, "%s: register: out of memory", d->name);
	m->mr = ibv_reg_mr(d->pd, addr, len, access_flags(access));
	if (!m->mr) {
		r = verbs_register_error(e, errno, d->name, len);
		free(m);
		return r;
	}
	m->device = d;
	m->head = (struct rnic_mr){
		.addr = addr, .len = len, .lkey = m->mr->lkey, .rkey = m->mr->rkey, .access = access
	};
	pthread_mutex_lock(&d->lock);
	r = mr_table_add(&d->table, addr, len, m);
	if (r == 0)
		list_push_back(&d->mrs, &m->link);
	pthread_mutex_unlock(&d->lock);
	if (r < 0) {
		ibv_dereg_mr(m->mr);
		free(m);
		return err_set(e, r, "%s: register: out of memory", d->name);
	}
	*ret = m;
	return 0;
}

static void mr_free(struct verbs_mr *m)
{
	struct verbs_device *d = m->device;

	pthread_mutex_lock(&d->lock);
	mr_table_remove(&d->table, m);
	list_remove(&m->link);
	pthread_mutex_unlock(&d->lock);
	if (m->remote)
		ibv_dereg_mr(m->remote);
	ibv_dereg_mr(m->mr);
	free(m);
}

// --- regions ---

// Pinning allocates every page of a sparse disk. Disks that do not fit are served through buffers.
static bool fits_into_memory(const struct region *r)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *f;

	if (r->len <= ALWAYS_BYTES || r->is_resident || !(f = fopen("/proc/meminfo", "re")))
		return true;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	fclose(f);
	return r->len / 1024 < kib - kib / 8;
}

static int register_chunks(struct verbs_device *d, struct region *r, struct err *e)
{
	unsigned access = d->limits.needs_remote_sink ? RNIC_REMOTE_WRITE : 0;
	uint64_t step = CHUNK_BYTES < d->mr_max / 2 ? CHUNK_BYTES : d->mr_max / 2;
	uint64_t overlap = OVERLAP_BYTES < step ? OVERLAP_BYTES : step;

	for (uint64_t at = 0; at < r->len; at += step) {
		uint64_t left = r->len - at;
		struct verbs_mr *m;
		int n = mr_new(d, &m, r->addr + at, left < step + overlap ? left : step + overlap,
			       access, e);
		if (n < 0)
			return n;
		m->region = r;
		if (left <= step + overlap)
			break;
	}
	return 0;
}

static bool unregister_chunks(struct verbs_device *d, const struct region *r)
{
	bool had_some = false;

	list_for_each_safe (it, &d->mrs) {
		struct verbs_mr *m = list_entry(it, struct verbs_mr, link);
		if (m->region != r)
			continue;
		mr_free(m);
		had_some = true;
	}
	return had_some;
}

static void region_added(struct region_watch *w, struct region *r)
{
	struct verbs_device *d = container_of(w, struct verbs_device, watch);
	struct err e;

	if (!fits_into_memory(r)) {
		log_warn("%s: %llu bytes of a RAM disk are not registered: not enough free memory "
			 "(its data is copied through buffers)",
			 d->name, (unsigned long long)r->len);
		return;
	}
	region_pin(r); // first: no page may be replaced from here on
	if (register_chunks(d, r, &e) == 0)
		return;
	unregister_chunks(d, r);
	region_unpin(r);
	if (!d->has_warned || r->len > ALWAYS_BYTES) // pools ask repeatedly
		log_warn("%s", e.text);
	d->has_warned = true;
}

static void region_removed(struct region_watch *w, struct region *r)
{
	struct verbs_device *d = container_of(w, struct verbs_device, watch);

	if (unregister_chunks(d, r))
		region_unpin(r);
}

void verbs_memory_init(struct verbs_device *d)
{
	pthread_mutex_init(&d->lock, NULL);
	list_init(&d->mrs);
	list_init(&d->rnics);
	d->watch.added = region_added;
	d->watch.removed = region_removed;
	region_watch_add(&d->watch);
}

void verbs_memory_done(struct verbs_device *d)
{
	region_watch_remove(&d->watch);
	list_for_each_safe (it, &d->mrs)
		mr_free(list_entry(it, struct verbs_mr, link));
	mr_table_done(&d->table);
	pthread_mutex_destroy(&d->lock);
}

// --- functions of the contract ---

int verbs_register(struct rnic *r, struct rnic_mr **ret, void *addr, uint64_t len, unsigned access,
		   struct err *e)
{
	struct verbs_mr *m;
	int n = mr_new(verbs_rnic_of(r)->device, &m, addr, len, access, e);

	if (n < 0)
		return n;
	m->head.rnic = r;
	verbs_rnic_of(r)->refs++;
	*ret = &m->head;
	return 0;
}

void verbs_deregister(struct rnic_mr *mr)
{
	struct rnic *r = mr->rnic;

	mr_free(container_of(mr, struct verbs_mr, head));
	verbs_rnic_put(verbs_rnic_of(r));
}

struct rnic_mr *verbs_find(struct rnic *r, const void *addr, uint64_t len)
{
	struct verbs_mr *m = mr_table_find(&verbs_rnic_of(r)->device->table, addr, len);

	return m ? &m->head : NULL;
}

void verbs_each_mr(struct rnic *r, bool (*fn)(const struct rnic_mr *mr, void *arg), void *arg)
{
	struct verbs_device *d = verbs_rnic_of(r)->device;
	bool goes_on = true;

	pthread_mutex_lock(&d->lock);
	for (struct list *it = d->mrs.next; goes_on && it != &d->mrs; it = it->next) {
		struct verbs_mr *m = list_entry(it, struct verbs_mr, link);
		goes_on = fn(&m->head, arg);
		if (!goes_on || !m->remote)
			continue;
		struct rnic_mr peers = m->head;
		peers.lkey = m->remote->lkey;
		peers.rkey = m->remote->rkey;
		peers.access = RNIC_REMOTE_READ | RNIC_REMOTE_WRITE;
		goes_on = fn(&peers, arg);
	}
	pthread_mutex_unlock(&d->lock);
}

// --- for peers ---

// One run of memory, or 0.
static uint64_t run_of(const struct sg *sg, uint32_t nsg)
{
	uint64_t len = nsg ? sg[0].len : 0;

	for (uint32_t i = 1; i < nsg; i++) {
		if (sg[i].addr != sg[0].addr + len)
			return 0;
		len += sg[i].len;
	}
	return len;
}

// Blocks the first time for a region: a second registration, with rights.
static int open_to_peers(struct verbs_conn *c, struct verbs_mr *m)
{
	struct verbs_device *d = m->device;
	int ret = 0;

	pthread_mutex_lock(&d->lock);
	if (!c->is_exposing) {
		c->is_exposing = true;
		d->exposers++;
	}
	if (!m->remote) {
		m->remote = ibv_reg_mr(d->pd, m->head.addr, m->head.len,
				       access_flags(RNIC_REMOTE_READ | RNIC_REMOTE_WRITE));
		ret = m->remote ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&d->lock);
	return ret;
}

int verbs_expose(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg, uint32_t nsg,
		 uint64_t len, unsigned access)
{
	struct rnic_mr *mr = NULL;

	access &= RNIC_REMOTE_READ | RNIC_REMOTE_WRITE;
	if (run_of(sg, nsg) >= len && len)
		mr = verbs_find(qp->rnic, sg[0].addr, len);
	if (!mr)
		return -EOPNOTSUPP;
	struct verbs_mr *m = container_of(mr, struct verbs_mr, head);
	*ret = (struct rnic_exposed){ .rkey = mr->rkey,
				      .remote_addr = (uintptr_t)sg[0].addr,
				      .handle = m };
	if ((mr->access & access) == access)
		return 0;
	int r = open_to_peers(verbs_conn_of(qp), m);
	if (r == 0)
		ret->rkey = m->remote->rkey;
	return r;
}

// The key stays valid until all exposing connections have ended: limits.revokes_exposed.
void verbs_conceal(struct rnic_qp *qp, struct rnic_exposed *x)
{
	x->handle = NULL;
}

void verbs_expose_end(struct verbs_conn *c)
{
	struct verbs_device *d;

	if (!c->is_exposing)
		return;
	c->is_exposing = false;
	d = c->r->device;
	pthread_mutex_lock(&d->lock);
	if (!--d->exposers)
		list_for_each (it, &d->mrs) {
			struct verbs_mr *m = list_entry(it, struct verbs_mr, link);
			if (m->remote)
				ibv_dereg_mr(m->remote);
			m->remote = NULL;
		}
	pthread_mutex_unlock(&d->lock);
}
