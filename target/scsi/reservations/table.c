// SPDX-License-Identifier: BSD-2-Clause
// The table of registrations, see reservations.h: references, copies, lookups. Any thread.
#include "target/scsi/reservations/table.h"

#include <stdlib.h>
#include <string.h>

struct pr_view *pr_view_copy(const struct pr_view *from, uint32_t extra)
{
	static uint64_t versions;
	uint32_t count = from ? from->count : 0;
	struct pr_view *v = calloc(1, sizeof *v + (size_t)(count + extra) * sizeof v->regs[0]);
	if (!v)
		return NULL;
	if (from)
		memcpy(v, from, sizeof *v + (size_t)count * sizeof v->regs[0]);
	else
		v->holder = PR_NOBODY;
	v->refs = 1;
	v->version = __atomic_add_fetch(&versions, 1, __ATOMIC_RELAXED);
	return v;
}

struct pr_view *pr_view_get(struct pr_view *v)
{
	if (v)
		__atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
	return v;
}

void pr_view_put(struct pr_view *v)
{
	if (v && !__atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL))
		free(v);
}

void pr_view_remove(struct pr_view *v, uint32_t index)
{
	memmove(v->regs + index, v->regs + index + 1,
		(size_t)(v->count - index - 1) * sizeof v->regs[0]);
	v->count--;
	if (v->holder == index)
		v->holder = PR_NOBODY;
	else if (v->holder != PR_NOBODY && v->holder > index)
		v->holder--;
}

static bool reg_covers(const struct pr_reg *reg, const struct pr_port *port)
{
	if (reg->all_tg_pt)
		return true;
	// The name is persistent; the number is used if a transport has no names.
	if (reg->port.target_port[0] && port->target_port[0])
		return !strcmp(reg->port.target_port, port->target_port);
	return reg->port.relative_port == port->relative_port;
}

uint32_t pr_find(const struct pr_view *v, const struct pr_port *port)
{
	for (uint32_t i = 0; v && i < v->count; i++)
		if (pr_tid_equal(&v->regs[i].port.tid, &port->tid, v->enforce_isids) &&
		    reg_covers(&v->regs[i], port))
			return i;
	return PR_NOBODY;
}

bool pr_is_holder(const struct pr_view *v, uint32_t index)
{
	if (index == PR_NOBODY || !v->type)
		return false;
	return pr_type_is_all_registrants(v->type) || v->holder == index;
}

bool pr_port_of_nexus(struct pr_port *ret, const struct nexus *n)
{
	size_t used, len = n->info.transport_id_len;
	memset(ret, 0, sizeof *ret);
	if (len > sizeof n->info.transport_id ||
	    pr_tid_parse(&ret->tid, n->info.transport_id, len, &used))
		return false;
	const char *name = n->info.target_port;
	for (size_t i = 0; name && name[i] && i < sizeof ret->target_port - 1; i++)
		ret->target_port[i] =
			name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
	ret->relative_port = n->info.relative_port;
	return true;
}
