// SPDX-License-Identifier: BSD-2-Clause
// Exposes a command's memory to the peer while the command is in flight: for a read as the Read
// STag, for the solicited data of a write as the Write STag. On the connection's worker. RFC 7145
// 7.3.
//
// If a device exposes only memory registered for that purpose, each command is registered: its own
// memory if that is one piece, else a copy.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iser/dmi_iser_priv.h"

static unsigned access_of(const struct dmi_task *t)
{
	return t->is_read ? RNIC_REMOTE_WRITE : RNIC_REMOTE_READ;
}

// Memory that a read does not fill has no defined content: see initiator.h.
static unsigned exposed_for(const struct dmi_task *t)
{
	return access_of(t) | (t->is_read ? RNIC_SCRATCH : 0);
}

// Between the command's pieces and one block of len bytes.
static void copy(struct worker *w, const struct dmi_task *t, uint8_t *block, uint32_t len,
		 bool is_gather)
{
	for (const struct sg *p = t->sg; len; p++) {
		uint32_t n = p->len < len ? p->len : len;
		if (is_gather)
			buf_copy(w, block, p->addr, n);
		else
			buf_copy(w, p->addr, block, n);
		block += n;
		len -= n;
	}
}

static uint8_t *bounce_new(struct dmi_iser_slot *s)
{
	const struct dmi_task *t = s->task;
	size_t size = ((size_t)t->len + BUF_PAGE - 1) & ~(size_t)(BUF_PAGE - 1);
	s->bounce = aligned_alloc(BUF_PAGE, size);
	if (s->bounce && t->is_write)
		copy(s->d->worker, t, s->bounce, t->len, true);
	return s->bounce;
}

static int expose_own(struct dmi_iser_slot *s, struct err *e)
{
	struct dmi_task *t = s->task;
	struct sg one = { .addr = t->sg[0].addr, .len = t->len };
	if (t->sg[0].len < t->len)
		one.addr = bounce_new(s);
	if (!one.addr)
		return err_set(e, -ENOMEM, "out of memory for a command of %u bytes", t->len);
	int r = rnic_register(s->d->qp->rnic, &s->own_mr, one.addr, one.len, access_of(t), e);
	if (r < 0) {
		s->own_mr = NULL;
		return r;
	}
	r = rnic_expose(s->d->qp, &s->exposed, &one, 1, one.len, exposed_for(t));
	return r < 0 ? err_errno(e, r, "register memory for RDMA") : 0;
}

int dmi_iser_expose(struct dmi_iser_slot *s, struct err *e)
{
	struct dmi_task *t = s->task;
	int r = rnic_expose(s->d->qp, &s->exposed, t->sg, t->nsg, t->len, exposed_for(t));
	if (r == -EOPNOTSUPP)
		r = expose_own(s, e);
	else if (r < 0)
		err_errno(e, r, "register memory for RDMA");
	s->is_exposed = r == 0;
	return r;
}

void dmi_iser_conceal(struct dmi_iser_slot *s)
{
	if (s->is_exposed)
		rnic_conceal(s->d->qp, &s->exposed);
	s->is_exposed = false;
	rnic_deregister(s->own_mr);
	s->own_mr = NULL;
	if (s->bounce && s->task->is_read)
		copy(s->d->worker, s->task, s->bounce, s->task->data_len, false);
	free(s->bounce);
	s->bounce = NULL;
}
