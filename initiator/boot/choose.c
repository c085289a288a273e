// SPDX-License-Identifier: BSD-2-Clause
// Which of the targets of an iBFT is the disk to boot from, and what of it is missing.
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "initiator/boot/ibft.h"

enum { ORIGIN_DHCP = 3 }; // of the field origin of a NIC, as in Windows' headers

static bool has(const struct ibft_target *t, uint64_t flags)
{
	return (t->object.flags & flags) == flags;
}

static bool is_same_disk(const struct ibft_target *a, const struct ibft_target *b)
{
	return !strcmp(a->name, b->name) && a->lun == b->lun && !strcmp(a->user, b->user) &&
	       !strcmp(a->secret, b->secret) && !strcmp(a->mutual_user, b->mutual_user) &&
	       !strcmp(a->mutual_secret, b->mutual_secret);
}

// An attribute that is missing, of a target that needs it. NULL: none.
static const char *missing(const struct ibft_target *t)
{
	const struct {
		bool is_missing;
		const char *name;
	} rows[] = {
		{!t->name[0],				"target-name"	     },
		{ !t->ip.family,				 "ip-addr"		   },
		{ !t->has_lun,			       "lun"		     },
		{ t->chap_type && !t->user[0],	       "chap-name"	   },
		{ t->user[0] && !t->secret[0],	       "chap-secret"	     },
		{ t->chap_type == 2 && !t->mutual_user[0],   "rev-chap-name"	   },
		{ t->mutual_user[0] && !t->mutual_secret[0], "rev-chap-name-secret"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].is_missing)
			return rows[i].name;
	return NULL;
}

static int check(const struct ibft_target *t, struct err *e)
{
	const char *what = missing(t);
	if (t->object.fault.code) {
		*e = t->object.fault;
		return e->code;
	}
	return what ? err_set(e, -EINVAL, "target%u: no %s in the iBFT", t->object.number, what)
		    : 0;
}

static const struct ibft_target *first(const struct ibft *i, uint64_t flags)
{
	for (unsigned n = 0; n < i->target_count; n++)
		if (has(&i->targets[n], flags))
			return &i->targets[n];
	return NULL;
}

static void add(struct ibft_choice *c, const struct ibft_target *t)
{
	struct err ignored;
	if (t == c->paths[0])
		return;
	if (!check(t, &ignored) && is_same_disk(t, c->paths[0]))
		c->paths[c->count++] = t;
	else
		c->others[c->other_count++] = t;
}

const struct ibft_target *ibft_chosen(const struct ibft *i)
{
	const struct ibft_target *t = first(i, IBFT_IS_VALID | IBFT_IS_SELECTED);
	return t ? t : first(i, IBFT_IS_VALID);
}

int ibft_choose(const struct ibft *i, struct ibft_choice *ret, struct err *e)
{
	*ret = (struct ibft_choice){ 0 };
	const struct ibft_target *t = ibft_chosen(i);
	ret->is_unselected = t && !has(t, IBFT_IS_SELECTED);
	if (!t && i->target_count && i->targets[0].object.fault.code) {
		*e = i->targets[0].object.fault; // which may be that of its flags
		return e->code;
	}
	if (!t)
		return err_set(e, -ENOENT, "iBFT: no valid target");
	int r = check(t, e);
	if (r)
		return r;
	ret->paths[ret->count++] = t;
	for (unsigned n = 0; n < i->target_count; n++)
		if (has(&i->targets[n], IBFT_IS_VALID))
			add(ret, &i->targets[n]);
	return 0;
}

// ---- NICs ----

const struct ibft_nic *ibft_nic_of(const struct ibft *i, const struct ibft_target *t)
{
	for (unsigned n = 0; n < i->nic_count && t->has_nic; n++)
		if (i->nics[n].object.index == t->nic)
			return &i->nics[n];
	return i->nic_count == 1 ? &i->nics[0] : NULL;
}

// subnet-mask is of IPv4 alone.
unsigned ibft_prefix(const struct ibft_nic *n)
{
	uint64_t max = n->ip.family == AF_INET ? 32 : 128;
	uint64_t prefix = n->prefix || n->ip.family != AF_INET ? n->prefix : n->mask_prefix;
	return prefix <= max ? (unsigned)prefix : 0;
}

bool ibft_is_dhcp(const struct ibft_nic *n)
{
	return n->dhcp.family || n->origin == ORIGIN_DHCP;
}
