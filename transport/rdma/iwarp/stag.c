// SPDX-License-Identifier: BSD-2-Clause
// STags: a 24-bit index and an 8-bit key. A released slot goes to the end of the free
// list and is reused with the next key, so that an old STag becomes valid again only after 256
// uses of its slot. Other threads (iw_each_mr()) read single words. RFC 5040 1.3, RFC 5042 5.4.
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "transport/rdma/iwarp/iw_priv.h"

#define KEEP_SGE 64 // a slot keeps room for this many pieces

int iw_stags_init(struct iw_stags *t)
{
	list_init(&t->free);
	t->pages = calloc(IW_STAG_PAGES, sizeof *t->pages);
	if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != sizeof t->seed)
		t->seed = (uint64_t)(uintptr_t)t ^ clock_ns();
	t->seed |= 1;
	return t->pages ? 0 : -1;
}

void iw_stags_done(struct iw_stags *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->pages[i / IW_STAG_PAGE][i % IW_STAG_PAGE].sge);
	for (uint32_t i = 0; t->pages && t->pages[i]; i++)
		free(t->pages[i]);
	free(t->pages);
}

// xorshift64*: guessing keys is useless, since a peer can access only memory exposed to itself.
uint64_t iw_random(struct iw_stags *t)
{
	t->seed ^= t->seed >> 12;
	t->seed ^= t->seed << 25;
	t->seed ^= t->seed >> 27;
	return t->seed * UINT64_C(0x2545f4914f6cdd1d);
}

static struct iw_stag *slot_at(const struct iw_stags *t, uint32_t index)
{
	return &t->pages[index / IW_STAG_PAGE][index % IW_STAG_PAGE];
}

// In an unpredictable order. Index 0 is unused: STag 0 means none.
static bool grow(struct iw_stags *t)
{
	uint32_t page = t->count / IW_STAG_PAGE;

	if (page + 1 >= IW_STAG_PAGES) // the last stays NULL and ends the array
		return false;
	struct iw_stag *slots = calloc(IW_STAG_PAGE, sizeof *slots);
	if (!slots)
		return false;
	uint32_t mask = (uint32_t)iw_random(t) % IW_STAG_PAGE;
	for (uint32_t i = 0; i < IW_STAG_PAGE; i++) {
		struct iw_stag *s = &slots[i ^ mask];
		s->index = t->count + (i ^ mask);
		s->stag = s->index << 8 | (uint8_t)(iw_random(t) >> 56);
		if (s->index)
			list_push_back(&t->free, &s->link);
	}
	t->pages[page] = slots;
	__atomic_store_n(&t->count, t->count + IW_STAG_PAGE, __ATOMIC_RELEASE);
	return true;
}

static bool make_room(struct iw_stag *s, uint32_t nsg)
{
	if (nsg <= 1 || nsg <= s->room)
		return true;
	struct rnic_sge *sge = realloc(s->sge, nsg * sizeof *sge);
	if (!sge)
		return false;
	s->sge = sge;
	s->room = nsg;
	return true;
}

struct iw_stag *iw_stag_new(struct iw_stags *t, struct iw_qp *qp, const struct sg *sg, uint32_t nsg,
			    uint64_t len, uint64_t base, unsigned access)
{
	if (list_empty(&t->free) && !grow(t))
		return NULL;
	struct iw_stag *s = list_entry(list_first(&t->free), struct iw_stag, link);
	if (!make_room(s, nsg))
		return NULL;
	list_remove(&s->link);
	struct rnic_sge *to = nsg > 1 ? s->sge : &s->one;
	for (uint32_t i = 0; i < nsg; i++)
		to[i] = (struct rnic_sge){ .addr = sg[i].addr, .len = sg[i].len };
	s->nsge = nsg;
	s->qp = qp;
	s->base = base;
	__atomic_store_n(&s->stag, (s->stag & ~0xffu) | (uint8_t)(s->stag + 1), __ATOMIC_RELAXED);
	__atomic_store_n(&s->addr, nsg ? sg[0].addr : NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&s->len, len, __ATOMIC_RELAXED);
	__atomic_store_n(&s->access, access, __ATOMIC_RELEASE);
	return s;
}

void iw_stag_revoke(struct iw_stag *s)
{
	__atomic_store_n(&s->access, 0, __ATOMIC_RELEASE);
}

void iw_stag_free(struct iw_stags *t, struct iw_stag *s)
{
	iw_stag_revoke(s);
	s->qp = NULL;
	if (s->room > KEEP_SGE) {
		free(s->sge);
		s->sge = NULL;
		s->room = 0;
	}
	list_remove(&s->link);
	list_push_back(&t->free, &s->link);
}

static struct iw_stag *find(struct iw_stags *t, uint32_t stag)
{
	uint32_t index = stag >> 8;

	if (index >= t->count)
		return NULL;
	struct iw_stag *s = slot_at(t, index);
	return s->stag == stag && s->access ? s : NULL;
}

unsigned iw_stag_check(struct iw_stags *t, const struct iw_qp *qp, uint32_t stag, uint64_t to,
		       uint64_t len, unsigned access, struct iw_stag **ret)
{
	struct iw_stag *s = find(t, stag);

	if (!s)
		return TERM_RDMAP_STAG;
	if (s->qp && s->qp != qp)
		return TERM_RDMAP_STREAM;
	if ((s->access & access) != access)
		return TERM_RDMAP_ACCESS;
	if (len > UINT64_MAX - to)
		return TERM_RDMAP_TO_WRAP;
	if (to < s->base || to - s->base > s->len || len > s->len - (to - s->base))
		return TERM_RDMAP_BOUNDS;
	*ret = s;
	return 0;
}

struct iw_stag *iw_stag_invalidatable(struct iw_stags *t, const struct iw_qp *qp, uint32_t stag)
{
	struct iw_stag *s = find(t, stag);

	return s && s->qp == qp ? s : NULL;
}

// --- cursors ---

void iw_cursor_set(struct iw_cursor *c, const struct rnic_sge *sge, uint32_t nsge, uint64_t at)
{
	*c = (struct iw_cursor){ .sge = sge, .nsge = nsge };
	while (c->index < nsge && at >= sge[c->index].len)
		at -= sge[c->index++].len;
	c->offset = (uint32_t)at;
}

uint32_t iw_cursor_next(struct iw_cursor *c, uint32_t max, uint8_t **ret)
{
	while (c->index < c->nsge && c->offset >= c->sge[c->index].len) {
		c->index++;
		c->offset = 0;
	}
	if (c->index >= c->nsge || !max)
		return 0;
	uint32_t n = c->sge[c->index].len - c->offset;
	n = n < max ? n : max;
	*ret = c->sge[c->index].addr + c->offset;
	c->offset += n;
	return n;
}
