// SPDX-License-Identifier: BSD-2-Clause
// What the kernel is told about a disk. Any thread.
#include "initiator/attach/ublk/params.h"

#include <errno.h>
#include <unistd.h>

static uint8_t shift_of(uint32_t bytes)
{
	return bytes ? (uint8_t)(31 - __builtin_clz(bytes)) : 0;
}

static uint8_t larger(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

// Whole blocks, as many as 32 bits of bytes take.
static uint32_t sectors_of(uint64_t bytes, uint32_t block_size)
{
	uint64_t limit = UINT32_MAX;

	if (bytes > limit)
		bytes = limit;
	return (uint32_t)((bytes - bytes % block_size) / UBLK_SECTOR);
}

static uint32_t attributes(const struct disk_facts *f)
{
	return (f->is_read_only ? UBLK_IS_READ_ONLY : 0) |
	       (f->is_rotational ? UBLK_IS_ROTATIONAL : 0) |
	       (f->has_write_cache ? UBLK_HAS_CACHE : 0) |
	       (f->has_write_cache && f->has_fua ? UBLK_HAS_FUA : 0);
}

static void add_discard(struct ublk_params *p, const struct disk_facts *f)
{
	uint32_t granularity = f->unmap_granularity;

	p->types |= UBLK_HAS_DISCARD;
	p->discard_granularity = granularity > f->block_size ? granularity : f->block_size;
	p->discard_sectors_max = sectors_of(f->unmap_max, f->block_size);
	p->discard_segments_max = 1;
	p->zeroes_sectors_max = sectors_of(f->zeroes_max, f->block_size);
}

int ublk_params_of(struct ublk_params *ret, const struct disk_facts *f, uint32_t io_bytes_max,
		   struct err *e)
{
	if (f->block_size > (uint32_t)getpagesize())
		return err_set(e, -EINVAL,
			       "ublk: blocks of %u bytes: the kernel takes up to %d (use --via "
			       "socket)",
			       f->block_size, getpagesize());
	uint8_t logical = shift_of(f->block_size);
	uint8_t physical = larger(shift_of(f->physical_block_size), logical);
	*ret = (struct ublk_params){
		.len = sizeof *ret,
		.types = UBLK_HAS_BASIC,
		.attributes = attributes(f),
		.logical_shift = logical,
		.physical_shift = physical,
		.io_min_shift = physical,
		.io_opt_shift = larger(shift_of(f->transfer_optimal), physical),
		.sectors_max = io_bytes_max / UBLK_SECTOR,
		.sectors = f->blocks * (f->block_size / UBLK_SECTOR),
	};
	if (!f->is_read_only && (f->unmap_max || f->zeroes_max))
		add_discard(ret, f);
	return 0;
}

int ublk_params_fit(const struct ublk_params *p, const struct disk_facts *f, struct err *e)
{
	if (p->logical_shift != shift_of(f->block_size))
		return err_set(e, -ESTALE,
			       "ublk: the device has blocks of %u bytes, the disk of %u: it is "
			       "another disk",
			       1u << (p->logical_shift & 31), f->block_size);
	if (p->sectors > f->blocks * (f->block_size / UBLK_SECTOR))
		return err_set(e, -ESTALE,
			       "ublk: the device has %llu sectors of 512 bytes, the disk %llu: it "
			       "has shrunk",
			       (unsigned long long)p->sectors,
			       (unsigned long long)f->blocks * (f->block_size / UBLK_SECTOR));
	if (f->is_read_only && !(p->attributes & UBLK_IS_READ_ONLY))
		return err_set(e, -EROFS, "ublk: the device is writable, the disk is not");
	return 0;
}
