// SPDX-License-Identifier: BSD-2-Clause
// See nbd_flags.h.
#include "initiator/attach/nbd_flags.h"

// Of Linux 6.12's NBD, beyond older headers.
enum {
	HAS_FLAGS = 1 << 0,
	READ_ONLY = 1 << 1,
	ROTATIONAL = 1 << 4,
	SEND_TRIM = 1 << 5,
	SEND_WRITE_ZEROES = 1 << 6,
};

uint64_t nbd_flags_of(const struct disk_facts *f)
{
	return HAS_FLAGS | (f->is_read_only ? READ_ONLY : 0) |
	       (f->has_write_cache ? NBD_CAN_FLUSH : 0) |
	       (f->has_write_cache && f->has_fua ? NBD_CAN_FUA : 0) |
	       (f->is_rotational ? ROTATIONAL : 0) |
	       (f->unmap_max && !f->is_read_only ? SEND_TRIM : 0) |
	       (f->zeroes_max && !f->is_read_only ? SEND_WRITE_ZEROES : 0);
}
