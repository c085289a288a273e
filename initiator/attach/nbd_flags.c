// SPDX-License-Identifier: BSD-2-Clause
// See nbd_flags.h.
#include "initiator/attach/nbd_flags.h"

#include <errno.h>

// Of Linux 6.12's NBD, beyond older headers.
enum {
	HAS_FLAGS = 1 << 0,
	READ_ONLY = 1 << 1,
	ROTATIONAL = 1 << 4,
};

uint64_t nbd_flags_of(const struct disk_facts *f)
{
	return HAS_FLAGS | (f->is_read_only ? READ_ONLY : 0) |
	       (f->has_write_cache ? NBD_CAN_FLUSH : 0) |
	       (f->has_write_cache && f->has_fua ? NBD_CAN_FUA : 0) |
	       (f->is_rotational ? ROTATIONAL : 0) |
	       (f->unmap_max && !f->is_read_only ? NBD_CAN_TRIM : 0) |
	       (f->zeroes_max && !f->is_read_only ? NBD_CAN_WRITE_ZEROES : 0);
}

static const struct rule {
	bool is_known, has_range, changes;
	uint16_t needs; // a transmission flag; 0: none
	uint16_t flags; // of the request: those that apply, beside NBD_FUA
	int beyond;	// the end of the disk
} rules[NBD_TYPE_COUNT] = {
	[NBD_READ] = {true,  true,  false, 0,		     NBD_DF,			     -ERANGE},
	[NBD_WRITE] = { true, true,  true,  0,		     0,				-EFBIG },
	[NBD_FLUSH] = { true, false, false, NBD_CAN_FLUSH,	   0,			      0	},
	[NBD_TRIM] = { true, true,  true,	 NBD_CAN_TRIM,	       0,				  -ERANGE},
	[NBD_WRITE_ZEROES] = { true, true,  true,	 NBD_CAN_WRITE_ZEROES, NBD_NO_HOLE | NBD_FAST_ZERO,
		       -EFBIG									 },
	[NBD_BLOCK_STATUS] = { true, true,  false, 0,		     NBD_REQ_ONE,		  -ERANGE},
};

static bool is_offered(const struct nbd_request *r, const struct rule *rule,
		       const struct nbd_offer *o)
{
	unsigned missing = (o->flags & NBD_CAN_DF ? 0 : NBD_DF) |
			   (o->flags & NBD_CAN_FAST_ZERO ? 0 : NBD_FAST_ZERO);
	unsigned may = (rule->flags & ~missing) | (o->flags & NBD_CAN_FUA ? NBD_FUA : 0);

	return (o->flags & rule->needs) == rule->needs && !(r->flags & ~may) &&
	       (r->type != NBD_BLOCK_STATUS || o->has_allocation);
}

static int range_refusal(const struct nbd_request *r, const struct rule *rule,
			 const struct disk_facts *f)
{
	uint64_t size = f->blocks * f->block_size;

	if (!r->len || (r->type == NBD_READ && r->len > NBD_DATA_MAX))
		return -EINVAL;
	if (r->offset > size || r->len > size - r->offset)
		return rule->beyond;
	return (r->offset | r->len) & (f->block_size - 1) ? -EINVAL : 0;
}

int nbd_refusal(const struct nbd_request *r, const struct nbd_offer *o, const struct disk_facts *f)
{
	const struct rule *rule = &rules[r->type < NBD_TYPE_COUNT ? r->type : NBD_DISCONNECT];

	if (!rule->is_known)
		return -EBADRQC;
	if (rule->changes && f->is_read_only)
		return -EROFS;
	if (!is_offered(r, rule, o))
		return -EBADRQC;
	int res = rule->has_range ? range_refusal(r, rule, f) : 0;
	if (res || !(r->flags & NBD_FAST_ZERO))
		return res;
	return f->zeroes_fast && !(r->flags & NBD_NO_HOLE) ? 0 : -EOPNOTSUPP;
}
