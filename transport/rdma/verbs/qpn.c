// SPDX-License-Identifier: BSD-2-Clause
// The map from queue pair numbers to connections, of a worker's share of a device, on its thread.
#include <errno.h>
#include <stdlib.h>

#include "transport/rdma/verbs/priv.h"

#define QPN_PLACES 64

int verbs_qpn_init(struct verbs_rnic *r)
{
	r->mask = QPN_PLACES - 1;
	r->by_qpn = calloc(QPN_PLACES, sizeof(struct verbs_conn *));
	return r->by_qpn ? 0 : -ENOMEM;
}

void verbs_qpn_done(struct verbs_rnic *r)
{
	free(r->by_qpn);
}

static uint32_t qpn_place(const struct verbs_rnic *r, uint32_t qpn)
{
	return qpn * 2654435761u >> 7 & r->mask;
}

struct verbs_conn *verbs_qpn_find(const struct verbs_rnic *r, uint32_t qpn)
{
	for (uint32_t i = qpn_place(r, qpn); r->by_qpn[i]; i = (i + 1) & r->mask)
		if (r->by_qpn[i]->id->qp->qp_num == qpn)
			return r->by_qpn[i];
	return NULL;
}

static void qpn_put(struct verbs_rnic *r, struct verbs_conn *c)
{
	uint32_t i = qpn_place(r, c->id->qp->qp_num);

	while (r->by_qpn[i])
		i = (i + 1) & r->mask;
	r->by_qpn[i] = c;
}

int verbs_qpn_add(struct verbs_rnic *r, struct verbs_conn *c)
{
	if ((r->qpn_count + 1) * 2 > r->mask) {
		uint32_t places = (r->mask + 1) * 2;
		struct verbs_conn **old = r->by_qpn;
		struct verbs_conn **new = calloc(places, sizeof *new);
		if (!new)
			return -ENOMEM;
		r->by_qpn = new;
		r->mask = places - 1;
		for (uint32_t i = 0; i < places / 2; i++)
			if (old[i])
				qpn_put(r, old[i]);
		free(old);
	}
	qpn_put(r, c);
	r->qpn_count++;
	return 0;
}

void verbs_qpn_remove(struct verbs_rnic *r, struct verbs_conn *c)
{
	uint32_t i = qpn_place(r, c->id->qp->qp_num);

	while (r->by_qpn[i] != c)
		i = (i + 1) & r->mask;
	r->by_qpn[i] = NULL;
	r->qpn_count--;
	// Later entries may have been displaced by it.
	for (i = (i + 1) & r->mask; r->by_qpn[i]; i = (i + 1) & r->mask) {
		struct verbs_conn *moved = r->by_qpn[i];
		r->by_qpn[i] = NULL;
		qpn_put(r, moved);
	}
}
