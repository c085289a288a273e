// SPDX-License-Identifier: BSD-2-Clause
// Registrations and exposures. On the worker's thread, except iw_each_mr().
#include <errno.h>
#include <stdlib.h>

#include "transport/rdma/iwarp/iw_priv.h"

struct iw_mr {
	struct rnic_mr mr;    // first
	struct iw_stag *stag; // NULL for local use
	struct list link;
};

// --- registrations ---

int iw_register(struct rnic *r, struct rnic_mr **ret, void *addr, uint64_t len, unsigned access,
		struct err *e)
{
	struct iw_device *d = (void *)r;
	struct iw_mr *m = calloc(1, sizeof *m);

	if (!m)
		return err_set(e, -ENOMEM, "iwarp: register %llu bytes: out of memory",
			       (unsigned long long)len);
	m->mr = (struct rnic_mr){ .rnic = r, .addr = addr, .len = len, .access = access };
	if (access) {
		// The length of a piece has 32 bits: longer memory becomes several pieces.
		uint32_t n = (uint32_t)((len + UINT32_MAX - 1) / UINT32_MAX);
		struct sg *sg = calloc(n ? n : 1, sizeof *sg);
		for (uint32_t i = 0; sg && i < n; i++) {
			uint64_t at = (uint64_t)i * UINT32_MAX, left = len - at;
			sg[i].addr = (uint8_t *)addr + at;
			sg[i].len = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
		}
		if (sg)
			m->stag = iw_stag_new(&d->stags, NULL, sg, n, len,
					      (uint64_t)(uintptr_t)addr, access);
		free(sg);
		if (!m->stag) {
			free(m);
			return err_set(e, -ENOMEM, "iwarp: register: out of STags");
		}
		m->mr.rkey = m->mr.lkey = m->stag->stag;
	}
	pthread_mutex_lock(&d->lock);
	list_push_back(&d->mrs, &m->link);
	pthread_mutex_unlock(&d->lock);
	iw_device_hold(d);
	*ret = &m->mr;
	return 0;
}

void iw_deregister(struct rnic_mr *mr)
{
	struct iw_mr *m = (void *)mr;
	struct iw_device *d = (void *)mr->rnic;

	pthread_mutex_lock(&d->lock);
	list_remove(&m->link);
	pthread_mutex_unlock(&d->lock);
	if (m->stag)
		iw_stag_free(&d->stags, m->stag);
	free(m);
	iw_device_put(d);
}

struct rnic_mr *iw_find(struct rnic *r, const void *addr, uint64_t len)
{
	return &((struct iw_device *)(void *)r)->all;
}

// Exposures are not under the lock, which would be on the I/O path: each word is read separately,
// and an exposure that ends meanwhile may be reported with its last state.
static bool each_exposure(struct iw_device *d, bool (*fn)(const struct rnic_mr *mr, void *arg),
			  void *arg)
{
	uint32_t count = __atomic_load_n(&d->stags.count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 1; i < count; i++) {
		struct iw_stag *s = &d->stags.pages[i / IW_STAG_PAGE][i % IW_STAG_PAGE];
		unsigned access = __atomic_load_n(&s->access, __ATOMIC_ACQUIRE);
		if (!access)
			continue;
		struct rnic_mr mr = {
			.rnic = &d->rnic,
			.addr = __atomic_load_n(&s->addr, __ATOMIC_RELAXED),
			.len = __atomic_load_n(&s->len, __ATOMIC_RELAXED),
			.rkey = __atomic_load_n(&s->stag, __ATOMIC_RELAXED),
			.access = access,
		};
		if (!fn(&mr, arg))
			return false;
	}
	return true;
}

void iw_each_mr(struct rnic *r, bool (*fn)(const struct rnic_mr *mr, void *arg), void *arg)
{
	struct iw_device *d = (void *)r;
	bool goes_on = true;

	pthread_mutex_lock(&d->lock);
	list_for_each (it, &d->mrs) {
		const struct rnic_mr *mr = &list_entry(it, struct iw_mr, link)->mr;
		// Those with rights have an STag, and are reported with the STags.
		if (!mr->access && !(goes_on = fn(mr, arg)))
			break;
	}
	if (goes_on)
		each_exposure(d, fn, arg);
	pthread_mutex_unlock(&d->lock);
}

// --- exposures ---

static bool is_large_sink(const struct iw_stag *s)
{
	return s->access & RNIC_REMOTE_WRITE && s->len > IW_SMALL;
}

int iw_expose(struct rnic_qp *q, struct rnic_exposed *ret, const struct sg *sg, uint32_t nsg,
	      uint64_t len, unsigned access)
{
	struct iw_qp *qp = iw_of(q);
	struct iw_stags *t = &qp->dev->stags;
	uint64_t there = 0;

	*ret = (struct rnic_exposed){ 0 };
	for (uint32_t i = 0; i < nsg; i++)
		there += sg[i].len;
	if (len > there || !access)
		return -EINVAL;
	if (qp->is_over)
		return -ENOTCONN;
	// Any offset is fine, except one that reveals the address of our memory.
	uint64_t base = (iw_random(t) >> 32 | 1) << 12;
	struct iw_stag *s = iw_stag_new(t, qp, sg, nsg, len, base,
					access & (RNIC_REMOTE_READ | RNIC_REMOTE_WRITE));
	if (!s)
		return -ENOMEM;
	s->is_scratch = access & RNIC_SCRATCH;
	s->high = s->moved = 0;
	list_push_back(&qp->stags, &s->link);
	qp->large_sinks += is_large_sink(s);
	*ret = (struct rnic_exposed){
		.rkey = s->stag, .remote_addr = base, .moved = &s->moved, .handle = s
	};
	return 0;
}

// The rest of a segment or a response finds the slot revoked.
void iw_unexpose(struct iw_qp *qp, struct iw_stag *s)
{
	qp->large_sinks -= is_large_sink(s);
	iw_stag_revoke(s);
}

void iw_conceal(struct rnic_qp *q, struct rnic_exposed *x)
{
	struct iw_qp *qp = iw_of(q);
	struct iw_stag *s = x->handle;

	if (!s)
		return;
	x->handle = NULL;
	iw_unexpose(qp, s);
	iw_stag_free(&qp->dev->stags, s);
}
