// SPDX-License-Identifier: BSD-2-Clause
// Exposes a command's memory: see exposure.h. One key if the device can, else one for each piece,
// else a registration for this command, which costs a system call.
#include "transport/rdma/exposure.h"

#include <errno.h>
#include <stdlib.h>

static unsigned access_of(const struct rnic_exposure *x)
{
	return x->is_read ? RNIC_REMOTE_WRITE : RNIC_REMOTE_READ;
}

static unsigned exposed_for(const struct rnic_exposure *x)
{
	return access_of(x) | (x->is_read ? RNIC_SCRATCH : 0);
}

// --- a copy ---

// Between the command's pieces and the first len bytes of the copy.
static void copy(struct worker *w, const struct rnic_exposure *x, uint32_t len, bool is_gather)
{
	uint8_t *block = x->bounce;
	for (const struct sg *p = x->sg; len; p++) {
		uint32_t n = p->len < len ? p->len : len;
		if (is_gather)
			buf_copy(w, block, p->addr, n);
		else
			buf_copy(w, p->addr, block, n);
		block += n;
		len -= n;
	}
}

static uint8_t *bounce_new(struct rnic_exposure *x, struct worker *w)
{
	size_t size = ((size_t)x->len + BUF_PAGE - 1) & ~(size_t)(BUF_PAGE - 1);
	x->bounce = aligned_alloc(BUF_PAGE, size);
	if (x->bounce && !x->is_read)
		copy(w, x, x->len, true);
	return x->bounce;
}

// --- a registration of its own ---

static int expose_own(struct rnic_exposure *x, struct rnic_qp *qp, struct err *e)
{
	struct sg one = { .addr = x->sg[0].addr, .len = x->len };
	if (x->sg[0].len < x->len)
		one.addr = bounce_new(x, qp->rnic->worker);
	if (!one.addr)
		return err_set(e, -ENOMEM, "out of memory for a command of %u bytes", x->len);
	int r = rnic_register(qp->rnic, &x->own_mr, one.addr, one.len, access_of(x), e);
	if (r < 0) {
		x->own_mr = NULL;
		return r;
	}
	r = rnic_expose(qp, &x->one, &one, 1, one.len, exposed_for(x));
	return r < 0 ? err_errno(e, r, "register memory for RDMA") : 0;
}

// --- a key for each piece ---

static void conceal(struct rnic_exposure *x, struct rnic_qp *qp)
{
	for (uint32_t i = 0; i < x->count; i++)
		rnic_conceal(qp, &x->keys[i]);
	x->count = 0;
}

static int expose_pieces(struct rnic_exposure *x, struct rnic_qp *qp)
{
	if (!x->several)
		x->several = calloc(RNIC_KEYS_MAX, sizeof *x->several);
	if (!x->several)
		return -ENOMEM;
	x->keys = x->several;
	for (uint32_t left = x->len; left; x->count++) {
		struct sg piece = x->sg[x->count];
		piece.len = piece.len < left ? piece.len : left;
		int r = x->count == x->keys_max ? -EOPNOTSUPP
						: rnic_expose(qp, &x->keys[x->count], &piece, 1,
							      piece.len, exposed_for(x));
		if (r < 0) {
			conceal(x, qp);
			return r;
		}
		left -= piece.len;
	}
	return 0;
}

// --- begin and end ---

int rnic_exposure_begin(struct rnic_exposure *x, struct rnic_qp *qp, struct err *e)
{
	int r = rnic_expose(qp, &x->one, x->sg, x->nsg, x->len, exposed_for(x));
	if (r == -EOPNOTSUPP && x->keys_max > 1 && x->sg[0].len < x->len) {
		r = expose_pieces(x, qp);
		if (!r)
			return 0;
	}
	if (r == -EOPNOTSUPP)
		r = expose_own(x, qp, e);
	else if (r < 0)
		err_errno(e, r, "register memory for RDMA");
	x->keys = &x->one;
	x->count = r == 0;
	return r;
}

void rnic_exposure_end(struct rnic_exposure *x, struct rnic_qp *qp, uint32_t filled)
{
	conceal(x, qp);
	rnic_deregister(x->own_mr);
	x->own_mr = NULL;
	if (x->bounce && x->is_read)
		copy(qp->rnic->worker, x, filled, false);
	free(x->bounce);
	x->bounce = NULL;
}

void rnic_exposure_lost(struct rnic_exposure *x)
{
	x->count = 0;
}

void rnic_exposure_done(struct rnic_exposure *x)
{
	free(x->several);
	x->several = NULL;
}

uint32_t rnic_exposure_moved(const struct rnic_exposure *x)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < x->count; i++) {
		if (!x->keys[i].moved)
			return x->len;
		sum += *x->keys[i].moved < x->len ? *x->keys[i].moved : x->len;
	}
	return x->count && sum < x->len ? (uint32_t)sum : x->len;
}
